"""Calls whose reply is a text or an object: judged, asked for again if it gave nothing, completed if it was cut off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.errors import InvalidReply, NothingGiven
from engine.llm.client.client import OUTPUT_LIMIT_HINT, Completion
from engine.llm.formats.outcomes import Outcome, judge_object, judge_text, quote_start
from engine.llm.prompts import render_text_rest
from engine.llm.wire.json_answer import unwrap_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from engine.llm.client.client import ChatRequest
    from engine.usage import Purpose, UsageMeter

    Complete = Callable[[ChatRequest, UsageMeter], Awaitable[Completion]]

MAX_CONTINUATIONS = 2  # of a text that was cut off
QUERY_KEYS = frozenset({"question", "high_level_keywords", "low_level_keywords", "for_you", "filters"})
EVENT_KEYS = frozenset({"brings_it"})


@dataclass(frozen=True, slots=True)
class JudgedCalls:
    """Calls of a model. `complete` sends a request; `observe` receives the purpose and outcome of each reply."""

    complete: Complete
    observe: Callable[[Purpose, Outcome], None]

    async def write_text(self, request: ChatRequest, meter: UsageMeter) -> str:
        """A whole text. Raises NothingGiven if two replies are none, InvalidReply if it does not come to an end.

        The description of a picture may end anywhere.
        """
        text, outcome = await self._ask_twice(request, meter)
        for _ in range(MAX_CONTINUATIONS):
            if outcome is not Outcome.CUT_OFF:
                break
            further = replace(request, messages=[*request.messages, *render_text_rest(text)])
            reply = await self.complete(further, meter)
            text = join_parts(text, reply.text)
            outcome = Outcome.CUT_OFF if reply.is_cut_off else Outcome.FACTS
            self.observe(request.purpose, outcome)
        if outcome is Outcome.FACTS or (outcome is Outcome.CUT_OFF and request.purpose == "describe"):
            return text
        raise _describe_failure(request, text, outcome)

    async def write_object(self, request: ChatRequest, meter: UsageMeter, keys: frozenset[str] = QUERY_KEYS) -> str:
        """A reply with an object that has one of these keys. Raises NothingGiven if two replies have none."""
        for _ in range(2):
            reply = await self.complete(request, meter)
            outcome = judge_object(reply.text, keys, is_cut_off=reply.is_cut_off)
            self.observe(request.purpose, outcome)
            if outcome is Outcome.FACTS:
                return reply.text
        raise _describe_nothing(request, reply.text, outcome)

    async def _ask_twice(self, request: ChatRequest, meter: UsageMeter) -> tuple[str, Outcome]:
        """The text and outcome of the first reply that is a text, or of the second reply."""
        for is_last in (False, True):
            try:
                reply = await self.complete(request, meter)
            except InvalidReply:
                self.observe(request.purpose, Outcome.EMPTY)
                if is_last:
                    raise
                continue
            text = unwrap_text(reply.text)
            outcome = judge_text(text, is_cut_off=reply.is_cut_off)
            self.observe(request.purpose, outcome)
            if outcome in {Outcome.FACTS, Outcome.CUT_OFF} or is_last:
                break
        return text, outcome


def join_parts(text: str, rest: str) -> str:
    """A text and its continuation, without what the continuation repeats of its end."""
    rest = rest.lstrip("…")
    for length in range(min(len(text), len(rest), 200), 8, -1):
        if text.endswith(rest[:length]):
            return text + rest[length:]
    return text + rest


def _describe_failure(request: ChatRequest, text: str, outcome: Outcome) -> InvalidReply:
    model = request.model.model
    if outcome is Outcome.CUT_OFF:
        return InvalidReply(f"{model} did not come to the end of its text.", hint=OUTPUT_LIMIT_HINT)
    return _describe_nothing(request, text, outcome)


def _describe_nothing(request: ChatRequest, text: str, outcome: Outcome) -> NothingGiven:
    model = request.model.model
    words = f": “{quote_start(text)}”" if text.strip() else "."
    return NothingGiven(f"{model} gave nothing{words}", outcome=outcome)
