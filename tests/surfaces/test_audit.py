"""The audit log says who asked, changed and copied what at every door, and never a text."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from bot.capabilities.access.requests import LogIn, RevokeToken
from bot.capabilities.asking.requests import Search
from bot.capabilities.maintenance.requests import AuditList, AuditRow, ListAudit
from bot.capabilities.management.requests import ChangeChannel
from bot.capabilities.requests import AtSpace, Authorized
from bot.capabilities.row import Capability
from bot.capabilities.run import run
from bot.capabilities.sources.requests import AddSource
from bot.capabilities.table import AUDITED, ROWS, find_row
from bot.store import Subject
from bot.store.access.audit_log import AuditEntry, AuditFilter
from engine.errors import InvalidQuestion
from tests.support.builders import ROOF
from tests.support.fake_platform import START
from tests.surfaces.samples import WORDS
from tests.surfaces.world import LOCAL, PEOPLE, Who, World, open_world

READING = {"ask", "summarize", "upload-place", "verified-answers", "experts", "usage", "health", "channels"}
READING |= {"questions", "report", "channel", "corrections", "list-sources", "list-unread-items"}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path / "home") as opened:
        yield opened


def row_named(name: str) -> Capability:
    return next(row for row in ROWS if row.name == name)


async def list_entries(world: World) -> list[AuditEntry]:
    return (await world.workspace.context.store.audit.list(AuditFilter(10_000)))[::-1]


async def name_actor(world: World, entry: AuditEntry) -> str:
    found = await world.workspace.context.store.audit.find_people([entry.actor])
    return found[entry.actor].person if entry.actor in found else entry.actor


def test_every_capability_that_changes_something_is_recorded() -> None:
    changing = {row.name for row in ROWS if row.permission in {"write", "manage"}} - READING
    assert changing <= AUDITED
    assert {row.name for row in ROWS} >= AUDITED
    assert all(find_row(row.request).audited == (row.name in AUDITED) for row in ROWS)


@pytest.mark.share(3)
@pytest.mark.parametrize("name", sorted(AUDITED & set(WORDS) - {"remove-answer"}))
async def test_a_change_is_recorded_alike_in_the_chat_and_over_http(world: World, name: str) -> None:
    row = row_named(name)
    who: Who = "member" if name in {"forget-me", "remember-me", "digest"} else "manager"
    before = len(await list_entries(world))
    await world.type_words(row, who)
    in_chat = (await list_entries(world))[before:]
    assert [(entry.action, entry.door) for entry in in_chat] == [(name, "chat")] * 2
    await world.run(row, who)
    elsewhere = (await list_entries(world))[before + 2 :]
    assert [(entry.action, entry.door) for entry in elsewhere] == [(name, "api")] * 2
    for begun, ended in (in_chat, elsewhere):
        assert begun.state == "begun"
        assert ended.state in {"done", "refused"}
        assert json.loads(ended.details)["of"] == begun.number
    if name != "forget-me":
        assert {await name_actor(world, entry) for entry in (*in_chat, *elsewhere)} == {PEOPLE[who]}
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
    assert not [text for text in ("agate", "town.example") if text in repr(await list_entries(world))]


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
        entries = [entry for entry in await list_entries(world) if entry.action == row.name]
        assert entries[-1].place == place, room


@pytest.mark.parametrize("name", ["share-answer", "unshare-answer"])
async def test_links_to_answers_are_recorded_with_the_answer(world: World, name: str) -> None:
    await world.run(row_named(name), "member")
    begun, ended = (await list_entries(world))[-2:]
    assert (begun.action, begun.state, ended.action) == (name, "begun", name)
    assert json.loads(begun.details)["answer"] == "p2"


@pytest.mark.long
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


async def test_a_person_of_the_log_is_named_whole_or_by_an_auditor_by_their_id(world: World) -> None:
    await world.run(row_named("ask"), "member")
    token = await world.get_token("author")
    for words, found in (("slack:T1:dan", 1), ("dan", 1), ("slack:T2:dan", 0), ("nobody", 0)):
        asked = Authorized(token, ListAudit(person=words))
        assert len(await list_audited(world, asked)) == found, words
    assert len(await list_audited(world, AtSpace(LOCAL, ListAudit(person="slack:T1:dan")))) == 1
    for words in ("dan", "T1:dan", "slack:T1:", ":T1:dan", "slack:T1:dan:x", "space:console:local", " ", ":"):
        with pytest.raises(InvalidQuestion, match="names no person"):
            await list_audited(world, AtSpace(LOCAL, ListAudit(person=words)))
    for words in ("slack:T1:", "T1:dan", ":"):
        with pytest.raises(InvalidQuestion, match="names no person"):
            await list_audited(world, Authorized(token, ListAudit(person=words)))


async def list_audited(world: World, request: Authorized | AtSpace) -> tuple[AuditRow, ...]:
    async with aclosing(run(world.deps, request)) as results:
        return next(result.entries for result in [result async for result in results] if isinstance(result, AuditList))


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


async def test_a_login_names_the_workspace_that_it_is_for_and_no_other(world: World) -> None:
    world.samples["log-in"] = replace(world.samples["log-in"], request=LogIn("slack", "bob", ("T0", "T1", "T9")))
    assert await world.run(row_named("log-in"), "owner") == "done"
    begun, done = (await list_entries(world))[-2:]
    assert begun.target == ""
    people = world.workspace.context.store.audit.find_people
    assert await people([done.target]) == {done.target: Subject("slack", "T1", "bob")}
    assert [text for text in ("T0", "T9") if text in repr((begun, done))] == []
    await world.workspace.context.store.audit.forget_person("slack", "T1", "bob")
    assert await people([begun.target, done.target]) == {}


async def test_a_whole_token_is_revoked_and_its_secret_is_written_nowhere(world: World) -> None:
    text = await world.get_token("member")
    _, id_, secret = text.split("_", 2)
    world.samples["revoke-token"] = replace(world.samples["revoke-token"], request=RevokeToken(text))
    assert await world.run(row_named("revoke-token"), "owner") == "done"
    assert await world.run(row_named("documents"), "member") == "InvalidToken"
    for words in (f"{id_}_{secret}", secret):
        world.samples["revoke-token"] = replace(world.samples["revoke-token"], request=RevokeToken(words))
        assert await world.run(row_named("revoke-token"), "owner") == "NotFound"
    written = await list_entries(world)
    assert [json.loads(entry.details).get("id") for entry in written] == [id_, None, "unknown", None, "unknown", None]
    assert secret not in repr(written)


async def test_direct_messages_are_no_place_whoever_names_them(world: World) -> None:
    platform = world.workspace.context.platform_for(ROOF)
    rooms = [(await platform.open_direct("T1", person)).room for person in ("ada", "bob")]
    sample = world.samples["change-channel"]
    for room in (*rooms, "slack:T2:HALL", ROOF.room):
        request = ChangeChannel(room, (("style", "short"),))
        world.samples["change-channel"] = replace(sample, request=request)
        await world.run(row_named("change-channel"), "manager")
    entries = await list_entries(world)
    assert [entry.place for entry in entries] == [*[""] * 6, ROOF.room, ROOF.room]
    assert [entry.state for entry in entries[:2]] == ["begun", "done"]
    assert not [room for room in rooms if room in repr(entries)]


async def test_searches_are_recorded_with_what_they_show_and_count_as_no_questions(world: World) -> None:
    row, list_days = row_named("search"), world.workspace.context.store.usage.list_days
    before = await list_days("slack", "T1", START.replace(hour=0))
    asked: list[tuple[Who, Search, str, str, str]] = [
        ("member", Search("tiles"), "answered", "dan", "minutes"),
        ("space", Search("ferry"), "answered", "space:console:local", "note"),
        ("owner", Search("ferry"), "answered", "owner", "note"),
        ("page", Search(file="note"), "answered", "space:console:local", "note"),
        ("member", Search("password agate"), "nothing", "dan", "minutes"),
        ("member", Search("tiles", channel="nowhere"), "nothing", "dan", ""),
        ("member", Search(), "refused", "dan", ""),
        ("stranger", Search("tiles"), "refused", "eve", ""),
    ]
    for who, request, state, actor, shown in asked:
        world.samples["search"] = replace(world.samples["search"], request=request)
        await world.run(row, who)
        entry = (await list_entries(world))[-1]
        assert (entry.action, entry.state, await name_actor(world, entry)) == ("search", state, actor)
        found = json.loads(entry.details)
        assert [shown in load for load in (*found.get("shown", ()), *found.get("sources", ()))] == [True] * bool(shown)
    assert len(await list_entries(world)) == len(asked)
    assert not [name for name in ("tiles", "agate", "nowhere") if name in repr(await list_entries(world))]
    assert await list_days("slack", "T1", START.replace(hour=0)) == before
