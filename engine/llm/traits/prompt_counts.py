"""Compare the number of prompt tokens that a provider counted with our own: a smaller one means a prompt cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from engine.text.tokenizer import O200kTokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models import LLMMessage

log = structlog.get_logger(__name__)

MIN_COUNTED = 1_500  # tokens; instructions of a template weigh less in longer prompts
BYTES_PER_TOKEN = 5  # above that, texts are counted: most have fewer bytes a token
CUT_SHARE = 0.7  # of our own count; tokenizers differ by less


class PromptCounts:
    """The last difference for each model."""

    def __init__(self) -> None:
        self._tokenizer = O200kTokenizer()
        self._cut: dict[str, tuple[int, int]] = {}

    def record(self, model: str, messages: Sequence[LLMMessage], counted: int) -> None:
        """Compare the count of a provider, 0 if it gave none, with the messages that were sent."""
        texts = [message.content for message in messages]
        if counted <= 0:
            return
        if sum(len(text.encode()) for text in texts) <= BYTES_PER_TOKEN * max(counted, MIN_COUNTED):
            self._cut.pop(model, None)
            return
        own = sum(map(self._tokenizer.count, texts))
        if counted >= CUT_SHARE * own:
            self._cut.pop(model, None)
            return
        if model not in self._cut:
            log.warning("llm.prompt_cut_off", model=model, counted=counted, sent=own)
        self._cut[model] = counted, own

    def describe(self, model: str) -> str:
        """The difference as a sentence, "" if there is none."""
        if model not in self._cut:
            return ""
        counted, own = self._cut[model]
        return f"{model} counted {counted:,} tokens of a prompt of about {own:,}: it was cut off."

    def list_differences(self) -> list[str]:
        """The differences of all models."""
        return [self.describe(model) for model in sorted(self._cut)]
