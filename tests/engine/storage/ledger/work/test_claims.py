"""Claims of stale keys and of chunks: in turn by space, each by one process."""

from __future__ import annotations

import pytest

from engine.storage.ledger.content.facts import Facts
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.ledger.records.projection import KeyKind, SpaceTurn, StaleKey
from engine.storage.ledger.work.claims import Claims, StaleKeys, share_out
from engine.storage.ledger.work.settings import Embedders, Settings
from engine.storage.sql.connection import Connection
from tests.engine.storage.ledger.ledger_fixture import NOW, LedgerFixture, extraction
from tests.support.engine_fixture import doc


async def register(ledger: LedgerFixture, count: int) -> list[int]:
    """The numbers of several processes; the only one on files stands for all."""
    if not isinstance(ledger.ledger, PostgresLedger):
        pytest.skip("files have one process")
    sql = "INSERT INTO threadlore_process.process (name) VALUES ('test') RETURNING id"
    return [(await ledger.ledger.write(fetch_id, sql)) for _ in range(count)]


def fetch_id(db: Connection, sql: str) -> int:
    [[id_]] = db.execute_fetchall(sql)
    return int(id_)


async def spaces_of(ledger: LedgerFixture, keys: tuple[StaleKey, ...]) -> list[str]:
    rows = await ledger.rows(
        "SELECT k.id, s.name FROM (SELECT id, space FROM chunk UNION ALL SELECT id, space FROM name) k"
        " JOIN space s ON s.id = k.space"
    )
    names = dict(rows)
    return [str(names[key.id]) for key in keys]


@pytest.mark.parametrize(
    ("stock", "limit", "expected"),
    [
        ({1: 9, 2: 9, 3: 9}, 6, [2, 2, 2]),
        ({1: 1, 2: 9, 3: 9}, 9, [1, 4, 4]),
        ({1: 9, 2: 1, 3: 1}, 9, [7, 1, 1]),
        ({1: 9, 2: 9, 3: 9}, 2, [1, 1, 0]),
        ({1: 2, 2: 0, 3: 1}, 9, [2, 0, 1]),
    ],
)
def test_a_batch_is_shared_out_among_the_spaces(stock: dict[int, int], limit: int, expected: list[int]) -> None:
    def load(space: int, count: int) -> list[int]:
        return [space] * min(stock[space], count)

    found = share_out(list(stock), limit, load)
    assert [found.count(space) for space in stock] == expected


async def test_a_backlog_of_one_space_leaves_room_for_the_others(ledger: LedgerFixture) -> None:
    await ledger.add(doc("backlog", *(f"text {n}" for n in range(500)), space="busy"))
    await ledger.add(doc("one", "text", space="calm"))
    first = await ledger.write(Claims.claim_chunks, 64, NOW, SpaceTurn())
    assert len(first.keys) == 64
    assert (await spaces_of(ledger, first.keys)).count("calm") == 1
    chunks = await ledger.read(Facts.list_unextracted, 8, 0.0, [])
    assert len(chunks) == 8
    assert len({chunk.space for chunk in chunks}) == 2


async def test_new_texts_are_taken_before_those_that_another_embedder_has_to_make_again(ledger: LedgerFixture) -> None:
    await ledger.add(doc("old", *(f"text {n}" for n in range(9))))
    await ledger.write(Embedders.begin_change, "other")
    await ledger.add(doc("new", "a new text"))
    [[new]] = await ledger.rows("SELECT MAX(id) FROM chunk")
    everything = await ledger.write(Claims.claim_chunks, 64, NOW, SpaceTurn())
    assert [key.id == new for key in everything.keys] == [True] + [False] * (len(everything.keys) - 1)
    assert len(everything.keys) > 2
    assert new in {key.id for key in (await ledger.write(Claims.claim_chunks, 2, NOW, SpaceTurn())).keys}
    await ledger.write(Embedders.finish_change)
    assert new not in {key.id for key in (await ledger.write(Claims.claim_chunks, 2, NOW, SpaceTurn())).keys}


async def test_spaces_have_their_turns_when_they_are_more_than_a_batch(ledger: LedgerFixture) -> None:
    for number in range(9):
        await ledger.add(doc(f"d{number}", "one", "two", space=f"s{number}"))
    served, after = list[str](), 0
    for _ in range(3):
        keys, after = await ledger.write(Claims.claim_chunks, 4, NOW, SpaceTurn(0, after))
        served += await spaces_of(ledger, keys)
    assert len(set(served)) == 9


async def test_each_key_is_claimed_by_one_process_until_it_is_finished(ledger: LedgerFixture) -> None:
    one, two = await register(ledger, 2)
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    await ledger.clear_stale()
    generation = await ledger.write(Settings.next_generation)
    [ada, _] = await ledger.column("SELECT id FROM name ORDER BY canonical")
    await ledger.write(StaleKeys.add, KeyKind.NAME, [ada], generation)
    [key], _ = await ledger.write(Claims.claim_profiles, 9, NOW, SpaceTurn(one))
    assert not await ledger.read(Claims.has_due_keys, KeyKind.NAME, NOW, two)
    assert await ledger.write(Claims.claim_profiles, 9, NOW, SpaceTurn(two)) == ((), 0)
    # Its own claim is not in the way of a process that failed and tries again.
    assert (await ledger.write(Claims.claim_profiles, 9, NOW, SpaceTurn(one))).keys == (key,)
    await ledger.write(StaleKeys.add, KeyKind.NAME, [ada], generation + 1)
    assert (await ledger.write(Claims.claim_profiles, 9, NOW, SpaceTurn(two))).keys == ()
    await ledger.write(StaleKeys.remove, [key])
    assert (await ledger.write(Claims.claim_profiles, 9, NOW, SpaceTurn(two))).keys == (
        StaleKey(KeyKind.NAME, ada, generation + 1),
    )
    await ledger.write(Claims.release_keys, KeyKind.NAME, two)
    assert await ledger.read(Claims.has_due_keys, KeyKind.NAME, NOW, one)


async def test_a_pair_waits_for_the_name_at_its_end_that_another_process_has(ledger: LedgerFixture) -> None:
    one, two = await register(ledger, 2)
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    names, _ = await ledger.write(Claims.claim_profiles, 2, NOW, SpaceTurn(one))
    assert {key.kind for key in names} == {KeyKind.NAME}
    assert await ledger.write(Claims.claim_profiles, 9, NOW, SpaceTurn(two)) != ()
    assert (await ledger.write(Claims.claim_profiles, 9, NOW, SpaceTurn(two))).keys == ()
    await ledger.write(Claims.release_keys, KeyKind.NAME, one)
    found = (await ledger.write(Claims.claim_profiles, 9, NOW, SpaceTurn(two))).keys
    assert {key.kind for key in found} == {KeyKind.NAME, KeyKind.PAIR}


async def test_the_claims_of_an_ended_process_are_free(ledger: LedgerFixture) -> None:
    one, two = await register(ledger, 2)
    [chunk] = await ledger.add_facts("a", extraction("Ada", "Bob"))
    await ledger.add(doc("b", "more"))
    [other] = await ledger.column("SELECT id FROM chunk WHERE id <> ?", chunk)
    assert (await ledger.write(Claims.claim_chunks, 9, NOW, SpaceTurn(one))).keys
    assert await ledger.write(Facts.claim_chunks, [other], one) == {other}
    await ledger.execute("DELETE FROM threadlore_process.process WHERE id = ?", parameters=[one])
    assert (await ledger.write(Claims.claim_chunks, 9, NOW, SpaceTurn(two))).keys
    assert await ledger.write(Facts.claim_chunks, [other], two) == {other}


async def test_a_text_is_extracted_by_one_process_at_a_time(ledger: LedgerFixture) -> None:
    one, two = await register(ledger, 2)
    await ledger.add(doc("a", "same text"))
    await ledger.add(doc("b", "same text"))
    await ledger.add(doc("c", "another text"))
    a, b, c = sorted(await ledger.column("SELECT id FROM chunk"))
    assert await ledger.write(Facts.claim_chunks, [a], one) == {a}
    listed = await ledger.read(Facts.list_unextracted, 9, 0.0, [], SpaceTurn(two))
    assert [chunk.id for chunk in listed] == [c]
    assert await ledger.write(Facts.claim_chunks, [a, b, c], two) == {c}
    await ledger.write(Facts.release_chunks, [a])
    assert await ledger.write(Facts.claim_chunks, [a, b, c], two) == {a, b, c}
