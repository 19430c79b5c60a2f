"""Remember which models begin their replies with thoughts that no opening mark announces."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from engine.llm.formats.thinking import MAX_HEAD_CHARACTERS, ThinkingFilter, has_unopened_thinking, opens_thinking

if TYPE_CHECKING:
    from engine.clock import Clock
    from engine.llm.config import ModelConfig

    Variants = dict[tuple[str, str], "_Seen"]

# How long a later program relies on replies without such thoughts: a server may be started again with other settings.
MAX_DAYS_WITHOUT = 3

# Providers that send thoughts apart from the text, at their own address.
SEPARATING_PROVIDERS = frozenset(
    {"openai", "azure", "anthropic", "gemini", "vertex_ai", "bedrock", "mistral", "cohere", "cohere_chat", "xai"}
)
ALWAYS_SEPARATING = frozenset({"azure"})  # also at an address of one's own
_THINKING_NAME = re.compile(r"(?:^|[-_/:.])(?:r1|qwq|think|thinking|reasoner|reasoning)(?:$|[-_/:.])", re.IGNORECASE)


class _Seen(NamedTuple):
    """What the last reply showed, and its day in UTC."""

    begins: bool
    day: date


class ThinkingModels:
    """What replies have shown about models, by what may change their thoughts: address, effort and own parameters.

    A model that began with such thoughts at one effort may do so at each, until it is known better; that it did not
    says nothing about another effort.

    Until a model has shown a free reply without such thoughts, the head of its answers is held back to the end. One
    reply of any kind is enough, so at most the first answer of a model comes late. Providers that separate thoughts
    themselves are never waited for. A model that begins with such thoughts although it did not before is known anew
    at each effort. `list_learned` is what a later program is told by `recall`.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._unopened: dict[tuple[str, str], Variants] = {}

    def recall(self, learned: object) -> None:
        """Start with what an earlier program learned, without what is outdated or has another shape."""
        first = self._today - timedelta(days=MAX_DAYS_WITHOUT)
        for row in learned if isinstance(learned, list) else ():
            match row:
                case [str(model), str(base), str(effort), str(extra), bool(begins), *rest]:
                    day = _parse_day(rest)
                    if begins or day >= first:
                        self._unopened.setdefault((model, base), {})[effort, extra] = _Seen(begins, day)

    def list_learned(self) -> list[list[str | bool]]:
        """Model, address, effort, own parameters, whether its replies began with thoughts, and the day, as JSON."""
        return [
            [*place, *variant, seen.begins, seen.day.isoformat()]
            for place, known in self._unopened.items()
            for variant, seen in known.items()
        ]

    def open_filter(self, model: ModelConfig) -> ThinkingFilter:
        """A filter for a streamed answer of a model."""
        return ThinkingFilter(hold_head=self.must_hold(model))

    def must_hold(self, model: ModelConfig) -> bool:
        """Whether the head of an answer may turn out to be thoughts."""
        return self._find(model, default=not _separates_thoughts(model))

    def may_be_thinking(self, model: ModelConfig) -> bool:
        """Whether a reply that was cut off before any mark is rather thoughts than text."""
        return self._find(model, default=_THINKING_NAME.search(model.model) is not None)

    def record_reply(self, model: ModelConfig, reply: str, *, is_free: bool) -> None:
        """Learn from a whole reply; one that had to be JSON (not `is_free`) had no place for thoughts.

        Thoughts with an opening mark tell nothing: the next ones may have none.
        """
        if has_unopened_thinking(reply[: 2 * MAX_HEAD_CHARACTERS]):
            self._record(model, begins=True)
        elif is_free and reply.strip() and not opens_thinking(reply):
            seen = self._list_known(model).get(_variant(model))
            if seen is None or not seen.begins:
                self._record(model, begins=False)

    def record_answer(self, model: ModelConfig, answer: ThinkingFilter, *, is_whole: bool) -> None:
        """Learn from a streamed answer; one that is not whole, or has thoughts, shows no more than these."""
        if answer.is_unopened:
            self._record(model, begins=True)
        elif is_whole and not answer.has_thought:
            self._record(model, begins=False)

    @property
    def _today(self) -> date:
        return self._clock.now().date()

    def _record(self, model: ModelConfig, *, begins: bool) -> None:
        known, variant = self._list_known(model), _variant(model)
        if begins and variant in known and not known[variant].begins:
            known.clear()  # the server has changed
        known[variant] = _Seen(begins, self._today)

    def _list_known(self, model: ModelConfig) -> Variants:
        return self._unopened.setdefault((model.model, model.api_base), {})

    def _find(self, model: ModelConfig, *, default: bool) -> bool:
        known = self._list_known(model)
        seen = known.get(_variant(model))
        return seen.begins if seen else default or any(habit.begins for habit in known.values())


def _parse_day(rest: list[object]) -> date:
    """The day behind a row; one long ago if there is none."""
    try:
        return date.fromisoformat(str(rest[0]))
    except (IndexError, ValueError):
        return date.min


def _variant(model: ModelConfig) -> tuple[str, str]:
    """The effort and the own parameters of a model; one may switch its thoughts on or off."""
    return model.reasoning_effort, json.dumps(model.extra, sort_keys=True, default=str)


def _separates_thoughts(model: ModelConfig) -> bool:
    provider = model.provider or "openai"
    return provider in ALWAYS_SEPARATING or (provider in SEPARATING_PROVIDERS and not model.api_base)
