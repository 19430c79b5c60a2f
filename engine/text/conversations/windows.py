"""Divide the messages of a channel outside of threads into conversations of limited length. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.text.conversations.disentanglement import Disentangler

if TYPE_CHECKING:
    from datetime import timedelta

    from engine.text.conversations.disentanglement import Utterance


@dataclass(slots=True)
class _Conversation:
    """A conversation: the key of its latest window, and the tokens of that window."""

    window: str
    tokens: int


class ConversationWindows:
    """Assigns each message to a window: messages of one conversation within a budget of tokens.

    Messages are passed in the order of their times. A new window has the id of its first message as its key.
    """

    def __init__(self, gap: timedelta, budget: int) -> None:
        """`gap`: a conversation without a message for that long has ended."""
        self._budget = budget
        self._disentangler = Disentangler(gap)
        self._by_message: dict[str, _Conversation] = {}
        self._by_window: dict[str, _Conversation] = {}

    def assign(self, utterance: Utterance, tokens: int) -> str:
        """The key of the window of a message with so many tokens."""
        conversation = self._find_conversation(utterance)
        if conversation is None or conversation.tokens + tokens > self._budget:
            conversation = self._open_window(conversation, utterance.id, 0)
        conversation.tokens += tokens
        self._by_message[utterance.id] = conversation
        return conversation.window

    def restore(self, utterance: Utterance, window: str, tokens: int) -> None:
        """Add a message that was assigned before to a window, which has so many tokens in total."""
        conversation = self._by_window.get(window)
        if conversation is None:
            conversation = self._open_window(self._find_conversation(utterance), window, tokens)
        else:
            self._disentangler.add(utterance)
        self._by_message[utterance.id] = conversation

    def _find_conversation(self, utterance: Utterance) -> _Conversation | None:
        target = self._disentangler.link(utterance)
        return self._by_message[target.id] if target else None

    def _open_window(self, continued: _Conversation | None, window: str, tokens: int) -> _Conversation:
        conversation = continued or _Conversation(window, tokens)
        conversation.window, conversation.tokens = window, tokens
        self._by_window[window] = conversation
        return conversation
