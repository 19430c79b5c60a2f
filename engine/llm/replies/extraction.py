"""Extract from excerpts: each reply is judged, tried again if it gave nothing, and completed if it was cut off."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from engine.errors import TEXT_ERRORS, InvalidReply, ModelError, ModelRefused, NothingGiven, PromptTooLong
from engine.llm.formats import shared_calls
from engine.llm.formats.outcomes import Outcome, Reading, judge_extraction, quote_start
from engine.llm.formats.tuple_extraction import merge_gleaning
from engine.llm.prompts import render_extract_again, render_extract_rest, render_glean
from engine.models import Excerpt, Extraction

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from engine.llm.client.client import Completion
    from engine.llm.prompts import ExtractionFormat
    from engine.models import LLMMessage
    from engine.usage import UsageMeter

    Call = Callable[[Sequence[LLMMessage], ExtractionFormat, UsageMeter], Awaitable[Completion]]
    Render = Callable[[Excerpt, ExtractionFormat], list[LLMMessage]]

Gleaning = Literal["off", "auto", "always"]

MAX_GLEANING_TOKENS = 20_480  # of a prompt; a longer one is not worth a second pass
MAX_CONTINUATIONS = 3  # of a reply that was cut off
MIN_SPLIT_CHARACTERS = 400  # a shorter text is not split after replies that were cut off
OTHER_FORMAT: dict[ExtractionFormat, ExtractionFormat] = {"tuples": "json", "json": "tuples"}
_BREAKS = "\n\n", "\n", ". ", "。", " "  # where a text is split, the best first


@dataclass(frozen=True, slots=True)
class GleaningRule:
    """The rule for a second pass over an excerpt: never, from `least` entities and relations on, or always.

    One that shared its first call needs `least_shared`: its second pass is a call of its own, with all rules.
    """

    mode: Gleaning
    least: int
    least_shared: int

    def applies(self, found: Extraction, *, is_shared: bool) -> bool:
        """Whether an excerpt with these facts gets one."""
        least = self.least_shared if is_shared else self.least
        return self.mode == "always" or (self.mode == "auto" and len(found.mentions) + len(found.links) >= least)


@dataclass(frozen=True, slots=True)
class Extractor:
    """Extracts with one model. `render` makes the messages for an excerpt, `call` sends messages of a format.

    `observe` receives the outcome of each reply; `exceeds` tells whether messages have more tokens than a number.
    """

    model: str
    output_format: ExtractionFormat
    gleaning: GleaningRule
    render: Render
    call: Call
    observe: Callable[[Outcome], None]
    exceeds: Callable[[int, Sequence[LLMMessage]], bool]

    async def extract(self, excerpt: Excerpt, meter: UsageMeter) -> Extraction:
        """The facts of an excerpt. Raises NothingGiven if the replies, also in the other format, give nothing."""
        own = self.output_format
        last = Reading(Outcome.EMPTY)
        for output_format, again in ((own, False), (own, True), (OTHER_FORMAT[own], False)):
            messages = self.render(excerpt, output_format)
            further = render_extract_again(quote_start(last.text), output_format) if again else []
            last = await self._read([*messages, *further], output_format, meter)
            if last.is_done:
                return await self._glean(excerpt, last, output_format, meter)
            if last.has_facts:
                return await self._complete(excerpt, last.extraction, output_format, meter)
        if last.outcome is Outcome.CUT_OFF:
            halves = await self._read_halves(excerpt, own, Extraction(), meter)
            if halves.mentions or halves.links:
                return halves
        raise build_error(self.model, last)

    def read_shared(self, reply: Completion, excerpts: Sequence[Excerpt]) -> dict[int, Reading]:
        """The readings of the excerpts of a shared call by number; empty if they are mixed up."""
        is_json = self.output_format == "json"
        split = shared_calls.split_json_by_excerpt if is_json else shared_calls.split_rows_by_excerpt
        parts = split(reply.text, len(excerpts))
        found = {number: judge_extraction(text, self.output_format) for number, text in parts.items()}
        if shared_calls.has_misattributed_facts(excerpts, {n: each.extraction for n, each in found.items()}):
            found = {}
        for reading in found.values():
            self.observe(reading.outcome)
        if not found:
            self.observe(Outcome.CUT_OFF if reply.is_cut_off else Outcome.ROWLESS)
        return found

    async def glean_shared(
        self, readings: dict[int, Reading], excerpts: Sequence[Excerpt], meter: UsageMeter
    ) -> list[Extraction | None]:
        """The facts of each excerpt of a shared call after its second pass; None for those to extract alone."""
        done = {number: each for number, each in readings.items() if each.is_done}
        calls = (
            self._glean(excerpts[n - 1], first, self.output_format, meter, is_shared=True) for n, first in done.items()
        )
        found = dict(zip(done, await asyncio.gather(*calls), strict=True))
        return [found.get(number) for number in range(1, len(excerpts) + 1)]

    async def _glean(
        self,
        excerpt: Excerpt,
        first: Reading,
        output_format: ExtractionFormat,
        meter: UsageMeter,
        *,
        is_shared: bool = False,
    ) -> Extraction:
        """The facts of a first reply, completed by a second pass if the rule asks for one."""
        further = [*self.render(excerpt, output_format), *render_glean(first.text, output_format)]
        is_due = self.gleaning.applies(first.extraction, is_shared=is_shared)
        if not is_due or self.exceeds(MAX_GLEANING_TOKENS, further):
            return first.extraction
        try:
            reply = await self.call(further, output_format, meter)
        except ModelError:  # the first reply is paid for and valid without a second pass
            return first.extraction
        second = judge_extraction(reply.text, output_format, is_cut_off=reply.is_cut_off or reply.is_overlong)
        self.observe(second.outcome)
        return merge_gleaning(first.extraction, second.extraction)

    async def _read(
        self, messages: Sequence[LLMMessage], output_format: ExtractionFormat, meter: UsageMeter
    ) -> Reading:
        """Send messages and judge the reply. Raises ModelError for what is no fault of the text."""
        try:
            reply = await self.call(messages, output_format, meter)
        except PromptTooLong:
            raise
        except ModelRefused as error:
            reading = Reading(Outcome.REFUSED, text=str(error))
        except InvalidReply as error:
            reading = Reading(Outcome.EMPTY, text=str(error))
        else:
            reading = judge_extraction(reply.text, output_format, is_cut_off=reply.is_cut_off or reply.is_overlong)
        self.observe(reading.outcome)
        return reading

    async def _complete(
        self, excerpt: Excerpt, found: Extraction, output_format: ExtractionFormat, meter: UsageMeter
    ) -> Extraction:
        """The facts of a reply that was cut off, with the rest: continued, or else read from both halves."""
        for _ in range(MAX_CONTINUATIONS):
            messages = [*self.render(excerpt, output_format), *render_extract_rest(found, output_format)]
            try:
                rest = await self._read(messages, output_format, meter)
            except TEXT_ERRORS:
                break
            before, found = found, merge_gleaning(found, rest.extraction)
            if rest.is_done:
                return found
            if len(found.mentions) + len(found.links) <= len(before.mentions) + len(before.links):
                break
        return await self._read_halves(excerpt, output_format, found, meter)

    async def _read_halves(
        self, excerpt: Excerpt, output_format: ExtractionFormat, found: Extraction, meter: UsageMeter
    ) -> Extraction:
        """The facts with those of both halves of the text; `missing` is set if a half was cut off, too."""
        is_whole = True
        for half in split_text(excerpt.text):
            messages = self.render(Excerpt(half, excerpt.section), output_format)
            try:
                reading = await self._read(messages, output_format, meter)
            except TEXT_ERRORS:
                reading = Reading(Outcome.REFUSED)
            found = merge_gleaning(found, reading.extraction)
            is_whole &= reading.is_done
        is_whole &= len(excerpt.text) >= MIN_SPLIT_CHARACTERS
        return found if is_whole else replace(found, missing=describe_cut_off(self.model))


def split_text(text: str) -> tuple[str, ...]:
    """Both halves of a text, parted where a paragraph, line or sentence ends; none of a short one."""
    if len(text) < MIN_SPLIT_CHARACTERS:
        return ()
    middle, reach = len(text) // 2, len(text) // 4
    for mark in _BREAKS:
        places = [
            place + len(mark)
            for place in (text.rfind(mark, middle - reach, middle), text.find(mark, middle, middle + reach))
            if place >= 0
        ]
        if places:
            at = min(places, key=lambda place: abs(place - middle))
            return text[:at].strip(), text[at:].strip()
    return text[:middle], text[middle:]


def describe_cut_off(model: str) -> str:
    """Why facts are missing after replies that were cut off."""
    return f"{model} was cut off before it had read all of this text, also when it was asked for the rest."


def build_error(model: str, last: Reading) -> NothingGiven:
    """The error of a text for which the model gave nothing."""
    words = f": “{quote_start(last.text)}”" if last.text else " but empty replies."
    return NothingGiven(f"{model} gave nothing for this text{words}", outcome=last.outcome)
