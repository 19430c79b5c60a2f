"""The language of a model, reached through litellm."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from engine.errors import LanguageError, Refused, TooLong, TooSlow, Unavailable
from engine.llm.client.client import NO_ROOM, Ask, Calls
from engine.llm.client.errors import wants_plain_text
from engine.llm.client.thinking_time import ThinkingTime
from engine.llm.formats.json_extraction import parse_condensed, parse_for_bot, parse_json_reading
from engine.llm.formats.json_summaries import parse_summaries
from engine.llm.formats.shared_extraction import mixed, parted_json, parted_rows
from engine.llm.formats.thinking_stream import ThinkingFilter
from engine.llm.formats.tuple_extraction import glean, parse_tuples
from engine.llm.prompts import (
    OWN_LANGUAGE,
    SUMMARY_PROMPTS,
    Format,
    prompts_hash,
    render_answer,
    render_condense,
    render_extract,
    render_extract_several,
    render_glean,
    render_summarise,
    render_summarise_several,
)
from engine.options import ContextWindow

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence
    from datetime import date

    from engine.llm.config import ModelSettings
    from engine.models import Condensed, Excerpt, Fragments, Message, Prompt, Reading, Turn
    from engine.usage import Bill, Purpose

# Part of the key of remembered readings: to be raised when the parsers find something else in the same reply.
PARSER_VERSION = 1

# A second look is not worth a longer prompt than this (lightrag.md A2).
GLEANING_TOKENS = 20_480
# So many shared replies in a row that cannot be trusted, and each excerpt is read alone from then on.
MIXED_REPLIES = 3


@dataclass(frozen=True, slots=True)
class LLMSettings:
    """Which models do what: `extract` (also summarises) and `keywords` are the model of `answer` unless given.

    `gleaning` is the number of second looks, 0 or 1, at excerpts in which at least `glean_from` entities and relations
    were found; `shared_tokens`: of the excerpts that share a call, 0 for none; `window` is what all three models
    take at once; `language` is that of the descriptions.
    """

    answer: ModelSettings
    extract: ModelSettings | None = None
    keywords: ModelSettings | None = None
    format: Format = "tuples"
    gleaning: int = 1
    glean_from: int = 50
    shared_tokens: int = 1600
    window: ContextWindow = field(default_factory=ContextWindow)
    language: str = OWN_LANGUAGE


@dataclass(slots=True)
class LLM:
    """Implements `Language`. `count` counts o200k_base tokens."""

    settings: LLMSettings
    calls: Calls
    count: Callable[[str], int]
    _without_format: set[str] = field(default_factory=set)
    _too_slow: set[str] = field(default_factory=set)
    _mixed: int = 0

    @property
    def name(self) -> str:
        chosen = self.settings
        models = f"answer={chosen.answer.name} extract={self._extractor.name} keywords={self._keywords.name}"
        return f"llm {models} {self._reading_settings()} prompts={prompts_hash()}"

    @property
    def summary_model(self) -> str:
        return f"llm {self._extractor.name} prompts={prompts_hash(*SUMMARY_PROMPTS)}"

    @property
    def extractive(self) -> bool:
        return False

    def reading_key(self, excerpt: Excerpt) -> bytes:
        messages = [*self._extraction(excerpt), *render_glean("", self.settings.format)]
        head = (self._extractor.name, self._reading_settings(), str(PARSER_VERSION))
        digest = sha256()
        for part in (*head, *(text for message in messages for text in (message.role, message.content))):
            data = part.encode()
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.digest()

    async def extract(self, excerpt: Excerpt, bill: Bill) -> Reading:
        messages = self._extraction(excerpt)
        return await self._completed(messages, await self._told("extract", messages, bill), bill)

    @property
    def shared_tokens(self) -> int:
        window, most = self.settings.window, self.settings.shared_tokens
        most = min(most, window.excerpt) if window.size else most
        unfit = f"extract {self._extractor.name}" in self._too_slow or self._mixed >= MIXED_REPLIES
        return 0 if unfit else most

    async def extract_several(self, excerpts: Sequence[Excerpt], bill: Bill) -> list[Reading | None]:
        """All in one call; only excerpts in which much was found are looked at twice.

        A model that is too slow for it, or mixes the excerpts up again and again, is not asked so any more.
        """
        nothing: list[Reading | None] = [None] * len(excerpts)
        messages = render_extract_several(excerpts, self.settings.format, self.settings.language)
        try:
            reply = await self._told("extract", messages, bill)
        except (TooLong, Refused):
            return nothing
        except TooSlow:
            self._too_slow.add(f"extract {self._extractor.name}")
            return nothing
        parted = (parted_json if self.settings.format == "json" else parted_rows)(reply, len(excerpts))
        if not parted or mixed(excerpts, {number: self._parsed(text) for number, text in parted.items()}):
            self._mixed += 1
            return nothing
        self._mixed = 0
        asking = [self._completed(self._extraction(excerpts[n - 1]), text, bill) for n, text in parted.items()]
        found = dict(zip(parted, await asyncio.gather(*asking), strict=True))
        return [found.get(number) for number in range(1, len(excerpts) + 1)]

    async def _completed(self, messages: Sequence[Message], reply: str, bill: Bill) -> Reading:
        """What a first reply states, completed by a second look if it found much: what found little missed little."""
        first = self._parsed(reply)
        much = len(first.mentions) + len(first.links) >= self.settings.glean_from
        further = [*messages, *render_glean(reply, self.settings.format)]
        if not self.settings.gleaning or not much or self._beyond(GLEANING_TOKENS, further):
            return first
        try:
            return glean(first, self._parsed(await self._told("extract", further, bill)))
        except LanguageError:  # the first reply was paid for, and is good without a second look
            return first

    async def condense(
        self, text: str, history: Sequence[Turn], bill: Bill, *, today: date | None = None, asker: str = ""
    ) -> Condensed:
        ask = Ask(self._keywords, "condense", render_condense(text, history, today, asker), json=True)
        return parse_condensed(await self._complete(ask, bill), text)

    async def condense_overheard(
        self, text: str, history: Sequence[Turn], bill: Bill, *, today: date | None = None, asker: str = ""
    ) -> Condensed | None:
        ask = Ask(self._keywords, "condense", render_condense(text, history, today, asker, overheard=True), json=True)
        reply = await self._complete(ask, bill)
        return parse_condensed(reply, text) if parse_for_bot(reply) else None

    async def summarise(self, wanted: Sequence[Fragments], bill: Bill) -> list[str | None]:
        """All in one call if they are several; what its reply lacks is asked for alone."""
        together = len(wanted) > 1 and self._extractor.name not in self._too_slow
        found = await self._summarised_together(wanted, bill) if together else {}
        alone = [place for place in range(len(wanted)) if place not in found]
        asking = (self._summarised(wanted[place], bill) for place in alone)
        failures = list[LanguageError]()
        for place, outcome in zip(alone, await asyncio.gather(*asking, return_exceptions=True), strict=True):
            if isinstance(outcome, LanguageError):
                failures.append(outcome)
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                found[place] = outcome
        if failures and not found:
            raise failures[0]
        return [found.get(place) for place in range(len(wanted))]

    def messages(self, prompt: Prompt) -> list[Message]:
        return render_answer(prompt)

    async def answer(self, prompt: Prompt, bill: Bill) -> AsyncGenerator[str, None]:
        model = self.settings.answer.instead(prompt.model)
        thinking, said = ThinkingFilter(), False
        thoughts = ThinkingTime(model.model, self.calls.patience.thinking)
        overview = prompt.context.overview
        days = f"{overview.days}\n\n" if overview and overview.days else ""
        ask = Ask(model, "answer", self.messages(prompt))
        self._check(ask)
        async with aclosing(self.calls.stream(ask, bill)) as deltas:
            async for delta in deltas:
                if text := thinking.feed(delta):
                    yield text if said else f"{days}{text}"
                    said = True
                else:
                    thoughts.thought()
        rest = thinking.finish()
        if rest:
            yield rest if said else f"{days}{rest}"
        elif not said:
            cut_off = any(each.cut_off for each in bill.items)
            raise Unavailable(f"{model.model} thought, but gave no answer.", hint=NO_ROOM if cut_off else "")

    @property
    def _extractor(self) -> ModelSettings:
        return self.settings.extract or self.settings.answer

    @property
    def _keywords(self) -> ModelSettings:
        return self.settings.keywords or self.settings.answer

    async def _summarised(self, wanted: Fragments, bill: Bill) -> str:
        text = (await self._told("summarise", render_summarise(wanted), bill)).strip()
        if not text:
            raise Unavailable(f"{self._extractor.model} gave an empty summary.")
        return text

    async def _summarised_together(self, wanted: Sequence[Fragments], bill: Bill) -> dict[int, str]:
        """By place, what the reply of a shared call has of them: nothing if it is too much for the model.

        A model that is too slow for it is not asked so again.
        """
        try:
            reply = await self._told("summarise", render_summarise_several(wanted), bill)
        except (TooLong, Refused):
            return {}
        except TooSlow:
            self._too_slow.add(self._extractor.name)
            return {}
        return {number - 1: text for number, text in parse_summaries(reply, len(wanted)).items()}

    def _reading_settings(self) -> str:
        chosen = self.settings
        return f"format={chosen.format} gleaning={int(bool(chosen.gleaning))} language={chosen.language}"

    def _extraction(self, excerpt: Excerpt) -> list[Message]:
        return render_extract(excerpt, self.settings.format, self.settings.language)

    def _parsed(self, reply: str) -> Reading:
        return parse_json_reading(reply) if self.settings.format == "json" else parse_tuples(reply)

    async def _told(self, purpose: Purpose, messages: Sequence[Message], bill: Bill) -> str:
        json = purpose == "extract" and self.settings.format == "json"
        return await self._complete(Ask(self._extractor, purpose, messages, json), bill)

    async def _complete(self, ask: Ask, bill: Bill) -> str:
        """The reply; a server that refuses response_format is asked once more, and from then on, without it."""
        self._check(ask)
        plain = Ask(ask.model, ask.purpose, ask.messages)
        if not ask.json or ask.model.name in self._without_format:
            return await self.calls.complete(plain, bill)
        try:
            return await self.calls.complete(ask, bill)
        except LanguageError as error:
            if not wants_plain_text(error):
                raise
        self._without_format.add(ask.model.name)
        return await self.calls.complete(plain, bill)

    def _check(self, ask: Ask) -> None:
        """Raise TooLong for a prompt for which the model has no room; it is not sent."""
        window = self.settings.window
        if window.size and self._beyond(window.size - window.kept, ask.messages):
            window.check(sum(self.count(message.content) for message in ask.messages), ask.model.model)

    def _beyond(self, tokens: int, messages: Sequence[Message]) -> bool:
        """Whether the messages have more tokens; what has no more bytes than that needs no counting."""
        texts = [message.content for message in messages]
        return sum(len(text.encode()) for text in texts) > tokens and sum(map(self.count, texts)) > tokens
