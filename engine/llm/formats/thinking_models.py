"""Remember which models begin their replies with thoughts that no opening mark announces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.llm.formats.thinking import MAX_HEAD_CHARACTERS, ThinkingFilter, has_unopened_thinking

if TYPE_CHECKING:
    from engine.llm.config import ModelConfig

# Providers that send thoughts apart from the text, at their own address.
SEPARATING_PROVIDERS = frozenset(
    {"openai", "azure", "anthropic", "gemini", "vertex_ai", "bedrock", "mistral", "cohere", "cohere_chat", "xai"}
)
ALWAYS_SEPARATING = frozenset({"azure"})  # also at an address of one's own
_THINKING_NAME = re.compile(r"(?:^|[-_/:.])(?:r1|qwq|think|thinking|reasoner|reasoning)(?:$|[-_/:.])", re.IGNORECASE)


class ThinkingModels:
    """What replies have shown about models, by their names with all settings.

    Until a model has shown a free reply without such thoughts, the head of its answers is held back to the end. One
    reply of any kind is enough, so at most the first answer after a start comes late. Providers that separate thoughts
    themselves are never waited for.
    """

    def __init__(self) -> None:
        self._unopened: dict[str, bool] = {}

    def open_filter(self, model: ModelConfig) -> ThinkingFilter:
        """A filter for a streamed answer of a model."""
        return ThinkingFilter(hold_head=self.must_hold(model))

    def must_hold(self, model: ModelConfig) -> bool:
        """Whether the head of an answer may turn out to be thoughts."""
        return self._unopened.get(model.name, not _separates_thoughts(model))

    def may_be_thinking(self, model: ModelConfig) -> bool:
        """Whether a reply that was cut off before any mark is rather thoughts than text."""
        return self._unopened.get(model.name, _THINKING_NAME.search(model.model) is not None)

    def record_reply(self, model: ModelConfig, reply: str, *, is_free: bool) -> None:
        """Learn from a whole reply; one that had to be JSON (not `is_free`) had no place for thoughts."""
        if has_unopened_thinking(reply[: 2 * MAX_HEAD_CHARACTERS]):
            self._unopened[model.name] = True
        elif is_free and reply.strip():
            self._unopened.setdefault(model.name, False)

    def record_answer(self, model: ModelConfig, answer: ThinkingFilter, *, is_whole: bool) -> None:
        """Learn from a streamed answer; one that is not whole shows no more than its thoughts."""
        if answer.is_unopened:
            self._unopened[model.name] = True
        elif is_whole:
            self._unopened[model.name] = False


def _separates_thoughts(model: ModelConfig) -> bool:
    provider = model.provider or "openai"
    return provider in ALWAYS_SEPARATING or (provider in SEPARATING_PROVIDERS and not model.api_base)
