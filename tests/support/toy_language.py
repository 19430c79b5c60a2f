"""A language model by simple rules: its results follow from the text, and it counts its calls."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from datetime import date
from hashlib import sha256
from itertools import pairwise

from engine.errors import ModelError
from engine.llm.prompts import render_answer
from engine.models import ChatTurn, Excerpt, Extraction, Link, LLMMessage, Mention, Prompt, SearchQuery, SummaryInput
from engine.usage import Purpose, Usage, UsageMeter
from tests.support.patience import PATIENCE

SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
NAME = re.compile(r"\b[A-Z][a-z]+\b")
WORD = re.compile(r"\w{4,}")


class ToyLanguage:
    """Names are capitalized words; neighbors within a sentence are linked, with the sentence as description.

    `failing`: a call of that purpose fails with the error if one of its texts holds the part; `unsure`: an excerpt of
    a shared call that holds such a part gets no reliable extraction. `gate`: extraction waits while it is closed.
    `calls` counts by purpose; `summarized` are the inputs of every summary, `shared_calls` the excerpts of every
    shared call.
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
        """Return after that number of calls of that purpose."""
        async with asyncio.timeout(PATIENCE):
            while self.calls[purpose] < times:
                self._call_event.clear()
                await self._call_event.wait()

    def extraction_key(self, excerpt: Excerpt) -> bytes:
        return sha256(f"{self.name}\0{excerpt.section}\0{excerpt.text}".encode()).digest()

    async def extract(self, excerpt: Excerpt, meter: UsageMeter) -> Extraction:
        self._record_call("extract", meter, excerpt.text)
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

    async def extract_batch(self, excerpts: Sequence[Excerpt], meter: UsageMeter) -> list[Extraction | None]:
        """Counts as one call."""
        self._record_call("extract", meter, *(excerpt.text for excerpt in excerpts))
        self.shared_calls.append(tuple(excerpt.text for excerpt in excerpts))
        await self.gate.wait()
        return [
            None if any(part in excerpt.text for part in self.unsure) else self._extract(excerpt)
            for excerpt in excerpts
        ]

    async def rewrite_query(
        self, text: str, history: Sequence[ChatTurn], meter: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery:
        self._record_call("condense", meter, text)
        words = tuple(WORD.findall(text))
        return SearchQuery(text, words, words)

    async def rewrite_unaddressed_query(
        self, text: str, history: Sequence[ChatTurn], meter: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery | None:
        return await self.rewrite_query(text, history, meter, today=today, asker=asker)

    async def summarize(self, inputs: Sequence[SummaryInput], meter: UsageMeter) -> list[str | None]:
        """Counts every summary as a call."""
        summaries, failures = list[str | None](), list[ModelError]()
        for input_ in inputs:
            try:
                self._record_call("summarize", meter, *input_.texts)
                summaries.append(self._summary(input_))
            except ModelError as error:
                failures.append(error)
                summaries.append(None)
        if len(failures) == len(inputs) > 0:
            raise failures[0]
        return summaries

    def _summary(self, each: SummaryInput) -> str:
        self.summarized.append(each.texts)
        return f"{each.name} in {len(each.texts)} parts: {' '.join(each.texts)[:300]}"

    def build_answer_messages(self, prompt: Prompt) -> list[LLMMessage]:
        return render_answer(prompt)

    async def answer(self, prompt: Prompt, meter: UsageMeter) -> AsyncGenerator[str, None]:
        self._record_call("answer", meter, prompt.question)
        for source in prompt.context.sources:
            yield f"{source.text} [{source.number}]\n"
        rows = [row.description for row in prompt.context.entities]
        for description in rows + [row.description for row in prompt.context.relations]:
            yield f"{description}\n"
        if not prompt.context.sources and not rows and not prompt.context.relations:
            yield "Nothing is known."

    def _record_call(self, purpose: Purpose, meter: UsageMeter, *texts: str) -> None:
        self.calls[purpose] += 1
        self._call_event.set()
        meter.record(Usage(purpose, self.name))
        for (failing, part), error in self.failing.items():
            if failing == purpose and any(part in text for text in texts):
                raise error
