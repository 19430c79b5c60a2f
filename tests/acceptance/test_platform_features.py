"""What only one platform has: a free plan of Slack; greetings, settings and direct notices of Discord."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from bot import texts
from bot.model_setup.opened import EngineModels
from bot.texts import review as review_texts
from tests.demos.slack_day import load_manifest
from tests.support.discord_server import Permission
from tests.support.discord_server.permissions import EVERYONE
from tests.support.patience import PATIENCE
from tests.support.slack_server import FakeSlack
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot, open_live_bot
from tests.support.town.protocol import Way
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import QUESTION, find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLACK, DISCORD = pytest.mark.platforms("slack"), pytest.mark.platforms("discord")
ENABLE = "`/settings setting:ingest value:on`"
EVERY_WAY: tuple[tuple[str, Way], ...] = (("square", "mention"), ("square", "private"), ("", "mention"))


@pytest.mark.long
async def test_everything_works_on_a_free_plan(tmp_path: Path, models: EngineModels) -> None:
    """Slack's agent features are missing: no streams, no status, no prompts."""
    town = SlackTown(FakeSlack(load_manifest("manifest-free.json")))
    async with open_live_bot(town, tmp_path, models) as live:
        slack = town.slack
        await live.build_square()
        go = live.script_answer("Slowly", "From", " what is said here, it is agate [1]. ", "And so on. " * 50)
        asked = await town.ask("ada", "square", "Slowly: what is the password?")
        await live.wait_for(lambda: town.reactions(asked.handle))
        await asyncio.wait_for(go.reached.wait(), PATIENCE)
        assert town.posts(asked) == []
        go.set()
        [answer] = await live.posts(asked)
        posted = [
            call for call in slack.calls_to("chat.postMessage") if call.args.get("thread_ts") == asked.handle.root
        ]
        assert len(str(posted[0].args["text"]).split()) > 3, "a notification shows it"
        assert "it is agate" in answer.text
        assert answer.buttons == ("👍", "👎", "Sources", review_texts.IMPROVE_BUTTON)
        assert town.reactions(asked.handle) == []
        for channel, way in EVERY_WAY:
            assert find_secrets(await live.ask("ada", channel, way=way)) == "agate"
        assert "/threadlore ask" in await live.run_command("ada", "square", "help")
        assert "#square" in await town.home_text("ada")
        assert not slack.calls_to("chat.appendStream")


@pytest.mark.long
@DISCORD
async def test_commands_are_registered_once_and_settings_are_for_managers(live: LiveBot[DiscordTown]) -> None:
    town = live.town
    await live.build_square()
    await live.restart()
    assert len([call for call in town.discord.calls if call.method == "PUT" and "commands" in call.template]) == 1
    with pytest.raises(AssertionError):
        await live.run_command("ada", "square", "settings", setting="ingest", value="off")
    town.add_person("mayor", roles=[town.discord.role(town.guild, "mayor", Permission.MANAGE_GUILD)])
    stopped = await live.run_command("mayor", "square", "settings", setting="ingest", value="off")
    assert "I've stopped reading this channel" in stopped


@DISCORD
async def test_stop_in_a_thread_is_confirmed_there_and_obeyed(live: LiveBot[DiscordTown]) -> None:
    await live.build_square()
    asked = await live.town.ask("ada", "square")
    await live.wait_until_idle()
    stop = await live.town.follow_up("ada", asked, "stop")
    await live.wait_until_idle()
    again = await live.town.follow_up("ada", asked)
    assert await live.posts(again) == []
    [confirmed] = live.town.posts(stop)
    assert texts.THREAD_MUTED in confirmed.text
    assert confirmed.handle.message.replied is stop.handle
    assert live.town.bot_posts("ada", "") == []


@DISCORD
async def test_help_replies_to_the_asking_message(live: LiveBot[DiscordTown]) -> None:
    live.town.add_channel("square")
    asked = await live.town.ask("ada", "square", "help")
    [shown] = [post for post in await live.posts(asked) if post.handle.message.replied is asked.handle]
    assert "`/ask`" in shown.text
    assert live.town.bot_posts("ada", "") == []


@DISCORD
async def test_member_of_no_server_blocks_nothing(live: LiveBot[DiscordTown]) -> None:
    await live.ask("ada")
    live.town.discord.removes(live.town.person("ada"))
    await live.town.wait_until_received(live.bot)
    for text in (QUESTION, "help", "stop"):
        await live.town.ask("ada", text=text)
    await live.wait_until_idle()
    assert await live.bot.event_queue.depth() == 0
    assert len(live.town.bot_posts("ada", "")) == 1


def greetings(live: LiveBot[DiscordTown], channel: str) -> list[str]:
    return [post.text for post in live.town.bot_posts("ada", channel) if "Hello! I answer" in post.text]


@pytest.mark.share(2)
@DISCORD
@pytest.mark.parametrize("away", [False, True], ids=["there", "away"])
async def test_new_server_is_greeted_once(live: LiveBot[DiscordTown], *, away: bool) -> None:
    if away:
        await live.stop()
    live.town.begin_guild("Fresh")
    live.town.add_channel("square")
    live.town.add_channel("market")
    await (live.start() if away else live.wait_until_idle())
    await live.wait_until_idle()
    [hello] = greetings(live, "square")
    assert ENABLE in hello
    assert "Manage Server" in hello
    assert "permissions" not in hello
    await live.restart()
    await live.wait_until_idle()
    assert [len(greetings(live, name)) for name in ("square", "market")] == [1, 0]


@DISCORD
async def test_greeting_goes_where_the_bot_can_post(live: LiveBot[DiscordTown]) -> None:
    town = live.town
    town.begin_guild("Narrow", powers=Permission.VIEW_CHANNEL)
    town.discord.changes_role(town.guild, town.guild.roles[town.guild.id], EVERYONE & ~Permission.ADD_REACTIONS)
    town.discord.overwrites(town.add_channel("square"), town.bot_member, deny=Permission.SEND_MESSAGES)
    town.add_channel("market")
    await live.restart()
    await live.wait_until_idle()
    assert greetings(live, "square") == []
    [hello] = greetings(live, "market")
    assert re.findall(r"I'm missing these permissions: ([^.]*)\.", hello) == ["Add Reactions"]


@pytest.mark.long
@DISCORD
async def test_question_in_a_disabled_channel_says_who_can_enable_it(live: LiveBot[DiscordTown]) -> None:
    live.town.add_channel("square")
    live.town.add_channel("market")
    await live.post_passwords(market="agate")
    answer = await live.ask("ada", "square", way="command")
    assert "agate" in answer
    assert "I'm not indexing this channel" in answer
    assert ENABLE in answer
    assert "I'm not indexing this channel" not in await live.ask("ada", "market", way="command")
