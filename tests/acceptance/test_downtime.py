"""Channels that vanish are forgotten, also while the bot is away; what only fails to load or is hidden stays."""

from __future__ import annotations

from typing import Any

import pytest

from bot.ingest.sync import reconcile
from tests.support.discord_server import Permission
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot, file_of, password, reply
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import QUESTION, find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLACK, DISCORD = pytest.mark.platforms("slack"), pytest.mark.platforms("discord")
AGAIN = f"Again: {QUESTION}"  # the question in the words of an earlier one may come from the cache


async def check_channels(live: LiveBot[Any], left: str) -> None:
    """Only these channels are known, by their documents, in the store and in answers."""
    words = {"square": "agate", "market": "beryl"}
    assert {name for name in words if await live.titles(name)} == set(left.split())
    listed = {each.room for each in await live.bot.store.channels.list_joined(live.town.platform)}
    assert listed == {live.town.location(name).room for name in left.split()}
    answer = await live.ask("ada", "square", AGAIN, way="private")
    assert find_secrets(answer) == " ".join(words[name] for name in left.split())


async def build_channels(live: LiveBot[Any], kind: str = "public") -> None:
    live.town.add_channel("square", "ada")
    live.town.add_channel("market", "ada", kind)
    await live.post_passwords(square="agate", market="beryl")


async def leave_market(town: SlackTown) -> None:
    await town.person("ada").removes(town.channels["market"], town.slack.bot)


@pytest.mark.long
@pytest.mark.parametrize("away", [False, True], ids=["there", "away"])
async def test_deleted_channel_is_forgotten(live: LiveBot[Any], *, away: bool) -> None:
    await build_channels(live)
    if away:
        await live.stop()
    await live.town.delete_channel("market")
    await (live.restart_and_reconcile() if away else live.wait_until_idle())
    await check_channels(live, "square")


@pytest.mark.long
@SLACK
@pytest.mark.parametrize("kind", ["public", "private", "group"])
async def test_channel_the_bot_was_removed_from_is_forgotten(live: LiveBot[SlackTown], kind: str) -> None:
    await build_channels(live, kind)
    await live.stop()
    await leave_market(live.town)
    await live.restart_and_reconcile()
    await check_channels(live, "square")


@pytest.mark.share(2)
@SLACK
@pytest.mark.parametrize("kind", ["public", "private"])
async def test_recreated_app_keeps_only_channels_it_was_reinvited_to(live: LiveBot[SlackTown], kind: str) -> None:
    town = live.town
    for name in ("square", "market"):
        town.add_channel(name, "ada", kind)
    await live.post_passwords(square="agate", market="beryl")
    await live.stop()
    await town.slack.recreates_app()
    await town.person("ada").invites(town.channels["square"], town.slack.bot)
    await live.restart_and_reconcile()
    assert [len(await live.titles(name)) for name in ("square", "market")] == [1, 0]
    assert find_secrets(await live.ask("ada", "square")) == "agate"


@pytest.mark.long
@SLACK
async def test_archived_channel_stays_indexed(live: LiveBot[SlackTown]) -> None:
    await build_channels(live)
    await live.stop()
    await live.town.slack.archives(live.town.channels["market"], live.town.person("ada"))
    await live.restart_and_reconcile()
    assert find_secrets(await live.ask("ada", "square")) == "agate beryl"


@pytest.mark.share(2)
@DISCORD
@pytest.mark.parametrize("denied", [Permission.VIEW_CHANNEL, Permission.READ_MESSAGE_HISTORY])
async def test_channel_that_was_hidden_from_the_bot_is_not_forgotten(
    live: LiveBot[DiscordTown], denied: Permission
) -> None:
    town = live.town
    await build_channels(live)
    await town.say("ada", "market", password("coral"), thread=await town.say("ada", "market", "Let us talk."))
    await live.wait_until_idle()
    known = await live.titles("market")
    await live.stop()
    town.discord.overwrites(town.channels["market"], town.bot_member, deny=denied)
    await live.start()
    await live.reconcile()
    assert await live.titles("market") == known
    town.discord.overwrites(town.channels["market"], town.bot_member)
    await live.wait_until_idle()
    await live.reconcile()
    assert find_secrets(await live.ask("ada", "square", AGAIN)) == "agate beryl coral"


@pytest.mark.long
@DISCORD
async def test_server_that_is_unavailable_is_not_forgotten(live: LiveBot[DiscordTown]) -> None:
    await build_channels(live)
    await live.stop()
    live.town.discord.outage(live.town.guild)
    await live.start()
    await live.reconcile()
    live.town.discord.recovers(live.town.guild)
    await live.wait_until_idle()
    await live.reconcile()
    await check_channels(live, "square market")


@pytest.mark.long
@DISCORD
@pytest.mark.parametrize("purged", [False, True])
async def test_removed_server_is_kept_or_deleted_by_setting(live: LiveBot[DiscordTown], *, purged: bool) -> None:
    await build_channels(live)
    await live.stop()
    live.town.discord.removes(live.town.bot_member)
    live.settings = live.settings.model_copy(update={"delete_data_on_uninstall": purged})
    await live.start()
    await live.reconcile()
    assert [len(await live.titles(name)) for name in ("square", "market")] == ([0, 0] if purged else [1, 1])
    assert len(await live.bot.store.channels.list_joined("discord")) == (0 if purged else 2)
    await live.wait_for_sync()


# What only fails to load.


@pytest.mark.long
@SLACK
@pytest.mark.usefixtures("pretend_hour_passed")
@pytest.mark.parametrize(("method", "error"), [("history", "token_expired"), ("replies", "missing_scope")])
async def test_an_error_that_may_pass_forgets_nothing(live: LiveBot[SlackTown], method: str, error: str) -> None:
    slack = live.town.slack
    live.town.add_channel("square", "ada")
    root = await live.town.say("ada", "square", password("agate"))
    await live.town.say("ada", "square", password("beryl"), thread=root)
    await live.town.say("ada", "", "Read it.", files=[file_of("coral")])
    await live.wait_until_idle()
    await live.stop()
    slack.calls.clear()
    slack.fail_next(f"conversations.{method}", error, times=20)
    await live.restart_and_reconcile()
    slack.faults.clear()
    assert [call.outcome for call in slack.calls_to(f"conversations.{method}")][:1] == [error]
    await live.reconcile()
    assert find_secrets(await live.ask("ada", "square", way="private")) == "agate beryl coral"


@pytest.mark.share(2)
@DISCORD
@pytest.mark.usefixtures("pretend_hour_passed")
@pytest.mark.parametrize("status", [403, 404])
async def test_an_unconfirmed_deletion_forgets_nothing(live: LiveBot[DiscordTown], status: int) -> None:
    await build_channels(live)
    await live.town.say("ada", "", "Read it.", files=[file_of("coral")])
    await live.wait_until_idle()
    await live.stop()
    await live.town.delete_channel("market")
    routes = ["/channels/{channel}/messages/{message}", *(["/channels/{channel}"] if status != 403 else [])]
    faults = [live.town.discord.fail_next("GET", route, status=status, times=1000) for route in routes]
    await live.start()
    await live.reconcile()
    assert [fault.times < 1000 for fault in faults] == [True] * len(faults)
    if status != 403:
        assert await live.titles("market")
    for fault in faults:
        fault.times = 0
    await live.reconcile()
    assert await live.titles("market") == []
    assert find_secrets(await live.ask("ada", "square", AGAIN, way="private")) == "agate coral"


@pytest.mark.long
@SLACK
@pytest.mark.usefixtures("pretend_hour_passed")
async def test_messages_hidden_by_the_free_plan_stay_indexed(live: LiveBot[SlackTown]) -> None:
    town = live.town
    town.add_channel("square", "ada")
    await reply(town, "agate")
    edge = await town.say("ada", "square", "What a day.")
    gone = await town.say("ada", "square", password("beryl"))
    await live.post_passwords(square="coral")
    await live.stop()
    await town.delete(gone)
    town.slack.space.hidden = edge.ts
    await live.restart_and_reconcile()
    assert find_secrets(await live.ask("ada", "square")) == "agate coral"
    await live.wait_for_sync()


@pytest.mark.long
@pytest.mark.usefixtures("pretend_hour_passed")
async def test_long_thread_is_compared_without_forgetting_what_was_not_listed(
    live: LiveBot[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "MAX_REPLIES", 5)
    town = live.town
    town.add_channel("square", "ada")
    if isinstance(town, SlackTown):
        town.slack.page = 4
    await live.read("square")
    root = await town.say("ada", "square", "Let us talk about the safe.")
    await town.say("ada", "square", password("agate"), thread=root)
    for number in range(10):
        await town.say("ada", "square", f"Reply {number}.", thread=root)
    gone = await town.say("ada", "square", password("beryl"), thread=root)
    await town.say("ada", "square", password("coral"), thread=root)
    await live.wait_until_idle()
    await live.stop()
    await town.delete(gone)
    await live.restart_and_reconcile()
    assert find_secrets(await live.ask("ada", "square")) == "agate coral"
