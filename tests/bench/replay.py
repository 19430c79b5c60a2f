"""A language that replays what a model once found in each passage, and an embedder that keeps what it has embedded."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.formats.tuple_extraction import link_of, mention_of
from engine.llm.prompts import render_answer
from engine.models import Condensed, Reading

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from engine.llm.base import Embedder
    from engine.models import Excerpt, Fragments, Message, Prompt, Turn
    from engine.usage import Bill

TYPE = "thing"  # what is stored says nothing about types
PARTS = 3
SENTENCES = re.compile(r"(?<=[.!?])\s+")


@dataclass(slots=True)
class Replay:
    """Reads by looking up what was stored for exactly this text; a text that is not known states nothing."""

    stored: Mapping[str, Reading]
    name: str = "replay"

    @property
    def summary_model(self) -> str:
        return self.name

    @property
    def extractive(self) -> bool:
        return True

    def reading_key(self, excerpt: Excerpt) -> bytes:
        return blake2b(f"{self.name}\0{excerpt.text}".encode()).digest()

    async def extract(self, excerpt: Excerpt, bill: Bill) -> Reading:
        return self.stored.get(excerpt.text, Reading())

    @property
    def shared_tokens(self) -> int:
        return 0

    async def extract_several(self, excerpts: Sequence[Excerpt], bill: Bill) -> list[Reading | None]:
        return [await self.extract(excerpt, bill) for excerpt in excerpts]

    async def condense(
        self, text: str, history: Sequence[Turn], bill: Bill, *, today: date | None = None, asker: str = ""
    ) -> Condensed:
        """The question itself as both keywords: nothing is asked of a model."""
        return Condensed(text, (text,), (text,))

    async def condense_overheard(
        self, text: str, history: Sequence[Turn], bill: Bill, *, today: date | None = None, asker: str = ""
    ) -> Condensed | None:
        return await self.condense(text, history, bill, today=today, asker=asker)

    async def summarise(self, wanted: Sequence[Fragments], bill: Bill) -> list[str | None]:
        """The first words of each text, as a model's summary would be about so long."""
        return [" ".join(text[:200] for text in each.texts)[:2000] for each in wanted]

    def messages(self, prompt: Prompt) -> list[Message]:
        return render_answer(prompt)

    async def answer(self, prompt: Prompt, bill: Bill) -> AsyncGenerator[str, None]:
        yield "[1]"


def reading(text: str, names: Iterable[str], triples: Iterable[Sequence[str]]) -> Reading:
    """What a tolerant parser would have made of it: a triple without three parts is left out, a longer one is clipped.

    An entity is described by the sentences that name it, or else by its triples; a relation by its triple.
    """
    clipped = [tuple(triple[:PARTS]) for triple in triples if len(triple) >= PARTS]
    links = [link_of(source, target, said, f"{source} {said} {target}") for source, said, target in clipped]
    told = SENTENCES.split(text)
    mentions = [mention_of(name, TYPE, described(name, told, clipped)) for name in names]
    return Reading(tuple(filter(None, mentions)), tuple(filter(None, links)))


def described(name: str, told: Sequence[str], triples: Sequence[Sequence[str]]) -> str:
    """The sentences that hold the name; where none does, its triples; where there are none, the name alone."""
    named = [sentence for sentence in told if name.casefold() in sentence.casefold()]
    return " ".join(named or [" ".join(triple) for triple in triples if name in triple] or [name])


@dataclass(slots=True)
class Kept:
    """An embedder whose vectors are kept in a file between runs; `asked` and `made` count texts."""

    embedder: Embedder
    file: Path
    known: dict[str, np.ndarray] = field(default_factory=dict)
    asked: int = 0
    made: int = 0

    def __post_init__(self) -> None:
        if self.file.exists():
            with np.load(self.file) as held:
                self.known = dict(zip(json.loads(str(held["texts"])), held["vectors"], strict=True))

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def dim(self) -> int:
        return self.embedder.dim

    @property
    def max_tokens(self) -> int:
        return self.embedder.max_tokens

    async def embed(self, texts: Sequence[str], bill: Bill) -> np.ndarray:
        fresh = [text for text in dict.fromkeys(texts) if text not in self.known]
        if fresh:
            self.known.update(zip(fresh, await self.embedder.embed(fresh, bill), strict=True))
        self.asked, self.made = self.asked + len(texts), self.made + len(fresh)
        return np.stack([self.known[text] for text in texts])

    def save(self) -> None:
        """Write all of them down, if there are new ones."""
        if self.made:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self.file, texts=json.dumps(list(self.known)), vectors=np.stack(list(self.known.values())))
