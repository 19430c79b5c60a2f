from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelRefused
from engine.knowledge.extraction_cleanup import clean_extraction
from engine.models import Extraction, Link, Mention
from engine.storage.ledger import facts
from engine.storage.ledger.content import documents
from engine.storage.ledger.facts import excerpt_section
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work import work_queue
from tests.engine.storage.ledger.ledger_fixture import reading
from tests.support.engine_fixture import doc

if TYPE_CHECKING:
    from engine.storage.sqlite.connection import Connection
    from tests.engine.storage.ledger.ledger_fixture import Desk

ADA, BOB = Mention("Ada", "person", "sings"), Mention("Bob", "person", "listens")


def test_the_same_record_twice_in_one_reply_is_kept_once() -> None:
    link = Link("Ada", "Bob", "near", "side by side")
    told = clean_extraction(Extraction((ADA, BOB, ADA), (link, link)))
    assert ([m for _, m in told.mentions], len(told.links)) == ([ADA, BOB], 1)


def test_an_end_that_is_not_mentioned_is_implied_by_its_link() -> None:
    told = clean_extraction(Extraction((ADA,), (Link("Ada", "Bob", "near", "side by side"),)))
    assert told.mentions == [("ada", ADA), ("bob", Mention("Bob", "", "side by side"))]


def test_a_link_of_a_name_with_itself_is_dropped_however_it_is_written() -> None:
    assert clean_extraction(Extraction((), (Link("Ada", "ADA", "self", "x"),))) == clean_extraction(Extraction())


def test_what_has_no_name_or_no_type_is_dropped() -> None:
    assert (
        clean_extraction(
            Extraction((Mention("12", "page", "x"), Mention("Ada", "", "x")), (Link("Ada", "7", "", "x"),))
        ).links
        == []
    )
    assert clean_extraction(Extraction((Mention("12", "page", "x"), Mention("Ada", "", "x")))).mentions == []


async def test_a_reading_is_stored_once(desk: Desk) -> None:
    [chunk] = await desk.tell("a", reading("Ada", "Bob"))
    assert not await desk.ledger.write(facts.save_extraction, chunk, b"again", reading("Carla"))
    assert await desk.column("SELECT canonical FROM name ORDER BY 1") == ["ada", "bob"]


async def test_a_reading_of_a_chunk_that_is_gone_is_not_stored(desk: Desk) -> None:
    [chunk] = await desk.tell("a", reading("Ada"))
    await desk.ledger.write(documents.delete_document, "a")
    assert not await desk.ledger.write(facts.save_extraction, chunk, b"late", reading("Carla"))
    assert await desk.rows("SELECT * FROM name") == []


async def test_a_chunk_that_could_not_be_embedded_stays_so_when_its_reading_comes_late(desk: Desk) -> None:
    await desk.put(doc("a", "one"))
    [chunk] = await desk.column("SELECT id FROM chunk")
    await desk.ledger.write(work_queue.record_embedding_failure, [chunk], ModelRefused("not that"))
    assert await desk.ledger.write(facts.save_extraction, chunk, b"late", reading("Ada"))
    assert await desk.ledger.read(work_queue.list_failed_keys) == [(KeyKind.CHUNK, chunk)]


async def test_the_same_words_are_read_once_wherever_they_stand_in_a_space(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob", said="met"))
    [(chunk, key)] = await desk.pairs("SELECT id, extraction FROM chunk")
    known = await desk.ledger.read(facts.find_extraction, key, chunk)
    assert known is not None
    assert known.mentions == reading("Ada", "Bob", said="met").mentions
    [link] = known.links  # which has no direction
    assert (sorted((link.source, link.target)), link.keywords, link.description) == (["Ada", "Bob"], "beside", "met")
    assert await desk.ledger.read(facts.find_extraction, b"unknown", chunk) is None


async def test_what_was_read_in_another_space_is_read_anew(desk: Desk) -> None:
    [there] = await desk.tell("a", reading("Ada", "Bob", said="met"), space="there")
    [key] = await desk.column("SELECT extraction FROM chunk")
    [here] = await desk.tell("b", reading("Zoe"))
    assert await desk.ledger.read(facts.find_extraction, key, there) is not None
    assert await desk.ledger.read(facts.find_extraction, key, here) is None


NAMES = st.sampled_from(["Ada", "ADA", "Bob", "bob", "Carla"])
TEXTS = st.sampled_from(["met", "left"])
READINGS = st.builds(
    Extraction,
    st.lists(st.builds(Mention, NAMES, st.just("person"), TEXTS), max_size=3).map(tuple),
    st.lists(st.builds(Link, NAMES, NAMES, st.sampled_from(["near", "far"]), TEXTS), max_size=4).map(tuple),
)


def copied(told: Extraction) -> Extraction:
    """What `reading_of` gives back for a reading: surfaces by canonical name, ends in any order."""
    kept = clean_extraction(told)
    shown = {name: mention.name for name, mention in kept.mentions}
    stated = tuple(mention for _, mention in kept.mentions if mention.type)
    return Extraction(stated, tuple(Link(shown[b], shown[a], x.keywords, x.description) for a, b, x in kept.links))


@given(READINGS)
def test_a_reading_that_is_copied_says_what_the_first_one_said(told: Extraction) -> None:
    first, again = clean_extraction(told), clean_extraction(copied(told))
    told_of = [sorted((name, m.name, m.type, m.description) for name, m in each.mentions) for each in (first, again)]
    assert told_of[0] == told_of[1]
    links = [[(sorted((a, b)), x.keywords, x.description) for a, b, x in each.links] for each in (first, again)]
    assert sorted(links[0]) == sorted(links[1])


async def test_unread_chunks_come_oldest_first_and_only_when_they_may_be_tried(desk: Desk) -> None:
    await desk.put(doc("a", "one", "two", "three"))
    found = await desk.ledger.read(facts.list_unextracted, 9, 0.0, [])
    assert [each.text for each in found] == ["one", "two", "three"]
    assert [each.text for each in await desk.ledger.read(facts.list_unextracted, 1, 0.0, [found[0].id])] == ["two"]

    async def wait(db: Connection) -> None:
        await db.execute("UPDATE chunk SET retry_at = 50 WHERE text = 'one'")

    await desk.ledger.write(wait)
    assert [each.text for each in await desk.ledger.read(facts.list_unextracted, 9, 49.0, [])] == ["two", "three"]
    assert [each.text for each in await desk.ledger.read(facts.list_unextracted, 9, 50.0, [])] == [
        "one",
        "two",
        "three",
    ]


async def test_an_excerpt_is_told_its_title_and_its_first_heading(desk: Desk) -> None:
    await desk.put(doc("a", "one"))
    assert [each.section for each in await desk.ledger.read(facts.list_unextracted, 9, 0.0, [])] == ["A › part 0"]
    assert excerpt_section("conversation", "hall", "10:03") == ""
    assert excerpt_section("file", "Report", "") == "Report"


async def test_the_count_of_unread_chunks_of_a_document_is_kept(desk: Desk) -> None:
    await desk.put(doc("a", "one", "two"))
    assert await desk.column("SELECT unextracted_chunks FROM document") == [2]
    [first, *_] = await desk.ledger.read(facts.list_unextracted, 9, 0.0, [])
    await desk.ledger.write(facts.save_extraction, first.id, b"read", reading("Ada"))
    assert await desk.column("SELECT unextracted_chunks FROM document") == [1]
    await desk.put(doc("a", "one", "two", "three"))
    assert await desk.column("SELECT unextracted_chunks FROM document") == [2]
