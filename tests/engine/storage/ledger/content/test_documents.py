from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelRefused, NotFound
from engine.ingest.rechunk import rechunk_region
from engine.models import Chunk, Passage, Scope
from engine.storage.ledger import facts
from engine.storage.ledger.content import documents
from engine.storage.ledger.content.chunks import chunks_by_key
from engine.storage.ledger.records.content import DocumentChange
from engine.storage.ledger.work import work_queue
from tests.engine.storage.ledger.ledger_fixture import CUT, cut, reading
from tests.support.engine_fixture import doc, thread
from tests.support.tokenizers import CharacterTokenizer

if TYPE_CHECKING:
    from engine.storage.sqlite.connection import Connection
    from tests.engine.storage.ledger.ledger_fixture import Desk

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
CHUNKS = "SELECT text, id FROM chunk ORDER BY ordinal"


async def change(desk: Desk, key: str, *put: Passage, drop: str = "", is_open: bool | None = None) -> bool:
    wanted = DocumentChange(put, frozenset(filter(None, [drop])), is_open)
    return await desk.ledger.documents.amend(
        key, wanted, lambda region: rechunk_region(region, CharacterTokenizer(), CUT)
    )


async def generation(desk: Desk) -> int:
    [value] = await desk.column("SELECT value FROM meta WHERE key = 'generation'")
    return int(value)


async def test_k11_the_same_document_again_changes_nothing(desk: Desk) -> None:
    assert await desk.put(doc("a", "one", "two"))
    before = await desk.rows("SELECT * FROM stale_key"), await desk.rows("SELECT * FROM document")
    assert not await desk.put(doc("a", "one", "two"))
    assert (await desk.rows("SELECT * FROM stale_key"), await desk.rows("SELECT * FROM document")) == before


async def test_unchanged_chunks_keep_their_ids_and_only_new_ones_are_stale(desk: Desk) -> None:
    await desk.put(doc("a", "one", "two", "three"))
    before = dict(await desk.rows(CHUNKS))
    await desk.clear_marks()
    assert await desk.put(doc("a", "one", "deux", "three"))
    after = dict(await desk.rows(CHUNKS))
    assert list(after) == ["one", "deux", "three"]
    assert (after["one"], after["three"]) == (before["one"], before["three"])
    assert set(await desk.column("SELECT id FROM stale_key WHERE kind = 0")) == {before["two"], after["deux"]}


async def test_an_unchanged_chunk_keeps_what_was_read_in_it(desk: Desk) -> None:
    first, _ = await desk.tell("a", reading("Ada", "Bob"), reading("Carla"))
    await desk.put(doc("a", "a tells 0", "something else", room="room of here"))
    assert await desk.column("SELECT DISTINCT chunk FROM mention") == [first]


def test_a_chunk_is_known_by_document_text_and_occurrence() -> None:
    one, same, other = Chunk("x", 1, ()), Chunk("x", 1, ()), Chunk("y", 1, ())
    keys = list(chunks_by_key("a", [one, same, other]))
    assert len(set(keys)) == 3
    assert list(chunks_by_key("a", [other, one, same])) == [keys[2], keys[0], keys[1]]
    assert not set(chunks_by_key("b", [one, same, other])) & set(keys)


@given(st.lists(st.sampled_from(["x", "y", "z"]), max_size=8), st.integers(0, 8))
def test_taking_one_chunk_away_leaves_the_keys_of_the_others(texts: list[str], at: int) -> None:
    before = set(chunks_by_key("a", [Chunk(text, 1, ()) for text in texts]))
    after = set(chunks_by_key("a", [Chunk(text, 1, ()) for text in texts[:at] + texts[at + 1 :]]))
    assert after <= before
    assert len(before - after) == (at < len(texts))


async def test_pieces_say_where_in_its_passages_a_chunk_stands(desk: Desk) -> None:
    long = " ".join(f"word{n:02}" for n in range(20))
    await desk.put(doc("a", "short", long))
    rows = await desk.rows(
        "SELECT c.text, p.text, i.start_offset, i.end_offset FROM chunk_passage i JOIN chunk c ON c.id = i.chunk"
        " JOIN passage p ON p.id = i.passage ORDER BY c.ordinal"
    )
    assert len(rows) > 2
    assert all(text == passage[start:stop] for text, passage, start, stop in rows)


async def test_pieces_follow_a_passage_that_moves_within_its_document(desk: Desk) -> None:
    await desk.put(doc("a", "one", "two"))
    [(_, one), (_, two)] = await desk.rows(CHUNKS)
    await desk.put(doc("a", "two", "one"))
    assert await desk.rows(CHUNKS) == [("two", two), ("one", one)]
    found = await desk.rows(
        "SELECT c.text, p.text FROM chunk_passage i JOIN chunk c ON c.id = i.chunk JOIN passage p ON p.id = i.passage"
    )
    assert {(a == b) for a, b in found} == {True}


async def test_the_time_of_a_chunk_is_that_of_its_passage_else_of_its_document(desk: Desk) -> None:
    document = doc("a", "one", "two", time=NOON)
    later = NOON + timedelta(hours=1)
    passages = (document.passages[0], replace(document.passages[1], time=later))
    await desk.put(replace(document, passages=passages))
    assert await desk.column("SELECT time FROM chunk ORDER BY ordinal") == [
        int(NOON.timestamp()) * 1_000_000,
        int(later.timestamp()) * 1_000_000,
    ]


async def test_a_time_that_changes_moves_what_was_said_and_marks_it_stale(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"), time=NOON)
    await desk.clear_marks()
    assert await desk.put(doc("a", "a tells 0", room="room of here", time=NOON + timedelta(days=1)))
    times = await desk.column("SELECT time FROM mention UNION SELECT time FROM link")
    assert times == [int((NOON + timedelta(days=1)).timestamp()) * 1_000_000]
    assert await desk.stale() == {("ada", ""), ("bob", ""), ("ada", "bob")}


async def test_a_title_or_a_link_that_changes_is_a_change_but_makes_no_chunk_stale(desk: Desk) -> None:
    await desk.put(doc("a", "one"))
    await desk.clear_marks()
    assert await desk.put(replace(doc("a", "one"), title="Other", link="https://example.org"))
    assert not await desk.rows("SELECT * FROM stale_key")


async def test_k11_forgetting_takes_passages_chunks_facts_and_names_with_it(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.project()
    assert await desk.ledger.write(documents.delete_document, "a")
    tables = ("document", "passage", "chunk", "chunk_passage", "mention", "link", "name", "entity", "relation")
    assert {table: await desk.rows(f"SELECT * FROM {table}") for table in tables} == {table: [] for table in tables}


async def test_k11_what_another_document_also_says_survives_forgetting(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.tell("b", reading("Ada", "Bob"), reading("Ada", "Carla"))
    await desk.ledger.write(documents.delete_document, "b")
    assert await desk.column("SELECT canonical FROM name ORDER BY canonical") == ["ada", "bob"]
    assert await desk.column("SELECT COUNT(*) FROM link") == [1]
    assert {("ada", ""), ("bob", ""), ("ada", "bob")} <= await desk.stale()


async def test_k11_forgetting_what_is_not_there_says_so(desk: Desk) -> None:
    assert not await desk.ledger.write(documents.delete_document, "nothing")


async def test_amending_puts_and_drops_passages_at_once(desk: Desk) -> None:
    await desk.put(thread("t", "one", "two", "three"))
    assert await change(desk, "t", Passage("m003", "four", position=3), drop="m001")
    assert await desk.column("SELECT text FROM passage ORDER BY position") == ["one", "three", "four"]


async def test_an_amended_passage_takes_the_place_that_its_position_and_time_give_it(desk: Desk) -> None:
    await desk.put(thread("t", "one", "three"))
    await change(desk, "t", Passage("m000b", "two", position=0, time=NOON))
    assert await desk.column("SELECT text FROM chunk ORDER BY ordinal") == ["one", "two", "three"]


async def test_amending_without_a_change_changes_nothing(desk: Desk) -> None:
    await desk.put(thread("t", "one"))
    before = await generation(desk)
    assert not await change(desk, "t", thread("t", "one").passages[0])
    assert await desk.column("SELECT generation FROM document") != [before + 1]


async def test_closing_a_conversation_lets_it_be_read(desk: Desk) -> None:
    await desk.put(thread("t", "one"))
    assert await desk.ledger.read(facts.list_unextracted, 9, 0.0, []) == []
    assert await change(desk, "t", is_open=False)
    assert [each.text for each in await desk.ledger.read(facts.list_unextracted, 9, 0.0, [])] == ["one"]


async def test_a_document_of_which_no_passage_is_left_is_forgotten(desk: Desk) -> None:
    await desk.put(thread("t", "one"))
    assert await change(desk, "t", drop="m000")
    assert await desk.rows("SELECT * FROM document") == []


async def test_amending_what_is_not_there_is_an_error(desk: Desk) -> None:
    with pytest.raises(NotFound):
        await change(desk, "nothing", drop="m000")


async def test_a_document_loads_as_it_was_put(desk: Desk) -> None:
    told = replace(thread("t", "one", "two"), time=NOON, link="https://example.org/t")
    await desk.put(told)
    assert await desk.ledger.read(documents.load_document, "t", Scope.of("here")) == told
    with pytest.raises(NotFound):
        await desk.ledger.read(documents.load_document, "t", Scope.of("elsewhere"))


async def test_a_change_tries_anew_what_had_failed(desk: Desk) -> None:
    await desk.put(doc("a", "one", "two"))

    async def fail(db: Connection) -> None:
        await db.execute("UPDATE chunk SET error = 'bad', attempts = 6, retry_at = 9e999")
        await db.execute("UPDATE document SET error = 'bad'")

    await desk.ledger.write(fail)
    await desk.put(doc("a", "one", "zwei"))
    assert await desk.rows("SELECT error, attempts, retry_at FROM chunk") == [("", 0, 0.0)] * 2
    assert await desk.column("SELECT error FROM document") == [""]


async def test_another_room_marks_the_chunks_whose_vectors_name_it(desk: Desk) -> None:
    await desk.put(doc("a", "one", room="hall"))
    await desk.clear_marks()
    assert await desk.put(doc("a", "one", room="attic"))
    assert await desk.rows("SELECT r.name FROM chunk c JOIN room r ON r.id = c.room") == [("attic",)]
    assert await desk.column("SELECT kind FROM stale_key") == [0]


async def test_vectors_of_a_text_go_with_the_last_chunk_that_has_it(desk: Desk) -> None:
    await desk.put(doc("a", "same"))
    await desk.put(doc("b", "same"))

    async def remember(db: Connection) -> None:
        await db.execute("INSERT INTO vector SELECT DISTINCT 'e', text_hash, 1, x'00' FROM chunk")

    await desk.ledger.write(remember)
    await desk.ledger.write(documents.delete_document, "a")
    assert len(await desk.rows("SELECT * FROM vector")) == 1
    await desk.ledger.write(documents.delete_document, "b")
    assert await desk.rows("SELECT * FROM vector") == []


async def test_a_changed_document_has_its_given_up_chunks_embedded_again(desk: Desk) -> None:
    await desk.put(doc("a", "one", "two"))
    [one, two] = await desk.column("SELECT id FROM chunk ORDER BY ordinal")
    await desk.ledger.write(work_queue.record_embedding_failure, [one], ModelRefused("no"))
    assert await desk.column("SELECT id FROM stale_key WHERE kind = 0") == [two]
    await desk.clear_marks()
    await desk.put(doc("a", "one", "two", "three"))
    assert one in await desk.column("SELECT id FROM stale_key WHERE kind = 0")


async def test_every_chunk_of_a_long_statement_counts_as_read(desk: Desk) -> None:
    document = doc("manual", "one", "two", "three")
    await desk.ledger.write(documents.save_manual_document, document, cut(document.passages), reading("Ada", "Bob"))
    assert await desk.column("SELECT unextracted_chunks FROM document") == [0]
    assert len(set(await desk.column("SELECT chunk FROM mention"))) == 1
