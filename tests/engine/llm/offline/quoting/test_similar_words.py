"""Words that mean the same, by their vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from engine.llm.checked_embedder import UNRELATED_WORDS, CheckedEmbedder, wrap_embedder
from engine.llm.offline.quoting.similar_words import MAX_WORDS, find_similar_words
from engine.text.similarity import SimilarityScale, unit_vectors
from engine.usage import UsageMeter
from tests.engine.llm.offline.quoting.clauses import read, score
from tests.support.fake_embedder import HashEmbedder


class PairEmbedder(HashEmbedder):
    """Words that share their first letter have the same vector."""

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        return await super().embed([text[:1] for text in texts], meter)


def check(embedder: HashEmbedder) -> CheckedEmbedder:
    """The embedder with a scale that need not be measured."""
    checked = wrap_embedder(embedder)
    checked.recall_scale(SimilarityScale())
    return checked


@pytest.mark.parametrize(
    ("question", "text", "alike"),
    [
        ("Where do lodgers sleep?", "Lamplighters sleep in the loft.", {"lodger": {"lamplighter", "loft"}}),
        ("Where do lodgers sleep?", "Lodgers sleep in the loft.", {}),
        ("When is the summer ball?", "The spring ball is in April.", {}),
        ("Where is Lisbon?", "London is in the south.", {}),
        ("Which tanner do people go to?", "All call the rock the Tusk.", {}),
    ],
)
async def test_words_that_no_sentence_has_are_compared(question: str, text: str, alike: dict[str, set[str]]) -> None:
    candidates = read(text)
    found = await find_similar_words([score(question, candidates)], candidates, check(PairEmbedder()), UsageMeter())
    assert {key: set(words) for key, words in found.items()} == alike


async def test_few_words_are_embedded() -> None:
    embedder = HashEmbedder()
    candidates = read(" ".join(f"word{chr(97 + at % 26)}{chr(97 + at // 26)}" for at in range(400)))
    await find_similar_words([score("Where do lodgers sleep?", candidates)], candidates, check(embedder), UsageMeter())
    assert len(embedder.texts) <= MAX_WORDS + len(UNRELATED_WORDS)


async def test_words_are_compared_on_the_scale_of_words() -> None:
    class CloseEmbedder(HashEmbedder):
        """All words have nearly the same vector, as some embedders have it."""

        async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
            places = 1 + (await super().embed(texts, meter))[:, 1:].argmax(axis=1)
            vectors = 0.3 * np.eye(self.dim)[places]
            vectors[:, 0] = 0.95
            return unit_vectors(vectors)

    candidates = read("Lamplighters sleep in the barn.")
    scores = score("Where do lodgers sleep?", candidates)
    assert await find_similar_words([scores], candidates, check(CloseEmbedder()), UsageMeter()) == {}


async def test_a_day_of_the_week_means_no_other_one() -> None:
    for question, text in (
        ("Wann kommt montags der Müller?", "Der Müller kommt mittwochs um neun."),
        ("Quand vient le meunier le mardi ?", "Le meunier vient le mercredi à neuf heures."),
    ):
        candidates = read(text)
        scores = score(question, candidates)
        found = await find_similar_words([scores], candidates, check(PairEmbedder()), UsageMeter())
        assert not any(key.startswith(("mo", "mar")) for key in found)
