"""A language that replays what a model once found in each passage, and an embedder that keeps its vectors in a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path

import numpy as np

from engine.llm.base import Embedder
from engine.llm.formats.built_facts import build_link, build_mention
from engine.llm.offline.questions.rewrite import rewrite_query
from engine.models import ChatTurn, Excerpt, Extraction, SearchQuery, SummaryInput
from engine.usage import UsageMeter
from tests.support.fake_embedder import CachingEmbedder, Embed
from tests.support.toy_language import ToyLanguage

NAMES = re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,3}")
SENTENCES = re.compile(r"(?<=[.!?])\s+")


class ReplayLanguage(ToyLanguage):
    """Looks up what was stored for exactly this text; an unknown text has no facts."""

    is_extractive = True

    def __init__(self, stored: Mapping[str, Extraction]) -> None:
        super().__init__("replay")
        self.stored = stored

    def _extract(self, excerpt: Excerpt) -> Extraction:
        return self.stored.get(excerpt.text, Extraction())

    def _summary(self, wanted: SummaryInput) -> str:
        """The first words of each text, about as long as a model's summary."""
        return " ".join(text[:200] for text in wanted.texts)[:2000]

    async def rewrite_query(
        self, text: str, history: Sequence[ChatTurn], bill: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery:
        """The question with the keywords that the embedded skill finds in it."""
        return rewrite_query(text, history)


class StoredFactsLanguage(ReplayLanguage):
    """Gives the sentences that were stored for the messages of an excerpt, with the names in them."""

    def __init__(self, stored: Mapping[str, Sequence[str]]) -> None:
        super().__init__({})
        self.facts = stored

    def _extract(self, excerpt: Excerpt) -> Extraction:
        found = [fact for text, facts in self.facts.items() if text in excerpt.text for fact in facts]
        mentions, links = [], []
        for fact in dict.fromkeys(found):
            subject, *names = list(dict.fromkeys(NAMES.findall(fact))) or [""]
            mentions += [build_mention(name, "thing", fact) for name in (subject, *names) if name]
            links += [build_link(subject, name, "states", fact) for name in names]
        return Extraction(tuple(filter(None, mentions)), tuple(filter(None, links)))


def parse_reading(text: str, names: Iterable[str], triples: Iterable[Sequence[str]]) -> Extraction:
    """What a tolerant parser would make of it: a triple without three parts is left out, a longer one is clipped.

    An entity is described by the sentences that name it, or else by its triples, or by its name; a relation by its
    triple. Nothing is stored about types.
    """
    clipped = [tuple(triple[:3]) for triple in triples if len(triple) >= 3]
    links = [build_link(source, target, verb, f"{source} {verb} {target}") for source, verb, target in clipped]
    mentions = []
    for name in names:
        sentences = [sentence for sentence in SENTENCES.split(text) if name.casefold() in sentence.casefold()]
        facts = sentences or [" ".join(triple) for triple in clipped if name in triple] or [name]
        mentions.append(build_mention(name, "thing", " ".join(facts)))
    return Extraction(tuple(filter(None, mentions)), tuple(filter(None, links)))


class StoredEmbedder(CachingEmbedder):
    """An embedder whose vectors are kept in a file between runs, with counts of texts."""

    def __init__(self, inner: Embedder, file: Path) -> None:
        super().__init__(inner)
        self.file, self.requested_count, self.computed_count = file, 0, 0
        if file.exists():
            with np.load(file) as stored:
                self.vectors = dict(zip(json.loads(str(stored["texts"])), stored["vectors"], strict=True))

    async def _look_up(self, embed: Embed, mark: str, texts: Sequence[str], bill: UsageMeter) -> np.ndarray:
        self.requested_count += len(texts)
        self.computed_count += len({mark + text for text in texts} - self.vectors.keys())
        return await super()._look_up(embed, mark, texts, bill)

    def save(self) -> None:
        """Write the file if there are new vectors."""
        if self.computed_count:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self.file, texts=json.dumps(list(self.vectors)), vectors=np.stack(list(self.vectors.values())))
