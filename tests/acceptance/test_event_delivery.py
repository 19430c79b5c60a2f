"""A question is answered once, and what bots say is ignored, whatever the platform does to events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.model_setup.opened import EngineModels
from tests.demos.slack_day import load_manifest
from tests.support.discord_server.actions import emit_message_update
from tests.support.slack_server import FakeSlack, Timing
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot, open_live_bot, password
from tests.support.town.protocol import Asked
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import QUESTION, find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLACK, DISCORD = pytest.mark.platforms("slack"), pytest.mark.platforms("discord")


def answers(live: LiveBot[Any], asked: Asked) -> list[str]:
    return [find_secrets(post.text) for post in live.town.posts(asked)]


async def test_retried_slack_event_is_answered_once(tmp_path: Path, models: EngineModels) -> None:
    hasty = FakeSlack(load_manifest(), timing=Timing(ack=0.0, retries=(0, 0, 0.5)))
    async with open_live_bot(SlackTown(hasty), tmp_path, models) as live:
        await live.build_square()
        asked = await live.town.ask("ada", "square")
        await live.wait_until_idle()
        deliveries = [
            delivery for delivery in hasty.socket.deliveries if asked.handle.ts in str(delivery.payload["event"])
        ]
        for kind in ("app_mention", "message"):
            hasty.redelivers(kind)
        await live.wait_until_idle()
        assert max(delivery.attempts for delivery in deliveries) > 1
        assert {delivery.payload["event"]["type"] for delivery in deliveries} >= {"message", "app_mention"}
        assert answers(live, asked) == ["agate"]
        assert live.language.questions == [QUESTION]


@DISCORD
async def test_repeated_discord_event_is_answered_once(live: LiveBot[DiscordTown]) -> None:
    await live.build_square()
    gateway = live.town.discord.gateway
    asked = [await live.town.ask("ada", "square", f"By {way}: {QUESTION}", way) for way in ("mention", "command")]
    await live.wait_until_idle()
    for name, each in zip(("MESSAGE_CREATE", "INTERACTION_CREATE"), asked, strict=True):
        redeliver(live.town, name, each.handle.id)
    await live.wait_until_idle()
    gateway.reconnect()
    await live.wait_for(lambda: gateway.resumes)
    gateway.invalidate()
    await live.wait_for(lambda: gateway.identifies > 1)
    await live.wait_until_idle()
    assert [answers(live, each) for each in asked] == [["agate"]] * 2
    assert len(live.language.questions) == 2


def redeliver(town: DiscordTown, name: str, ident: str) -> None:
    """Deliver an event once more."""
    for session in town.discord.gateway.sessions.all.values():
        for data in [frame["d"] for _, frame in session.sent if frame["t"] == name and frame["d"]["id"] == ident]:
            session.dispatch(name, data)


@DISCORD
async def test_question_asked_while_the_connection_was_lost_is_answered_once(live: LiveBot[DiscordTown]) -> None:
    await live.build_square()
    live.town.discord.gateway.disconnect()
    await live.wait_for(lambda: not live.town.is_connected)
    asked = await live.town.ask("ada", "square")
    await live.wait_for(lambda: live.town.is_connected)
    await live.wait_until_idle()
    assert answers(live, asked) == ["agate"]


@DISCORD
async def test_reply_that_mentions_the_bot_and_its_role_is_answered_once(live: LiveBot[DiscordTown]) -> None:
    await live.build_square()
    asked = await live.town.ask("ada", "square")
    [first] = await live.posts(asked)
    [role] = [role for role in live.town.guild.roles.values() if role.managed]
    text = f"{live.town.bot_member.mention} <@&{role.id}> {QUESTION}"
    await live.town.person("ada").says(asked.handle.thread, text, reply_to=first.handle.message)
    await live.wait_until_idle()
    assert answers(live, asked) == ["agate", "agate"]


async def post_as_bots(live: LiveBot[Any], asked: Asked) -> list[Asked]:
    """Other bots, a webhook and the bot itself ask, also in the thread of an answer."""
    town = live.town
    if isinstance(town, SlackTown):
        square, robot = town.channels["square"], town.slack.robot("Robot")
        await robot.joins(square)
        hooked = await town.slack.webhook_says(square, "Hook", f"<@{town.slack.space.bot.id}> {password('coral')}?")
        await robot.says(square, f"{password('beryl')} Is it not?", thread=asked.handle)
        said = [await robot.mentions(square, QUESTION), hooked]
    else:
        square, robot = town.channels["square"], town.discord.member(town.guild, "Robot", bot=True)
        text = f"{town.bot_member.mention} {QUESTION}"
        said = [await each.says(square, text) for each in (robot, town.bot_member)]
        said.append(town.discord.webhook_says(square, "Ticker", f"{text} {password('coral')}"))
        await robot.says(asked.handle.thread, f"{text} {password('beryl')}")
    return [type(asked)("ada", "square", each) for each in said]


async def test_bots_are_neither_answered_nor_indexed(live: LiveBot[Any]) -> None:
    await live.build_square()
    asked = await live.town.ask("ada", "square")
    await live.wait_until_idle()
    begged = await post_as_bots(live, asked)
    await live.wait_until_idle()
    threads = [asked_.handle.thread for asked_ in begged if live.town.platform == "discord"]
    assert [thread for thread in threads if thread is not None] == []
    assert live.language.questions == [QUESTION]
    assert find_secrets(await live.ask("ada", "square")) == "agate"


async def test_preview_triggers_no_answer_or_ingest(live: LiveBot[Any]) -> None:
    town = live.town
    town.add_channel("square", "ada")
    await live.read("square")
    said = await town.say("ada", "square", "The tide table is at https://tides.example/table for everybody.")
    asked = await town.ask("ada", "square", "What is at https://tides.example/table?")
    await live.close_conversations()
    before = live.language.extraction_count, len(live.language.questions)
    if isinstance(town, DiscordTown):
        for message in (said, asked.handle):
            message.embeds = [{"type": "article", "title": "The tide table", "url": "https://tides.example/table"}]
            emit_message_update(town.discord.world, message)
    else:
        events = [delivery.payload["event"].get("subtype") for delivery in town.slack.socket.deliveries]
        assert events.count("message_changed") >= 2
        town.slack.redelivers("message")
    await live.close_conversations()
    assert (live.language.extraction_count, len(live.language.questions)) == before == (1, 1)
    assert len(town.posts(asked)) == 1
    await town.edit(said, "The tide table hangs at the pier.")
    await live.close_conversations()
    assert "pier" in await live.ask("ada", "square", "Where is the tide table?")
