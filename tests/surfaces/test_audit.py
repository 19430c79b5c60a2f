"""The audit log says who asked, changed and copied what at every door, and never a text."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.capabilities.row import Capability
from bot.capabilities.sources.requests import AddSource
from bot.capabilities.table import AUDITED, ROWS, find_row
from bot.store import Subject
from bot.store.audit.chain import AuditEntry
from bot.store.audit.log import AuditFilter
from tests.support.builders import ROOF
from tests.surfaces.samples import WORDS
from tests.surfaces.world import PEOPLE, Who, World, open_world

READING = {"ask", "summarize", "upload-place", "verified-answers", "experts", "usage", "health", "channels"}
READING |= {"questions", "channel", "corrections", "list-sources", "list-unread-items"}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path / "home") as opened:
        yield opened


def row_named(name: str) -> Capability:
    return next(each for each in ROWS if each.name == name)


async def list_entries(world: World) -> list[AuditEntry]:
    return (await world.workspace.context.store.audit.list(AuditFilter(10_000)))[::-1]


async def name_actor(world: World, entry: AuditEntry) -> str:
    found = await world.workspace.context.store.audit.find_people([entry.actor])
    return found[entry.actor].person if entry.actor in found else entry.actor


def test_every_capability_that_changes_something_is_recorded() -> None:
    changing = {each.name for each in ROWS if each.permission in {"write", "manage"}} - READING
    assert changing <= AUDITED
    assert {each.name for each in ROWS} >= AUDITED
    assert all(find_row(each.request).audited == (each.name in AUDITED) for each in ROWS)


@pytest.mark.parametrize("name", sorted(AUDITED & set(WORDS) - {"remove-answer"}))
async def test_a_change_is_recorded_alike_in_the_chat_and_over_http(world: World, name: str) -> None:
    row = row_named(name)
    who: Who = "member" if name in {"forget-me", "remember-me", "digest"} else "manager"
    before = len(await list_entries(world))
    await world.type_words(row, who)
    in_chat = (await list_entries(world))[before:]
    assert [(each.action, each.door) for each in in_chat] == [(name, "chat")] * 2
    await world.run(row, who)
    elsewhere = (await list_entries(world))[before + 2 :]
    assert [(each.action, each.door) for each in elsewhere] == [(name, "api")] * 2
    for begun, ended in (in_chat, elsewhere):
        assert begun.state == "begun"
        assert ended.state in {"done", "refused"}
        assert json.loads(ended.details)["of"] == begun.number
    if name != "forget-me":
        assert {await name_actor(world, each) for each in (*in_chat, *elsewhere)} == {PEOPLE[who]}
    assert (await world.workspace.context.store.audit.check()).problem == ""


@pytest.mark.parametrize("name", ["add-source", "remove-source"])
async def test_a_rehearsal_is_no_change(world: World, name: str) -> None:
    row, before = row_named(name), await list_entries(world)
    sample = world.samples[name]
    words, request = sample.words.removesuffix(" now"), replace(sample.request, confirmed=False)
    world.samples[name] = replace(sample, words=words, request=request)
    await world.type_words(row, "manager")
    await world.run(row, "manager")
    assert await list_entries(world) == before


async def test_sources_are_recorded_without_addresses_and_secrets(world: World) -> None:
    row = row_named("add-source")
    request = AddSource("https://mina:agate@town.example/?key=agate", ROOF.room, "agate", True, minutes=60)
    request = replace(request, options=(("path", "agate"),))
    world.samples[row.name] = replace(world.samples[row.name], request=request)
    await world.run(row, "manager")
    await world.run(row_named("sync-source"), "manager")
    added, _, synced, _ = (await list_entries(world))[-4:]
    assert (added.place, json.loads(added.details)["minutes"]) == (ROOF.room, 60)
    assert json.loads(synced.details)["forget_missing"] == 1
    assert not [each for each in ("agate", "town.example") if each in repr(await list_entries(world))]


@pytest.mark.parametrize("who", ["manager", "owner"])
async def test_a_request_that_names_direct_messages_is_recorded_without_their_room(world: World, who: Who) -> None:
    row, platform = row_named("change-channel"), world.workspace.platform
    for room, place in (
        ((await platform.open_direct("T1", "dan")).room, ""),
        ("slack:T1:DNOBODY", "" if who == "manager" else "slack:T1:DNOBODY"),
        (ROOF.room, ROOF.room),
    ):
        request = replace(world.samples[row.name].request, room=room)
        world.samples[row.name] = replace(world.samples[row.name], request=request)
        await world.run(row, who)
        entries = [each for each in await list_entries(world) if each.action == row.name]
        assert entries[-1].place == place, room


@pytest.mark.parametrize("name", ["share-answer", "unshare-answer"])
async def test_links_to_answers_are_recorded_with_the_answer(world: World, name: str) -> None:
    await world.run(row_named(name), "member")
    begun, ended = (await list_entries(world))[-2:]
    assert (begun.action, begun.state, ended.action) == (name, "begun", name)
    assert json.loads(begun.details)["answer"] == "p2"


async def test_questions_are_recorded_with_their_sources_and_without_their_texts(world: World) -> None:
    row = row_named("ask")
    doors: list[tuple[Who, str, str]] = [
        ("member", "api", "dan"),
        ("space", "api", "space:console:local"),
        ("owner", "cli", "owner"),
        ("page", "page", "space:console:local"),
    ]
    for who, door, actor in doors:
        await world.run(row, who)
        entry = (await list_entries(world))[-1]
        assert (entry.action, entry.state, entry.door) == ("ask", "answered", door), who
        assert await name_actor(world, entry) == actor
        assert json.loads(entry.details)["sources"]
    await world.call(row, "member")
    assert (await list_entries(world))[-1].door == "api"
    await world.call_tool(row, "member")
    assert (await list_entries(world))[-1].door == "mcp"
    await world.run(row, "stranger")
    assert (await list_entries(world))[-1].state == "refused"
    written = repr(await list_entries(world))
    question = world.samples["ask"].request.text
    assert not [word for word in question.split() if len(word) > 4 and word in written]
    assert "dan" not in written


async def test_refused_changes_are_recorded_as_such(world: World) -> None:
    await world.run(row_named("add-expert"), "member")
    begun, refused = (await list_entries(world))[-2:]
    assert (begun.state, refused.state) == ("begun", "refused")
    assert begun.place == ROOF.room
    assert await world.workspace.context.store.audit.find_people([begun.target]) == {
        begun.target: Subject("slack", "T1", "cleo")
    }


async def test_whoever_is_forgotten_is_named_by_no_entry_any_more(world: World) -> None:
    await world.run(row_named("ask"), "member")
    await world.run(row_named("forget-me"), "member")
    asked, begun, done = (await list_entries(world))[-3:]
    assert asked.actor == begun.actor == done.actor
    assert (done.action, done.state) == ("forget-me", "done")
    assert await name_actor(world, done) == done.actor, "a reference that leads to nobody"
    assert (await world.workspace.context.store.audit.check()).problem == ""
    await world.run(row_named("remember-me"), "member")
    assert (await list_entries(world))[-1].actor != done.actor
