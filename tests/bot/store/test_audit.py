"""The audit log is a chain: what is changed or removed in it is found, and what is forgotten or old leaves it whole."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.store import BotStore, Subject
from bot.store.access.audit_log import OWNER, AuditEvent, AuditFilter, BrokenAuditLog, compute_hash, list_content
from tests.support.clock import ManualClock
from tests.support.fake_platform import START

ADA, BOB = Subject("slack", "T1", "mina"), Subject("slack", "T1", "bob")
ASKED = AuditEvent("ask", "answered", ADA, "chat", "slack:T1:ROOF", details={"sources": ["slack:T1:ROOF:message:m1"]})
NAMED = AuditEvent("add-expert", "done", ADA, "page", "slack:T1:ROOF", target=BOB)
EXPORTED = AuditEvent("export", "done", OWNER, "cli")


async def fill(store: BotStore) -> None:
    for each in (ASKED, NAMED, EXPORTED):
        await store.audit.append(each)


async def test_entries_are_numbered_and_refer_to_people(store: BotStore) -> None:
    await fill(store)
    exported, named, asked = await store.audit.list(AuditFilter())
    assert [each.number for each in (asked, named, exported)] == [1, 2, 3]
    assert asked.actor == named.actor != named.target
    assert exported.actor == OWNER
    assert json.loads(asked.details) == ASKED.details
    assert "mina" not in repr((asked, named, exported))
    assert await store.audit.find_people([asked.actor, named.target]) == {asked.actor: ADA, named.target: BOB}
    assert [each.number for each in await store.audit.list(AuditFilter(person=BOB))] == [2]
    assert [each.number for each in await store.audit.list(AuditFilter(workspace="slack:T1", before=2))] == [1]
    assert [each.number for each in await store.audit.list(AuditFilter(action="export"))] == [3]
    report = await store.audit.check()
    assert (report.entries, report.head.hash, report.problem) == (3, exported.hash, "")


@pytest.mark.parametrize(
    ("harm", "named"),
    [
        ("UPDATE audit_entry SET details = '{}' WHERE number = 1", "entry 1 was changed"),
        ("UPDATE audit_entry SET actor = target, target = actor WHERE number = 2", "entry 2 was changed"),
        ("DELETE FROM audit_entry WHERE number = 1", "entry 1 is missing"),
        ("DELETE FROM audit_entry WHERE number = 2", "entry 2 is missing"),
        ("DELETE FROM audit_entry WHERE number = 3", "entry 3 is missing"),
        ("UPDATE audit_entry SET time = time + 1 WHERE number = 3", "entry 3 was changed"),
    ],
)
async def test_the_first_entry_that_was_changed_or_removed_is_named(store: BotStore, harm: str, named: str) -> None:
    await fill(store)
    await store._database.execute(harm)
    assert (await store.audit.check()).problem == named
    with pytest.raises(BrokenAuditLog, match=named):  # what is broken is kept to be looked at
        await store.audit.delete_before(START + timedelta(days=1))


async def test_a_newest_entry_that_was_rewritten_with_its_hash_is_named(store: BotStore) -> None:
    await fill(store)
    exported, named, _ = await store.audit.list(AuditFilter())
    forged = replace(exported, state="refused")
    hash_ = compute_hash(list_content(forged), named.hash)
    await store._database.execute("UPDATE audit_entry SET state = 'refused', hash = ? WHERE number = 3", (hash_,))
    assert (await store.audit.check()).problem == "entry 3 was changed, or one before it"


async def test_retention_during_the_check_is_no_problem(store: BotStore, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(store)
    read = store._database.read

    async def delete_and_read(task: Any, *given: Any) -> Any:
        found = await read(task, *given)
        monkeypatch.setattr(store._database, "read", read)
        assert await store.audit.delete_before(START + timedelta(days=1)) == 3
        return found

    monkeypatch.setattr(store._database, "read", delete_and_read)
    report = await store.audit.check()
    assert (report.entries, report.problem) == (1, "")


async def test_a_forgotten_person_is_named_no_more_and_the_chain_stays_whole(store: BotStore) -> None:
    await fill(store)
    before = await store.audit.list(AuditFilter())
    await store.audit.forget_person("slack", "T1", "mina")
    assert await store.audit.list(AuditFilter()) == before
    assert (await store.audit.check()).problem == ""
    assert await store.audit.find_people([before[0].actor, before[1].actor, before[1].target]) == {
        before[1].target: BOB
    }
    assert (await store.audit.append(ASKED)).actor != before[1].actor, (
        "a new reference, which leads to no earlier entry"
    )
    await store.delete_workspace("slack", "T1")
    assert await store.audit.find_people([entry.actor for entry in await store.audit.list(AuditFilter())]) == {}
    assert (await store.audit.check()).entries == 4


async def test_retention_removes_the_oldest_and_records_that(place: Path | str) -> None:
    clock = ManualClock(START)
    async with BotStore.open(place, clock) as store:
        await store.audit.append(NAMED)
        await store.audit.append(EXPORTED)
        clock.advance(86_400.0)
        last = await store.audit.append(ASKED)
        assert await store.audit.delete_before(START) == 0
        assert await store.audit.delete_before(START + timedelta(hours=1)) == 2
        removal, asked = await store.audit.list(AuditFilter())
        assert (removal.action, removal.details) == ("audit-retention", '{"entries":2,"last":2}')
        assert (asked.number, asked.actor) == (3, last.actor)
        assert (await store.audit.check()).problem == ""
        assert [each[0] for each in await store._database.fetch_all("SELECT person FROM audit_person")] == ["mina"]
        clock.advance(10 * 86_400.0)
        assert await store.audit.delete_before(clock.now()) == 2
        assert [entry.number for entry in await store.audit.list(AuditFilter())] == [5]
        assert (await store.audit.check()).problem == ""


async def test_processes_on_one_database_append_to_one_chain(postgres_store_url: str) -> None:
    async with AsyncExitStack() as stack:
        stores = [
            await stack.enter_async_context(BotStore.open(postgres_store_url, ManualClock(START))) for _ in range(3)
        ]
        await asyncio.gather(*(store.audit.append(ASKED) for store in stores for _ in range(10)))
        report = await stores[0].audit.check()
    assert (report.entries, report.problem) == (30, "")


def test_entries_are_changed_by_no_statement_and_removed_by_one() -> None:
    changing = re.compile(r"(?:UPDATE|DELETE FROM|REPLACE INTO) audit_entry\b.*")
    found = [each for path in Path("bot").rglob("*.py") for each in changing.findall(path.read_text(encoding="utf-8"))]
    assert found == ['DELETE FROM audit_entry WHERE number <= ?", (last,))']
