"""A language that replays what a model once found in each passage, and an embedder that keeps what it has embedded."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.formats.tuple_extraction import build_link, build_mention
from engine.llm.prompts import render_answer
from engine.models import Extraction, SearchQuery

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from engine.llm.base import Embedder
    from engine.models import ChatTurn, Excerpt, LLMMessage, Prompt, SummaryInput
    from engine.usage import UsageMeter

TYPE = "thing"  # what is stored says nothing about types
PARTS = 3
SENTENCES = re.compile(r"(?<=[.!?])\s+")


@dataclass(slots=True)
class ReplayLanguage:
    """Reads by looking up what was stored for exactly this text; a text that is not known states nothing."""

    stored: Mapping[str, Extraction]
    name: str = "replay"

    @property
    def summary_model(self) -> str:
        return self.name

    @property
    def is_extractive(self) -> bool:
        return True

    def extraction_key(self, excerpt: Excerpt) -> bytes:
        return blake2b(f"{self.name}\0{excerpt.text}".encode()).digest()

    async def extract(self, excerpt: Excerpt, bill: UsageMeter) -> Extraction:
        return self.stored.get(excerpt.text, Extraction())

    @property
    def batch_token_limit(self) -> int:
        return 0

    async def extract_batch(self, excerpts: Sequence[Excerpt], bill: UsageMeter) -> list[Extraction | None]:
        return [await self.extract(excerpt, bill) for excerpt in excerpts]

    async def rewrite_query(
        self, text: str, history: Sequence[ChatTurn], bill: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery:
        """The question itself as both keywords: nothing is asked of a model."""
        return SearchQuery(text, (text,), (text,))

    async def rewrite_unaddressed_query(
        self, text: str, history: Sequence[ChatTurn], bill: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery | None:
        return await self.rewrite_query(text, history, bill, today=today, asker=asker)

    async def summarize(self, wanted: Sequence[SummaryInput], bill: UsageMeter) -> list[str | None]:
        """The first words of each text, as a model's summary would be about so long."""
        return [" ".join(text[:200] for text in each.texts)[:2000] for each in wanted]

    def build_answer_messages(self, prompt: Prompt) -> list[LLMMessage]:
        return render_answer(prompt)

    async def answer(self, prompt: Prompt, bill: UsageMeter) -> AsyncGenerator[str, None]:
        yield "[1]"


def parse_reading(text: str, names: Iterable[str], triples: Iterable[Sequence[str]]) -> Extraction:
    """What a tolerant parser would have made of it: a triple without three parts is left out, a longer one is clipped.

    An entity is described by the sentences that name it, or else by its triples; a relation by its triple.
    """
    clipped = [tuple(triple[:PARTS]) for triple in triples if len(triple) >= PARTS]
    links = [build_link(source, target, said, f"{source} {said} {target}") for source, said, target in clipped]
    told = SENTENCES.split(text)
    mentions = [build_mention(name, TYPE, describe(name, told, clipped)) for name in names]
    return Extraction(tuple(filter(None, mentions)), tuple(filter(None, links)))


def describe(name: str, told: Sequence[str], triples: Sequence[Sequence[str]]) -> str:
    """The sentences that hold the name; where none does, its triples; where there are none, the name alone."""
    named = [sentence for sentence in told if name.casefold() in sentence.casefold()]
    return " ".join(named or [" ".join(triple) for triple in triples if name in triple] or [name])


@dataclass(slots=True)
class CachedEmbedder:
    """An embedder whose vectors are kept in a file between runs; `asked` and `made` count texts."""

    embedder: Embedder
    file: Path
    vectors: dict[str, np.ndarray] = field(default_factory=dict)
    requested_count: int = 0
    computed_count: int = 0

    def __post_init__(self) -> None:
        if self.file.exists():
            with np.load(self.file) as held:
                self.vectors = dict(zip(json.loads(str(held["texts"])), held["vectors"], strict=True))

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def dim(self) -> int:
        return self.embedder.dim

    @property
    def max_tokens(self) -> int:
        return self.embedder.max_tokens

    async def embed(self, texts: Sequence[str], bill: UsageMeter) -> np.ndarray:
        fresh = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if fresh:
            self.vectors.update(zip(fresh, await self.embedder.embed(fresh, bill), strict=True))
        self.requested_count, self.computed_count = self.requested_count + len(texts), self.computed_count + len(fresh)
        return np.stack([self.vectors[text] for text in texts])

    def save(self) -> None:
        """Write all of them down, if there are new ones."""
        if self.computed_count:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self.file, texts=json.dumps(list(self.vectors)), vectors=np.stack(list(self.vectors.values())))
