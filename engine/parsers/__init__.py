"""Reading: bytes and a name become passages with locators, in a sandbox; chat exports become conversations."""

from engine.parsers.base import Limits, Read
from engine.parsers.chat_export import ChatMessage, Conversation, conversations, holds_messages, parse_messages
from engine.parsers.sandbox.pool import Reader

__all__ = [
    "ChatMessage",
    "Conversation",
    "Limits",
    "Read",
    "Reader",
    "conversations",
    "holds_messages",
    "parse_messages",
]
