"""What a former run said in a channel, without a question below which it could be looked for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bot.errors import PermissionDenied
from bot.platform.models import Card, Location
from bot.platform.ports import ReplyTarget
from tests.adapters.slack.talking import BARE, CLOSING, Talk
from tests.support.slack_server import Fault

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from bot.platform.ports import Reply
    from tests.adapters.slack.conftest import Desk
    from tests.support.slack_server import Room


def share(desk: Desk, talk: Talk, *, answer: str = "a1", room: Room | None = None) -> Reply:
    """An answer for all readers of a channel to what one of them had asked privately."""
    place = Location("slack", talk.slack.space.team, (room or talk.room).id)
    asked = datetime.fromtimestamp(float(talk.said.ts), UTC)
    return desk.platform.start_reply(ReplyTarget(answer, place, talk.ada.id, asked_at=asked))


def said(talk: Talk) -> list[str]:
    """What the bot said in the channel."""
    entries = talk.slack.sees(talk.ada, talk.room).entries
    return [entry.text.strip().splitlines()[0] for entry in entries if entry.author == talk.slack.space.bot.name]


async def test_what_was_shared_before_a_restart_is_there_once(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk]
) -> None:
    await share(desk, talk).finish(["Because it rained."], CLOSING)
    async with restarted as again:
        reply = share(again, talk)
        await reply.finish(["Because it rained."], CLOSING)
    assert said(talk) == ["Because it rained."]
    assert reply.reply_ref


async def test_what_was_shared_without_an_answer_of_slack_is_there_once(desk: Desk, talk: Talk) -> None:
    talk.slack.fail_next("chat.postMessage", Fault("lost"))
    await share(desk, talk).finish(["Because it rained."], CLOSING)
    assert said(talk) == ["Because it rained."]


async def test_all_messages_of_what_was_shared_are_found(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk]
) -> None:
    await share(desk, talk).finish(["part one", "part two"], BARE)
    for _ in range(3):
        await talk.ada.says(talk.room, "and then?")
    talk.slack.page = 2
    async with restarted as again:
        await share(again, talk).finish(["all in one"], BARE)
    assert said(talk) == ["all in one"]


async def test_nothing_else_that_the_bot_said_there_is_taken_for_it(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk]
) -> None:
    await desk.platform.post(Location("slack", talk.slack.space.team, talk.room.id), Card("Hello!"))
    await share(desk, talk, answer="a0").finish(["Another answer."], BARE)
    async with restarted as again:
        await share(again, talk).finish(["The new one."], BARE)
    assert said(talk) == ["Hello!", "Another answer.", "The new one."]


async def test_where_the_bot_is_not_that_is_told(desk: Desk, talk: Talk) -> None:
    hall = talk.slack.channel("hall", members=[talk.ada], bot=False)
    with pytest.raises(PermissionDenied, match="not_in_channel"):
        await share(desk, talk, room=hall).finish(["Because it rained."], CLOSING)
