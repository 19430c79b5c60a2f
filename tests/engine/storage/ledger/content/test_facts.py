from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelRefused
from engine.knowledge.merge import clean_extraction
from engine.models import Extraction, Link, Mention
from engine.storage.ledger.content.facts import Facts, excerpt_section
from engine.storage.ledger.records import UnextractedChunk
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.work_queue import WorkQueue
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction, only_sqlite
from tests.support.engine_fixture import doc

ADA, BOB = Mention("Ada", "person", "sings"), Mention("Bob", "person", "listens")
LINK = Link("Ada", "Bob", "near", "side by side")
NAMELESS = Extraction((Mention("12", "page", "x"), Mention("Ada", "", "x")), (Link("Ada", "7", "", "x"),))


@pytest.mark.parametrize(
    ("found", "mentions", "links"),
    [
        pytest.param(Extraction((ADA, BOB, ADA), (LINK, LINK)), [ADA, BOB], 1, id="the same record once"),
        pytest.param(
            Extraction((ADA,), (LINK,)), [ADA, Mention("Bob", "", "side by side")], 1, id="an end implied by its link"
        ),
        pytest.param(Extraction((), (Link("Ada", "ADA", "self", "x"),)), [], 0, id="a link of a name with itself"),
        pytest.param(NAMELESS, [], 0, id="no name or no type"),
    ],
)
def test_an_extraction_is_cleaned(found: Extraction, mentions: list[Mention], links: int) -> None:
    cleaned = clean_extraction(found)
    assert ([mention for _, mention in cleaned.mentions], len(cleaned.links)) == (mentions, links)


async def unextracted(ledger: LedgerFixture, limit: int = 9, now: float = 0.0, *running: int) -> list[UnextractedChunk]:
    return await ledger.ledger.read(Facts.list_unextracted, limit, now, list(running))


async def test_an_extraction_is_stored_once_and_not_for_a_chunk_that_is_gone(ledger: LedgerFixture) -> None:
    [chunk] = await ledger.add_facts("a", extraction("Ada", "Bob"))
    assert not await ledger.write(Facts.save_extraction, chunk, b"again", extraction("Carla"))
    assert await ledger.column("SELECT canonical FROM name ORDER BY 1") == ["ada", "bob"]
    await ledger.forget("a")
    assert not await ledger.write(Facts.save_extraction, chunk, b"late", extraction("Carla"))
    assert await ledger.rows("SELECT * FROM name") == []


async def test_a_late_extraction_leaves_a_chunk_that_could_not_be_embedded_so(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "one"))
    [chunk] = await ledger.column("SELECT id FROM chunk")
    await ledger.give_up_embedding(chunk, ModelRefused("not that"))
    assert await ledger.write(Facts.save_extraction, chunk, b"late", extraction("Ada"))
    assert await ledger.read(WorkQueue.list_failed_keys) == [(KeyKind.CHUNK, chunk)]


async def test_the_extraction_of_the_same_words_is_known_within_a_space_only(ledger: LedgerFixture) -> None:
    made = extraction("Ada", "Bob", text="met")
    [here] = await ledger.add_facts("a", made)
    [key] = await ledger.column("SELECT extraction FROM chunk")
    [there] = await ledger.add_facts("b", extraction("Zoe"), space="there")
    found, known = await ledger.read(Facts.find_extraction, (b"other", key), here)
    assert (found, known.mentions) == (key, made.mentions)
    [link] = known.links  # which has no direction
    assert (sorted((link.source, link.target)), link.keywords, link.description) == (["Ada", "Bob"], "beside", "met")
    assert await ledger.read(Facts.find_extraction, (b"unknown", b"other"), here) is None
    assert await ledger.read(Facts.find_extraction, (key, b"other"), there) is None


@only_sqlite
async def test_an_extraction_is_looked_up_in_its_index_not_among_the_chunks_of_a_space(ledger: LedgerFixture) -> None:
    plan = await ledger.explain(Facts.find_extraction, (b"one", b"two"), 1)
    assert sum("INDEX chunk_extraction" in step for step in plan) == 2
    assert not any("space=?" in step for step in plan)


NAMES = st.sampled_from(["Ada", "ADA", "Bob", "bob", "Carla"])
TEXTS = st.sampled_from(["met", "left"])
EXTRACTIONS = st.builds(
    Extraction,
    st.lists(st.builds(Mention, NAMES, st.just("person"), TEXTS), max_size=3).map(tuple),
    st.lists(st.builds(Link, NAMES, NAMES, st.sampled_from(["near", "far"]), TEXTS), max_size=4).map(tuple),
)


@given(EXTRACTIONS)
def test_an_extraction_that_is_copied_says_what_the_first_one_said(found: Extraction) -> None:
    """As `find_extraction` gives it back: surfaces by canonical name, ends in any order."""
    first = clean_extraction(found)
    shown = {name: mention.name for name, mention in first.mentions}
    stated = tuple(mention for _, mention in first.mentions if mention.type)
    links = tuple(Link(shown[b], shown[a], link.keywords, link.description) for a, b, link in first.links)
    again = clean_extraction(Extraction(stated, links))
    for each in (first, again):
        each.mentions.sort(key=str)
    assert again.mentions == first.mentions
    facts_of = [
        sorted((*sorted((a, b)), x.keywords, x.description) for a, b, x in each.links) for each in (first, again)
    ]
    assert facts_of[0] == facts_of[1]


async def test_unextracted_chunks_come_oldest_first_and_only_when_they_may_be_tried(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "one", "two", "three"))
    found = await unextracted(ledger)
    assert [each.text for each in found] == ["one", "two", "three"]
    assert [each.text for each in await unextracted(ledger, 1, 0.0, found[0].id)] == ["two"]
    await ledger.execute("UPDATE chunk SET retry_at = 50 WHERE text = 'one'")
    assert [each.text for each in await unextracted(ledger, 9, 49.0)] == ["two", "three"]
    assert [each.text for each in await unextracted(ledger, 9, 50.0)] == ["one", "two", "three"]


async def test_an_excerpt_is_shown_with_its_title_and_its_first_heading(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "one"))
    assert [each.section for each in await unextracted(ledger)] == ["A › part 0"]
    assert excerpt_section("conversation", "hall", "10:03") == ""
    assert excerpt_section("file", "Report", "") == "Report"


async def test_the_unextracted_chunks_of_a_document_are_counted(ledger: LedgerFixture) -> None:
    counts = []
    for texts in (("one", "two"), ("one", "two", "three")):
        await ledger.add(doc("a", *texts))
        counts += await ledger.column("SELECT unextracted_chunks FROM document")
        [first, *_] = await unextracted(ledger)
        await ledger.write(Facts.save_extraction, first.id, b"read", extraction("Ada"))
        counts += await ledger.column("SELECT unextracted_chunks FROM document")
    assert counts == [2, 1, 2, 1]
