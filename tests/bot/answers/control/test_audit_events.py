"""The audit log says who asked in the chat, what the answer drew on, and what people did with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.answers.service import find_place
from bot.errors import PlatformUnavailable
from bot.platform.events import ButtonPressed
from bot.store.access.audit_log import AuditEntry, AuditFilter
from engine.errors import ModelUnavailable
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF

ASKED = "When do the Tiles come?"
MESSAGE = "slack:T1:ROOF:message:m1"
started_with_tiles = pytest.mark.usefixtures("tiles")


async def entries(bot: BotFixture) -> list[AuditEntry]:
    return (await bot.store.audit.list(AuditFilter()))[::-1]


async def name_actor(bot: BotFixture, entry: AuditEntry) -> str:
    return (await bot.store.audit.find_people([entry.actor]))[entry.actor].person


def details(entry: AuditEntry) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(entry.details)
    return found


@started_with_tiles
async def test_a_question_leaves_who_asked_where_and_the_sources_but_no_text(bot: BotFixture) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    [entry] = await entries(bot)
    assert (entry.action, entry.state, entry.door, entry.place) == ("ask", "answered", "chat", ROOF.room)
    assert await name_actor(bot, entry) == "bob"
    assert details(entry) == {
        "answer": reply.target.answer,
        "shown": ["slack:T1:ROOF:window:m1"],
        "sources": [MESSAGE],
    }
    assert not any(word in repr(entry) for word in ("Tiles", "Monday", "bob"))


@started_with_tiles
async def test_refused_and_failed_questions_leave_an_entry_too(bot: BotFixture) -> None:
    bot.language.reply = (ModelUnavailable("Down."),)
    await bot.ask(ROOF, "bob", ASKED)
    [entry] = await entries(bot)
    assert entry.state == "failed"
    await bot.save_settings(ROOF, askers="managers")
    await bot.answer(bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}"))
    assert (await entries(bot))[-1].state == "refused"


async def test_direct_messages_are_no_place_and_what_one_person_shared_is_counted(bot: BotFixture) -> None:
    direct = bot.platform.add_channel("D7", "bob", kind="direct")
    nails = bot.platform.add_file("nails.txt", b"The Nails come on Friday, says Mina.")
    await bot.ingest_service.files.ingest(await bot.receive(bot.share(direct, nails, author="bob")))
    await bot.engine.wait_until_indexed()
    await bot.ask(direct, "bob", "When do the Nails come?")
    entry = (await entries(bot))[-1]
    assert (entry.state, entry.place, entry.workspace) == ("answered", "", "slack:T1")
    assert details(entry).keys() == {"answer", "private"}
    assert "D7" not in repr(entry)
    assert "bob" not in repr(entry)


@started_with_tiles
async def test_a_place_that_cannot_be_looked_up_is_not_named(bot: BotFixture) -> None:
    bot.context.audience.invalidate(ROOF)
    bot.platform.failing["channel"] = PlatformUnavailable("Down.")
    assert await find_place(bot.context, ROOF) == ""


@started_with_tiles
async def test_a_deleted_answer_leaves_who_deleted_it(bot: BotFixture) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    await bot.answer_buttons().handle(ButtonPressed("b1", ROOF, "bob", "delete", reply.target.answer))
    _, begun, done = await entries(bot)
    assert {each.action for each in (begun, done)} == {"delete-answer"}
    assert (begun.state, done.state) == ("begun", "done")
    assert await name_actor(bot, done) == "bob"


@started_with_tiles
async def test_who_is_forgotten_is_named_by_no_entry(bot: BotFixture) -> None:
    await bot.ask(ROOF, "bob", ASKED)
    await bot.forget_person("bob")
    [entry] = await entries(bot)
    assert await bot.store.audit.find_people([entry.actor]) == {}
    assert (await bot.store.audit.check()).problem == ""
