from __future__ import annotations

from engine.llm.offline.quotes import select_answers
from engine.llm.offline.ranking import MAX_CANDIDATES, rank_sentences
from engine.usage import UsageMeter
from tests.engine.llm.offline.sources import source
from tests.support.fake_embedder import HashEmbedder


async def test_every_clause_is_weighed_against_every_sentence_looked_at() -> None:
    sources = [source(1, "The lathe is big. The kiln is hot."), source(2, "The loom is old.")]
    found = await rank_sentences(
        "Where is the big lathe kept, and who mended the old loom?", sources, HashEmbedder(), UsageMeter()
    )
    assert len(found.clauses) == 2
    assert all(clause.coverage.shape == (3, len(clause.terms)) for clause in found.clauses)
    assert [int(clause.score.argmax()) for clause in found.clauses] == [0, 2]


async def test_few_sentences_are_embedded_however_many_there_are() -> None:
    embedder = HashEmbedder()
    sources = [source(number, f"Sentence {number} speaks of boat{number}.") for number in range(1, 600)]
    found = await rank_sentences("Who speaks of boat571?", sources, embedder, UsageMeter())
    assert len(found.positions) == MAX_CANDIDATES
    assert found.candidates[found.positions[int(found.clauses[0].score.argmax())]].source.number == 571
    assert len(embedder.texts) < 600


async def test_nothing_is_chosen_from_nothing() -> None:
    found = await rank_sentences("Who is it?", [source(1, "---")], HashEmbedder(), UsageMeter())
    assert select_answers(found) == []
