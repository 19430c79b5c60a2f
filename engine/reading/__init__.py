"""Reading: bytes and a name become passages with locators, in a sandbox; chat exports become conversations."""

from engine.reading.messages import ChatMessage, Conversation, conversations, holds_messages, parse_messages
from engine.reading.read import Limits, Read
from engine.reading.reader import Reader

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
