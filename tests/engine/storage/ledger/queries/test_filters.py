"""Narrowed questions: the indexes find exactly what a look at every chunk would, few or many, at a bounded cost."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.models import Document, Filters, Passage
from engine.storage.ledger.queries import filters
from engine.storage.ledger.records import ChunkFilter, ResolvedFilters
from engine.storage.ledger.records.projection import KeyKind
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction

if TYPE_CHECKING:
    from engine.storage.sqlite.connection import Connection

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
ROOMS, AUTHORS = ("hall", "attic"), ("Ada", "Bob", "")


def day(number: float) -> datetime:
    return NOON + timedelta(days=number)


async def fill(ledger: LedgerFixture, chance: random.Random, count: int) -> None:
    """Documents of a few passages, some dated by themselves, some by their document, some not at all."""
    for n in range(count):
        passages = tuple(
            Passage(
                f"p{i}",
                "x" * chance.choice((5, 30)),
                author=chance.choice(AUTHORS),
                time=chance.choice((None, day(chance.randrange(-20, 20)))),
                position=i,
            )
            for i in range(chance.randrange(1, 5))
        )
        time = chance.choice((None, day(chance.randrange(-20, 20))))
        space = chance.choice(("here", "there"))
        await ledger.add(Document(f"d{n}", space, chance.choice(ROOMS), "T", passages, time))


async def whole(ledger: LedgerFixture, within: Filters) -> tuple[set[int], set[int]]:
    """Chunks of "here" and of "attic" that hold some of it, and nothing else, by a look at every passage."""
    rows = await ledger.rows(
        "SELECT c.id, d.key, r.name, p.author, COALESCE(p.time, d.time) FROM chunk c"
        " JOIN chunk_passage i ON i.chunk = c.id"
        " JOIN passage p ON p.id = i.passage JOIN document d ON d.id = c.document JOIN room r ON r.id = c.room"
        " JOIN space s ON s.id = c.space WHERE s.name = 'here' OR r.name = 'attic'"
    )
    held: dict[int, list[bool]] = {}
    for id_, key, room, author, time in rows:
        at = None if time is None else datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time)
        held.setdefault(id_, []).append(
            (not within.documents or key in within.documents)
            and (not within.rooms or room in within.rooms)
            and (not within.authors or author in within.authors)
            and (within.since is None or (at is not None and at >= within.since))
            and (within.until is None or (at is not None and at <= within.until))
        )
    return {id_ for id_, some in held.items() if any(some)}, {id_ for id_, some in held.items() if all(some)}


def narrowings(chance: random.Random) -> list[Filters]:
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
    for _ in range(25):
        since, until = sorted((chance.randrange(-20, 20), chance.randrange(-20, 20)))
        made.append(
            Filters(
                chance.choice((frozenset(), frozenset({f"d{chance.randrange(30)}" for _ in range(5)}))),
                chance.choice((frozenset(), frozenset({chance.choice(ROOMS)}))),
                chance.choice((frozenset(), frozenset({"Ada", "Bob"}))),
                chance.choice((None, day(since))),
                chance.choice((None, day(until))),
            )
        )
    return [each for each in made if each.is_active]


@pytest.mark.parametrize("few", [0, 1000])
async def test_indexes_find_what_a_full_scan_finds(
    ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(filters, "MAX_LISTED", few)
    chance = random.Random(7)
    await fill(ledger, chance, 30)
    every = await ledger.column("SELECT id FROM chunk")
    area = await ledger.scope_ids({"here"}, {"attic"})

    async def found(db: Connection, within: Filters) -> tuple[set[int], set[int], bool]:
        some = await filters.find_matching_chunks(db, within, area, few)
        only = await filters.find_fully_matching_chunks(db, within, some)
        inside = [
            await filters.filter_ids(db, ResolvedFilters(each, each), KeyKind.CHUNK, every) for each in (some, only)
        ]
        return set(inside[0]), set(inside[1]), some.ids is None

    for within in narrowings(chance):
        some, only = await whole(ledger, within)
        held, wholly, many = await ledger.read(found, within)
        if many:  # a condition says nothing of the area: searches keep to it
            held, wholly = held & await in_area(ledger), wholly & await in_area(ledger)
        assert (held, wholly & held) == (some, only), within


async def in_area(ledger: LedgerFixture) -> set[int]:
    rows = "SELECT c.id FROM chunk c JOIN space s ON s.id = c.space JOIN room r ON r.id = c.room"
    return set(await ledger.column(f"{rows} WHERE s.name = 'here' OR r.name = 'attic'"))


@pytest.mark.parametrize("few", [0, 1000])
async def test_names_and_pairs_are_those_of_its_chunks(
    ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(filters, "MAX_LISTED", few)
    await ledger.add_facts("old", extraction("Ada", "Bob"), time=day(-9))
    await ledger.add_facts("new", extraction("Ada", "Cyd"), time=day(9))
    await ledger.project()
    names = {row[0]: row[1] for row in await ledger.rows("SELECT id, canonical FROM name")}
    pairs = await ledger.column("SELECT id FROM pair ORDER BY id")

    async def told(db: Connection, within: Filters) -> tuple[set[str], list[int]]:
        found = await filters.filter_ids(db, ResolvedFilters(*(await sets(db, within))), KeyKind.NAME, names)
        return {names[id_] for id_ in found}, sorted(
            await filters.filter_ids(db, ResolvedFilters(*(await sets(db, within))), KeyKind.PAIR, pairs)
        )

    area = await ledger.scope_ids()

    async def sets(db: Connection, within: Filters) -> tuple[ChunkFilter, ChunkFilter]:
        some = await filters.find_matching_chunks(db, within, area, few)
        return some, await filters.find_fully_matching_chunks(db, within, some)

    assert await ledger.read(told, Filters(since=day(0))) == ({"ada", "cyd"}, pairs[1:])
    assert await ledger.read(told, Filters(until=day(0))) == ({"ada", "bob"}, pairs[:1])


async def test_a_changed_time_moves_a_chunk(ledger: LedgerFixture) -> None:
    document = Document("d", "here", "hall", "T", (Passage("p", "text"),), day(-5))
    for time in (-5, 5):
        await ledger.add(replace(document, time=day(time)))
        for within, inside in ((Filters(since=day(0)), time > 0), (Filters(until=day(0)), time < 0)):
            ids = (await ledger.read(filters.find_matching_chunks, within, await ledger.scope_ids())).ids
            assert bool(ids) == inside


async def steps(ledger: LedgerFixture, within: Filters) -> int:
    """The work of the database for one narrowed question, in thousands of steps of its machine."""
    area = await ledger.scope_ids()

    async def count(db: Any) -> int:
        done = 0

        def tick() -> int:
            nonlocal done
            done += 1
            return 0

        await db.set_progress_handler(tick, 1000)
        await filters.resolve_filters(db, within, area)
        await db.set_progress_handler(None, 0)
        return done

    async with ledger.ledger.read_connection() as db:
        return await count(db)


@pytest.mark.parametrize(
    "within",
    [
        Filters(since=day(900)),
        Filters(until=day(20)),
        Filters(since=day(400), until=day(420)),
        Filters(authors=frozenset({"Zoe"})),
        Filters(since=day(-1)),
        Filters(until=day(10_000)),
    ],
)
async def test_a_filtered_question_costs_the_same_in_any_size(
    ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch, within: Filters
) -> None:
    monkeypatch.setattr(filters, "MAX_LISTED", 100)

    def shown(number: int) -> int:
        return number if number < 950 else 500 + number % 300  # what comes later is of times that nobody asks for

    async def grow(begin: int, end: int) -> None:
        for n in range(begin, end, 50):
            passages = tuple(
                Passage(f"p{i}", f"text {i}", author="Zoe" if i < 9 else "Ada", time=day(shown(i)), position=i)
                for i in range(n, n + 50)
            )
            await ledger.add(Document(f"d{n}", "here", "hall", "T", passages))

    await grow(0, 950)
    small = await steps(ledger, within)
    await grow(950, 4750)
    assert await steps(ledger, within) <= 1.2 * small + 5
