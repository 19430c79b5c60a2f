from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelRefused, NotFound
from engine.models import Chunk, Passage, Scope
from engine.storage.ledger import Ledger
from engine.storage.ledger.content.chunks import chunks_by_key
from engine.storage.ledger.content.documents import Documents
from engine.storage.ledger.content.facts import Facts
from engine.storage.sqlite.database_file import log_size
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, cut, extraction, only_sqlite
from tests.support.engine_fixture import doc, thread

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
CHUNKS = "SELECT text, id FROM chunk ORDER BY ordinal"
PIECES = (
    "SELECT c.text, p.text, i.start_offset, i.end_offset FROM chunk_passage i JOIN chunk c ON c.id = i.chunk"
    " JOIN passage p ON p.id = i.passage ORDER BY c.ordinal"
)
FORGOTTEN_TABLES = (
    *("document", "passage", "chunk", "chunk_passage", "name", "entity", "relation", "mention", "link"),
)


def microseconds(time: datetime) -> int:
    return int(time.timestamp()) * 1_000_000


async def test_k11_the_same_document_again_changes_nothing(ledger: LedgerFixture) -> None:
    async def state() -> list[object]:
        return [*await ledger.rows("SELECT * FROM stale_key"), *await ledger.rows("SELECT * FROM document")]

    assert await ledger.add(doc("a", "one", "two"))
    before = await state()
    assert not await ledger.add(doc("a", "one", "two"))
    assert await state() == before


@only_sqlite
async def test_the_same_document_again_writes_nothing_to_disk(ledger: LedgerFixture) -> None:
    assert isinstance(ledger.ledger, Ledger)
    await ledger.add(doc("a", "one", "two"))
    written = log_size(ledger.ledger.path)
    await ledger.add(doc("a", "one", "two"))
    assert log_size(ledger.ledger.path) == written
    await ledger.add(doc("a", "one", "three"))
    assert log_size(ledger.ledger.path) > written


async def test_unchanged_chunks_keep_their_ids_and_facts_and_only_new_ones_are_stale(ledger: LedgerFixture) -> None:
    first, second = await ledger.add_facts("a", extraction("Ada", "Bob"), extraction("Carla"))
    await ledger.clear_stale()
    assert await ledger.add(doc("a", "a tells 0", "something else", room="room of here"))
    after = dict(await ledger.rows(CHUNKS))
    assert list(after) == ["a tells 0", "something else"]
    assert after["a tells 0"] == first
    assert set(await ledger.column("SELECT id FROM stale_key WHERE kind = 0")) == {second, after["something else"]}
    assert await ledger.column("SELECT DISTINCT chunk FROM mention") == [first]


@given(st.lists(st.sampled_from(["x", "y", "z"]), max_size=8), st.integers(0, 8))
def test_a_chunk_is_known_by_document_text_and_occurrence(texts: list[str], at: int) -> None:
    def keys(document: str, texts: list[str]) -> set[str]:
        return set(chunks_by_key(document, [Chunk(text, 1, ()) for text in texts]))

    before, after = keys("a", texts), keys("a", texts[:at] + texts[at + 1 :])
    assert len(before) == len(texts)
    assert keys("a", sorted(texts)) == before
    assert not before & set(keys("b", texts))
    assert after <= before
    assert len(before - after) == (at < len(texts))


async def test_pieces_say_where_in_its_passages_a_chunk_is_also_when_they_move(ledger: LedgerFixture) -> None:
    texts, chunks = ["short", " ".join(f"word{n:02}" for n in range(20))], list[set[object]]()
    for order in (texts, texts[::-1]):
        await ledger.add(doc("a", *order))
        chunks.append(set(await ledger.rows(CHUNKS)))
        rows = await ledger.rows(PIECES)
        assert len(rows) > 2
        assert all(text == passage[start:end] for text, passage, start, end in rows)
    assert chunks[0] == chunks[1]


async def test_the_time_of_a_chunk_is_that_of_its_passage_else_of_its_document(ledger: LedgerFixture) -> None:
    document, later = doc("a", "one", "two", time=NOON), NOON + timedelta(hours=1)
    await ledger.add(replace(document, passages=(document.passages[0], replace(document.passages[1], time=later))))
    times = await ledger.column("SELECT time FROM chunk ORDER BY ordinal")
    assert times == [microseconds(NOON), microseconds(later)]


async def test_a_time_that_changes_moves_the_facts_and_makes_them_stale(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"), time=NOON)
    await ledger.clear_stale()
    later = NOON + timedelta(days=1)
    assert await ledger.add(doc("a", "a tells 0", room="room of here", time=later))
    times = await ledger.column("SELECT time FROM mention UNION SELECT time FROM link")
    assert times == [microseconds(later)]
    assert await ledger.stale() == {("ada", ""), ("bob", ""), ("ada", "bob")}


async def test_a_title_or_a_link_that_changes_makes_no_chunk_stale_and_another_room_does(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "one", room="hall"))
    await ledger.clear_stale()
    assert await ledger.add(replace(doc("a", "one"), title="Other", link="https://example.org"))
    assert not await ledger.rows("SELECT * FROM stale_key")
    assert await ledger.add(doc("a", "one", room="attic"))
    assert await ledger.column("SELECT r.name FROM chunk c JOIN room r ON r.id = c.room") == ["attic"]
    assert await ledger.column("SELECT kind FROM stale_key") == [0]


async def test_k11_forgetting_removes_everything_but_what_another_document_also_says(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    await ledger.add_facts("b", extraction("Ada", "Bob"), extraction("Ada", "Carla"))
    assert await ledger.forget("b")
    assert await ledger.column("SELECT canonical FROM name ORDER BY canonical") == ["ada", "bob"]
    assert await ledger.column("SELECT COUNT(*) FROM link") == [1]
    assert {("ada", ""), ("bob", ""), ("ada", "bob")} <= await ledger.stale()
    await ledger.project()
    assert await ledger.forget("a")
    assert not await ledger.forget("a")
    assert [table for table in FORGOTTEN_TABLES if await ledger.rows(f"SELECT * FROM {table}")] == []


async def test_an_amended_passage_takes_the_place_that_its_position_and_time_give_it(ledger: LedgerFixture) -> None:
    await ledger.add(thread("t", "one", "three", "four"))
    assert await ledger.amend("t", Passage("m000b", "two", position=0, time=NOON), remove="m002")
    assert await ledger.column("SELECT text FROM chunk ORDER BY ordinal") == ["one", "two", "three"]
    with pytest.raises(NotFound):
        await ledger.amend("nothing", remove="m000")


async def test_closing_a_conversation_lets_it_be_extracted(ledger: LedgerFixture) -> None:
    async def unextracted() -> list[str]:
        return [chunk.text for chunk in await ledger.read(Facts.list_unextracted, 9, 0.0, [])]

    await ledger.add(thread("t", "one"))
    assert await unextracted() == []
    assert await ledger.amend("t", is_open=False)
    assert await unextracted() == ["one"]


async def test_a_document_loads_as_it_was_added_within_its_scope(ledger: LedgerFixture) -> None:
    document = replace(thread("t", "one", "two"), time=NOON, link="https://example.org/t")
    await ledger.add(document)
    assert await ledger.read(Documents.load, "t", Scope.of("here")) == document
    with pytest.raises(NotFound):
        await ledger.read(Documents.load, "t", Scope.of("elsewhere"))


async def test_a_change_tries_again_what_had_failed(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "one", "two"))
    [one, two] = await ledger.column("SELECT id FROM chunk ORDER BY ordinal")
    await ledger.give_up_embedding(one, ModelRefused("no"))
    assert await ledger.column("SELECT id FROM stale_key WHERE kind = 0") == [two]
    await ledger.clear_stale()
    await ledger.execute(
        "UPDATE chunk SET error = 'bad', attempts = 6, retry_at = @infinity", "UPDATE document SET error = 'bad'"
    )
    await ledger.add(doc("a", "one", "two", "three"))
    assert one in await ledger.column("SELECT id FROM stale_key WHERE kind = 0")
    assert await ledger.rows("SELECT error, attempts, retry_at FROM chunk") == [("", 0, 0.0)] * 3
    assert await ledger.column("SELECT error FROM document") == [""]


async def test_vectors_of_a_text_go_with_the_last_chunk_that_has_it(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "same"))
    await ledger.add(doc("b", "same"))
    added = "INSERT INTO vector (embedder, text_hash, parts, data) SELECT DISTINCT 'e', text_hash, 1, ? FROM chunk"
    await ledger.execute(added, parameters=(b"vector",))
    for key, left in (("a", 1), ("b", 0)):
        await ledger.forget(key)
        assert len(await ledger.rows("SELECT * FROM vector")) == left


async def test_every_chunk_of_a_long_manual_document_counts_as_extracted(ledger: LedgerFixture) -> None:
    document = doc("manual", "one", "two", "three")
    await ledger.write(Documents.save_manual, document, cut(document.passages), extraction("Ada", "Bob"))
    assert await ledger.column("SELECT unextracted_chunks FROM document") == [0]
    assert len(set(await ledger.column("SELECT chunk FROM mention"))) == 1
