"""The same input in both databases gives the same ledger: canonical exports are equal, byte for byte."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.errors import StoreError
from engine.models import Passage, Scope
from engine.storage.ledger import Ledger, compute_file_checksum
from engine.storage.ledger.database import SCHEMA as FILE_SCHEMA
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.ledger.queries.search import Search
from engine.storage.ledger.records import ExportFormat
from engine.storage.sqlite.database_file import check_file
from engine.usage import IndexingUsage, Usage
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction
from tests.support.engine_fixture import doc

FORMATS: tuple[ExportFormat, ...] = ("jsonl", "graphml")
EVERYWHERE = Scope(frozenset({"here", "there", "elsewhere"}), frozenset())
WINTER = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
ODD_TEXTS = (
    'Zoe said "\\ is a backslash"',
    "tab\there, line\nthere, \x7f and \u2028",
    "Ödön 😀 \U0010ffff 港",
    "Zoe B",
    "Zoe",
    "'; DROP TABLE chunk --",
    '{brace, "quoted"} ? $1 %s',
)


@pytest.fixture
async def both(tmp_path: Path, postgres_ledger_url: str) -> AsyncIterator[list[LedgerFixture]]:
    """An empty ledger in a file, and one in a server."""
    ledgers = [
        LedgerFixture(await Ledger.open(tmp_path / "ledger.db", clock=SYSTEM_CLOCK)),
        LedgerFixture(await PostgresLedger.open(postgres_ledger_url, clock=SYSTEM_CLOCK)),
    ]
    yield ledgers
    for ledger in ledgers:
        await ledger.ledger.close()


async def live(ledger: LedgerFixture) -> None:
    """Documents, facts, corrections and changes of every kind, with texts that are hard to quote."""
    for number, text in enumerate(ODD_TEXTS):
        await ledger.add(doc(f"odd {number}", text, f"{text} again", space="there" if number % 2 else "here"))
    await ledger.add_facts("a", extraction("Ada", "Bob", 'Zoe "B"'), extraction("Ada", "Ödön"), time=WINTER)
    await ledger.add_facts("b", extraction("Application Programming Interface", "API", "ada"), space="there")
    await ledger.project()
    corrections = ledger.ledger.corrections
    await corrections.merge("here", "Bob", "Ada")
    await corrections.pin_description("here", ("Ada", ""), 'Pinned\n"here".')
    await corrections.set_hidden("here", ("Ödön", ""), hidden=True)
    await corrections.separate("there", "API", "ada")
    await ledger.ledger.cache.add_indexing_usage(
        "2026-11-20", IndexingUsage([Usage("extract", "m", 10, 5, 0.5)], {1: 1, 2: 2})
    )
    await ledger.add(doc("talk", "first", "second", "third", room="hall", time=WINTER))
    await ledger.amend("talk", Passage("later", "fourth", "#hall", "https://x", "Ada", WINTER, 9), remove="p1")
    await ledger.move_room("hall", "elsewhere")
    await ledger.forget("odd 3")
    while await ledger.stale():
        await ledger.project()


async def export(ledger: LedgerFixture) -> bytes:
    lines = list[str]()
    for form in FORMATS:
        lines += [line async for line in ledger.ledger.export(form, EVERYWHERE)]
    return "\n".join(lines).encode()


async def test_the_same_input_gives_the_same_export(both: list[LedgerFixture]) -> None:
    for ledger in both:
        await live(ledger)
    embedded, served = [await export(ledger) for ledger in both]
    assert embedded == served
    assert embedded.count(b"\n") > 80
    explored = [await explore(ledger) for ledger in both]
    assert explored[0] == explored[1]
    assert (len(explored[0][0]), explored[0][1][0]) == (4, "application programming interface")
    for word in (b"DROP TABLE", b"Pinned", b"elsewhere", "港".encode()):
        assert word in embedded


async def test_a_copy_moves_both_ways(both: list[LedgerFixture], tmp_path: Path) -> None:
    _, served = both
    await live(served)
    copied = tmp_path / "copy.db"
    checksum = await served.ledger.copy_to(copied)
    assert checksum == await compute_file_checksum(copied)
    check_file(copied, FILE_SCHEMA)
    embedded = LedgerFixture(await Ledger.open(copied, clock=SYSTEM_CLOCK))
    assert await export(embedded) == await export(served)
    assert await search(embedded) == await search(served) != []
    assert isinstance(served.ledger, PostgresLedger)
    with pytest.raises(StoreError, match="already contains"):
        await served.ledger.load_file(copied)
    await change(served)
    await change(embedded)
    assert await export(embedded) == await export(served)
    await embedded.ledger.close()
    await empty_database(served)
    await served.ledger.load_file(copied)
    embedded = LedgerFixture(await Ledger.open(copied, clock=SYSTEM_CLOCK))
    assert await export(embedded) == await export(served)
    await change(served, "even later")
    await change(embedded, "even later")
    assert await export(embedded) == await export(served)
    assert await served.ledger.settings.get("reindexing") == "1"
    await served.ledger.check_integrity()
    await embedded.ledger.close()


async def search(ledger: LedgerFixture) -> list[str]:
    scope = await ledger.scope_ids(("here", "elsewhere"))
    ids = list((await ledger.read(Search.search_chunks, "zoe backslash again", 9, scope)).scores)
    found = [text.key for text in await ledger.read(Search.load_chunk_texts, ids, scope)]
    begun = [await ledger.read(Search.find_texts_by_start, start, scope, 9) for start in ("ba", "seco", "x'y", "qqq")]
    unknown = await ledger.read(Search.find_unknown_words, "Zoe agains the Zebra backslash", scope)
    return [*found, *(text for texts in begun for text in texts), *unknown]


async def explore(ledger: LedgerFixture) -> tuple[list[str], list[str], int]:
    """The corrections, the names with a word that starts with "pro" or "a", and the number of relations."""
    found, typed = ledger.ledger.search, ledger.ledger.name_search
    scope = await ledger.scope_ids(("here", "there", "elsewhere"))
    names = list[str]()
    for start in ("pro", "a"):
        ids = await typed.find_entities_by_start(start, scope, 99)
        records = await found.load_entities(ids, scope)
        names += [records[id_].canonical for id_ in ids]
    between = await found.list_relations_between(await typed.find_entities_by_start("", scope, 99), scope)
    return list(map(str, await found.list_corrections(scope, 100, 0))), names, len(between)


async def change(ledger: LedgerFixture, key: str = "later") -> None:
    """A change that needs counters and next ids to be right."""
    await ledger.add_facts(key, extraction("Zoe", "Ada", key), time=WINTER)
    await ledger.forget("odd 0")
    while await ledger.stale():
        await ledger.project()


async def empty_database(ledger: LedgerFixture) -> None:
    tables = await ledger.column("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    await ledger.execute(f"TRUNCATE {', '.join(set(tables) - {'schema_version'})}")
