from __future__ import annotations

from engine.llm.offline.quotes import choose
from engine.llm.offline.ranking import CANDIDATES, study
from engine.usage import Bill
from tests.engine.llm.offline.sources import source
from tests.support.embedder import HashEmbedder


async def test_every_clause_is_weighed_against_every_sentence_looked_at() -> None:
    sources = [source(1, "The lathe is big. The kiln is hot."), source(2, "The loom is old.")]
    found = await study("Where is the big lathe kept, and who mended the old loom?", sources, HashEmbedder(), Bill())
    assert len(found.clauses) == 2
    assert all(clause.covers.shape == (3, len(clause.terms)) for clause in found.clauses)
    assert [int(clause.score.argmax()) for clause in found.clauses] == [0, 2]


async def test_few_sentences_are_embedded_however_many_there_are() -> None:
    embedder = HashEmbedder()
    sources = [source(number, f"Sentence {number} speaks of boat{number}.") for number in range(1, 600)]
    found = await study("Who speaks of boat571?", sources, embedder, Bill())
    assert len(found.places) == CANDIDATES
    assert found.quotables[found.places[int(found.clauses[0].score.argmax())]].source.number == 571
    assert len(embedder.texts) < 600


async def test_nothing_is_chosen_from_nothing() -> None:
    found = await study("Who is it?", [source(1, "---")], HashEmbedder(), Bill())
    assert choose(found) == []
