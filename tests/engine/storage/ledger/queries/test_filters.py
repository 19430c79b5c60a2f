"""Filtered questions: the indexes find exactly what a full scan finds, few or many chunks, at a bounded cost."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest

from engine.models import Document, Filters, Passage, Scope
from engine.storage.ledger import Ledger
from engine.storage.ledger.queries import filters
from engine.storage.ledger.queries.search import Search
from engine.storage.ledger.records import ResolvedFilters, ScopeIds
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.sql.connection import Connection
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction, only_sqlite
from tests.support.engine_fixture import HERE, doc

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ROOMS, AUTHORS = ("hall", "attic"), ("Ada", "Bob", "")
IN_SCOPE = (
    "FROM chunk c JOIN space s ON s.id = c.space JOIN room r ON r.id = c.room"
    " JOIN chunk_passage i ON i.chunk = c.id JOIN passage p ON p.id = i.passage JOIN document d ON d.id = c.document"
    " WHERE s.name = 'here' OR r.name = 'attic'"
)


@pytest.fixture(params=[0, 1000], ids=["many", "few"])
def max_listed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many chunks are listed by their ids; more are described by a condition."""
    monkeypatch.setattr(filters, "MAX_LISTED", request.param)
    return int(request.param)


def day(number: float) -> datetime:
    return NOON + timedelta(days=number)


async def fill(ledger: LedgerFixture, chance: random.Random, count: int) -> None:
    """Documents of a few passages, dated by themselves, by their document, or not at all."""

    def time() -> datetime | None:
        return chance.choice((None, day(chance.randrange(-20, 20))))

    for n in range(count):
        passages = tuple(
            Passage(f"p{i}", "x" * chance.choice((5, 30)), author=chance.choice(AUTHORS), time=time(), position=i)
            for i in range(chance.randrange(1, 5))
        )
        space, room = chance.choice(("here", "there")), chance.choice(ROOMS)
        await ledger.add(Document(f"d{n}", space, room, "T", passages, time()))


async def scan(ledger: LedgerFixture, within: Filters) -> tuple[set[int], set[int]]:
    """Chunks in scope of which some passage matches, and those of which all do, by a look at every passage."""
    held: dict[int, list[bool]] = {}
    for id_, key, room, author, time in await ledger.rows(
        f"SELECT c.id, d.key, r.name, p.author, COALESCE(p.time, d.time) {IN_SCOPE}"
    ):
        at = None if time is None else EPOCH + timedelta(microseconds=time)
        held.setdefault(id_, []).append(
            (not within.documents or key in within.documents)
            and (not within.rooms or room in within.rooms)
            and (not within.authors or author in within.authors)
            and (within.since is None or (at is not None and at >= within.since))
            and (within.until is None or (at is not None and at <= within.until))
        )
    return {id_ for id_, some in held.items() if any(some)}, {id_ for id_, some in held.items() if all(some)}


def some_filters(chance: random.Random) -> list[Filters]:
    made = [
        Filters(since=day(3)),
        Filters(until=day(-3)),
        Filters(since=day(-5), until=day(5)),
        Filters(since=day(0), until=day(0.5)),
        Filters(authors=frozenset({"Ada"})),
        Filters(rooms=frozenset({"hall"})),
        Filters(documents=frozenset({"d1", "d2", "none"})),
        Filters(since=datetime(1960, 1, 1, tzinfo=UTC)),
        Filters(until=datetime(1960, 1, 1, tzinfo=UTC)),
    ]

    def maybe(*values: str) -> frozenset[str]:
        return chance.choice((frozenset(), frozenset(values)))

    for _ in range(25):
        documents = (f"d{chance.randrange(30)}" for _ in range(5))
        times = [chance.choice((None, day(choice))) for choice in sorted(chance.choices(range(-20, 20), k=2))]
        where = maybe(*documents), maybe(chance.choice(ROOMS)), maybe("Ada", "Bob")
        made.append(Filters(*where, times[0], times[1], maybe("file", "conversation")))
    return [filter_ for filter_ in made if filter_.is_active]


def resolve(db: Connection, within: Filters, scope: ScopeIds, max_listed: int) -> ResolvedFilters:
    some = filters.find_matching_chunks(db, within, scope, max_listed)
    return ResolvedFilters(some, filters.find_fully_matching_chunks(db, within, some))


async def test_indexes_find_what_a_full_scan_finds(ledger: LedgerFixture, max_listed: int) -> None:
    chance = random.Random(7)
    for _ in range(2):  # the second time with other authors, times and rooms
        await fill(ledger, chance, 30)
    every = await ledger.column("SELECT id FROM chunk")
    in_scope = set(await ledger.column(f"SELECT c.id {IN_SCOPE}"))
    scope = await ledger.scope_ids({"here"}, {"attic"})

    def find(db: Connection, within: Filters) -> tuple[set[int], set[int]]:
        found = resolve(db, within, scope, max_listed)
        some, fully = [
            set(filters.filter_ids(db, ResolvedFilters(chunks, chunks), KeyKind.CHUNK, every))
            for chunks in (found.matching_chunks, found.fully_matching_chunks)
        ]
        if found.matching_chunks.ids is None:  # a condition says nothing of the scope: searches keep to it
            some, fully = some & in_scope, fully & in_scope
        return some, some & fully

    for within in some_filters(chance):
        assert await ledger.read(find, within) == await scan(ledger, within), within


async def test_names_and_pairs_are_those_of_its_chunks(ledger: LedgerFixture, max_listed: int) -> None:
    await ledger.add_facts("old", extraction("Ada", "Bob"), time=day(-9))
    await ledger.add_facts("new", extraction("Ada", "Cyd"), time=day(9))
    await ledger.project()
    names = dict(await ledger.rows("SELECT id, canonical FROM name"))
    pairs = await ledger.column("SELECT id FROM pair ORDER BY id")
    scope = await ledger.scope_ids()

    def stated(db: Connection, within: Filters) -> tuple[set[str], list[int]]:
        def keep(kind: KeyKind, ids: Iterable[int]) -> list[int]:
            return sorted(filters.filter_ids(db, resolve(db, within, scope, max_listed), kind, list(ids)))

        return {names[id_] for id_ in keep(KeyKind.NAME, names)}, keep(KeyKind.PAIR, pairs)

    assert await ledger.read(stated, Filters(since=day(0))) == ({"ada", "cyd"}, pairs[1:])
    assert await ledger.read(stated, Filters(until=day(0))) == ({"ada", "bob"}, pairs[:1])


async def count_steps(ledger: LedgerFixture, within: Filters) -> int:
    """The work of the database for one filtered question, in thousands of steps of its virtual machine."""
    scope, steps = await ledger.scope_ids(), list[None]()
    assert isinstance(ledger.ledger, Ledger)
    async with ledger.ledger.stream_connection() as db:
        await db.sqlite.set_progress_handler(lambda: steps.append(None), 1000)
        await db.run(lambda plain: filters.resolve_filters(plain, within, scope))
    return len(steps)


COSTS = (
    Filters(since=day(900)),
    Filters(until=day(20)),
    Filters(since=day(400), until=day(420)),
    Filters(authors=frozenset({"Zoe"})),
    Filters(since=day(-1)),
    Filters(until=day(10_000)),
)


@pytest.mark.long
@only_sqlite
async def test_a_filtered_question_costs_the_same_in_any_size(
    ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "MAX_LISTED", 100)
    costs = []
    for begin, end in ((0, 950), (950, 4750)):
        for n in range(begin, end, 50):
            # Later messages are of times that no question asks for.
            passages = tuple(
                Passage(f"p{i}", f"text {i}", author="Zoe" if i < 9 else "Ada", time=day(time), position=i)
                for i, time in ((i, i if i < 950 else 500 + i % 300) for i in range(n, n + 50))
            )
            await ledger.add(Document(f"d{n}", "here", "hall", "T", passages))
        costs.append([await count_steps(ledger, within) for within in COSTS])
    assert all(large <= 1.2 * small + 5 for small, large in zip(*costs, strict=True)), costs


@pytest.mark.parametrize(
    ("scope", "within", "excluded"),
    [
        (HERE, Filters(since=NOON), True),
        (HERE, Filters(until=NOON, documents=frozenset({"undated"})), True),
        (HERE, Filters(since=NOON, documents=frozenset({"dated"})), False),
        (HERE, Filters(since=NOON, rooms=frozenset({"elsewhere"})), False),
        (Scope.of("there"), Filters(since=NOON), False),
    ],
)
async def test_undated_documents_of_the_scope_count(
    ledger: LedgerFixture, scope: Scope, within: Filters, *, excluded: bool
) -> None:
    await ledger.add(doc("dated", "x", time=NOON))
    await ledger.add(doc("undated", "y"))
    assert await ledger.read(Search.has_excluded_undated, scope, within) is excluded
