"""The same input in both databases gives the same ledger: canonical exports are equal, byte for byte."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.models import Passage, Scope
from engine.storage.ledger import Ledger
from engine.storage.ledger.api import ExportFormat
from engine.storage.ledger.postgres.ledger import PostgresLedger
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
        LedgerFixture(await Ledger.open(tmp_path / "ledger.db")),
        LedgerFixture(await PostgresLedger.open(postgres_ledger_url)),
    ]
    yield ledgers
    for each in ledgers:
        await each.ledger.close()


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
    for word in (b"DROP TABLE", b"Pinned", b"elsewhere", "港".encode()):
        assert word in embedded
