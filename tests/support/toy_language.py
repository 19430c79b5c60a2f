"""A language without a model: what it finds follows from the text alone, and it counts what it is asked."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.errors import ModelError
from engine.llm.prompts import render_answer
from engine.models import Extraction, Link, Mention, SearchQuery
from engine.usage import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from datetime import date

    from engine.models import ChatTurn, Excerpt, LLMMessage, Prompt, SummaryInput
    from engine.usage import Purpose, UsageMeter

SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
NAME = re.compile(r"\b[A-Z][a-z]+\b")
WORD = re.compile(r"\w{4,}")


class ToyLanguage:
    """Names are capitalised words; neighbors within a sentence are linked, with the sentence as description.

    `failing`: a call of that purpose fails with the error if a text of it holds the part. `gate`: while it is closed,
    extraction waits. `calls` counts by purpose; `summarized` are the inputs of every summary that was made.
    `shared_tokens`: of excerpts that share a call, which `shared_calls` has.
    """

    def __init__(self, name: str = "toy") -> None:
        self.name = name
        self.calls: Counter[str] = Counter()
        self.failing: dict[tuple[Purpose, str], BaseException] = {}
        self.batch_token_limit = 0
        self.shared_calls: list[tuple[str, ...]] = []
        self.unsure: set[str] = set()
        self.summarized: list[tuple[str, ...]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self._call_event = asyncio.Event()

    @property
    def summary_model(self) -> str:
        return self.name

    @property
    def is_extractive(self) -> bool:
        return False

    async def wait_for_calls(self, purpose: Purpose, times: int) -> None:
        """Return once there were so many calls of that purpose."""
        async with asyncio.timeout(20):
            while self.calls[purpose] < times:
                self._call_event.clear()
                await self._call_event.wait()

    def extraction_key(self, excerpt: Excerpt) -> bytes:
        return sha256(f"{self.name}\0{excerpt.section}\0{excerpt.text}".encode()).digest()

    async def extract(self, excerpt: Excerpt, bill: UsageMeter) -> Extraction:
        self._record_call("extract", bill, excerpt.text)
        await self.gate.wait()
        return self._extract(excerpt)

    def _extract(self, excerpt: Excerpt) -> Extraction:
        mentions: list[Mention] = []
        links: list[Link] = []
        for sentence in SENTENCE.split(excerpt.text):
            names = NAME.findall(sentence)
            mentions += [Mention(name, "person" if len(name) % 2 else "place", sentence) for name in names]
            links += [Link(a, b, "neighbor", sentence) for a, b in pairwise(names)]
        return Extraction(tuple(mentions), tuple(links))

    async def extract_batch(self, excerpts: Sequence[Excerpt], bill: UsageMeter) -> list[Extraction | None]:
        """Counts as one call; an excerpt that holds a part of `unsure` is not to be trusted."""
        self._record_call("extract", bill, *(excerpt.text for excerpt in excerpts))
        self.shared_calls.append(tuple(excerpt.text for excerpt in excerpts))
        await self.gate.wait()
        return [
            None if any(part in excerpt.text for part in self.unsure) else self._extract(excerpt)
            for excerpt in excerpts
        ]

    async def rewrite_query(
        self, text: str, history: Sequence[ChatTurn], bill: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery:
        self._record_call("condense", bill, text)
        words = tuple(WORD.findall(text))
        return SearchQuery(text, words, words)

    async def rewrite_unaddressed_query(
        self, text: str, history: Sequence[ChatTurn], bill: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery | None:
        return await self.rewrite_query(text, history, bill, today=today, asker=asker)

    async def summarize(self, wanted: Sequence[SummaryInput], bill: UsageMeter) -> list[str | None]:
        """Counts every summary as a call, though they came together."""
        made = list[str | None]()
        for each in wanted:
            try:
                self._record_call("summarize", bill, *each.texts)
                made.append(self._summary(each))
            except ModelError:
                made.append(None)
        return made

    def _summary(self, wanted: SummaryInput) -> str:
        self.summarized.append(wanted.texts)
        return f"{wanted.name} in {len(wanted.texts)} parts: {' '.join(wanted.texts)[:300]}"

    def build_answer_messages(self, prompt: Prompt) -> list[LLMMessage]:
        return render_answer(prompt)

    async def answer(self, prompt: Prompt, bill: UsageMeter) -> AsyncGenerator[str, None]:
        self._record_call("answer", bill, prompt.question)
        for source in prompt.context.sources:
            yield f"{source.text} [{source.number}]\n"
        rows = [row.description for row in prompt.context.entities]
        for description in rows + [row.description for row in prompt.context.relations]:
            yield f"{description}\n"
        if not prompt.context.sources and not rows and not prompt.context.relations:
            yield "Nothing is known."

    def _record_call(self, purpose: Purpose, bill: UsageMeter, *texts: str) -> None:
        self.calls[purpose] += 1
        self._call_event.set()
        bill.record(Usage(purpose, self.name))
        for (failing, part), error in self.failing.items():
            if failing == purpose and any(part in text for text in texts):
                raise error
