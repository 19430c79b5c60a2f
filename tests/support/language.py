"""A language without a model: what it finds follows from the text alone, and it counts what it is asked."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.errors import LanguageError
from engine.llm.prompts import render_answer
from engine.models import Condensed, Link, Mention, Reading
from engine.usage import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from datetime import date

    from engine.models import Excerpt, Fragments, Message, Prompt, Turn
    from engine.usage import Bill, Purpose

SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
NAME = re.compile(r"\b[A-Z][a-z]+\b")
WORD = re.compile(r"\w{4,}")


class ToyLanguage:
    """Names are capitalised words; neighbours within a sentence are linked, with the sentence as description.

    `failing`: a call of that purpose fails with the error if a text of it holds the part. `gate`: while it is closed,
    extraction waits. `calls` counts by purpose; `summarised` are the inputs of every summary that was made.
    `shared_tokens`: of excerpts that share a call, which `shared_calls` has.
    """

    def __init__(self, name: str = "toy") -> None:
        self.name = name
        self.calls: Counter[str] = Counter()
        self.failing: dict[tuple[Purpose, str], BaseException] = {}
        self.shared_tokens = 0
        self.shared_calls: list[tuple[str, ...]] = []
        self.unsure: set[str] = set()
        self.summarised: list[tuple[str, ...]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self._news = asyncio.Event()

    @property
    def summary_model(self) -> str:
        return self.name

    @property
    def extractive(self) -> bool:
        return False

    async def asked(self, purpose: Purpose, times: int) -> None:
        """Return once there were so many calls of that purpose."""
        async with asyncio.timeout(20):
            while self.calls[purpose] < times:
                self._news.clear()
                await self._news.wait()

    def reading_key(self, excerpt: Excerpt) -> bytes:
        return sha256(f"{self.name}\0{excerpt.section}\0{excerpt.text}".encode()).digest()

    async def extract(self, excerpt: Excerpt, bill: Bill) -> Reading:
        self._called("extract", bill, excerpt.text)
        await self.gate.wait()
        return self._read(excerpt)

    @staticmethod
    def _read(excerpt: Excerpt) -> Reading:
        mentions: list[Mention] = []
        links: list[Link] = []
        for sentence in SENTENCE.split(excerpt.text):
            names = NAME.findall(sentence)
            mentions += [Mention(name, "person" if len(name) % 2 else "place", sentence) for name in names]
            links += [Link(a, b, "neighbour", sentence) for a, b in pairwise(names)]
        return Reading(tuple(mentions), tuple(links))

    async def extract_several(self, excerpts: Sequence[Excerpt], bill: Bill) -> list[Reading | None]:
        """Counts as one call; an excerpt that holds a part of `unsure` is not to be trusted."""
        self._called("extract", bill, *(excerpt.text for excerpt in excerpts))
        self.shared_calls.append(tuple(excerpt.text for excerpt in excerpts))
        await self.gate.wait()
        return [
            None if any(part in excerpt.text for part in self.unsure) else self._read(excerpt) for excerpt in excerpts
        ]

    async def condense(
        self, text: str, history: Sequence[Turn], bill: Bill, *, today: date | None = None, asker: str = ""
    ) -> Condensed:
        self._called("condense", bill, text)
        words = tuple(WORD.findall(text))
        return Condensed(text, words, words)

    async def condense_overheard(
        self, text: str, history: Sequence[Turn], bill: Bill, *, today: date | None = None, asker: str = ""
    ) -> Condensed | None:
        return await self.condense(text, history, bill, today=today, asker=asker)

    async def summarise(self, wanted: Sequence[Fragments], bill: Bill) -> list[str | None]:
        """Counts every summary as a call, though they came together."""
        made = list[str | None]()
        for each in wanted:
            try:
                self._called("summarise", bill, *each.texts)
                made.append(self._summary(each))
            except LanguageError:
                made.append(None)
        return made

    def _summary(self, wanted: Fragments) -> str:
        self.summarised.append(wanted.texts)
        return f"{wanted.name} in {len(wanted.texts)} parts: {' '.join(wanted.texts)[:300]}"

    def messages(self, prompt: Prompt) -> list[Message]:
        return render_answer(prompt)

    async def answer(self, prompt: Prompt, bill: Bill) -> AsyncGenerator[str, None]:
        self._called("answer", bill, prompt.question)
        for source in prompt.context.sources:
            yield f"{source.text} [{source.number}]\n"
        rows = [row.description for row in prompt.context.entities]
        for description in rows + [row.description for row in prompt.context.relations]:
            yield f"{description}\n"
        if not prompt.context.sources and not rows and not prompt.context.relations:
            yield "Nothing is known."

    def _called(self, purpose: Purpose, bill: Bill, *texts: str) -> None:
        self.calls[purpose] += 1
        self._news.set()
        bill.add(Usage(purpose, self.name))
        for (failing, part), error in self.failing.items():
            if failing == purpose and any(part in text for text in texts):
                raise error
