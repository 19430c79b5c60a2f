"""Reading: bytes and a name become passages with locators, in a sandbox; chat exports become conversations."""

from engine.parsers.base import ParsedFile, ParserLimits
from engine.parsers.chat_export import ChatMessage, Conversation, group_conversations, has_chat_messages, parse_messages
from engine.parsers.sandbox.pool import FileParser

__all__ = [
    "ChatMessage",
    "Conversation",
    "FileParser",
    "ParsedFile",
    "ParserLimits",
    "group_conversations",
    "has_chat_messages",
    "parse_messages",
]
