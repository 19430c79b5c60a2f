"""What went on Discord while the bot was away is known no more when it is back; what only failed stays.

The language tells all that it is shown, so what is not told is not known. People look at their screens.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot.ingest.sync import deletions, reconcile
from engine.models import Scope
from tests.support.discord_server import File, Permission
from tests.support.town.discord_bot import DiscordBotFixture, guild_owner, open_discord_bot
from tests.support.verbatim_language import QUESTION, find_secrets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server import Channel, Guild, Person

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = File("manual.md", b"# The safe\n\nThe password of the safe is emerald.\n", "text/markdown")
GIVEN = File("given.md", b"# The safe\n\nThe password of the safe is coral.\n", "text/markdown")
MORE = File("more.md", b"# The safe\n\nThe password of the safe is diamond.\n", "text/markdown")


@pytest.fixture(autouse=True)
def _pretend_hour_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot is away for long enough that what was said before counts as old."""
    monkeypatch.setattr(deletions, "MIN_AGE", timedelta(hours=-1))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lasting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DiscordBotFixture]:
    async with open_discord_bot(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


@pytest_asyncio.fixture(loop_scope="module")
async def house(lasting: DiscordBotFixture) -> AsyncIterator[DiscordBotFixture]:
    """What was known of other stories is gone."""
    yield lasting
    for guild in {each.workspace for each in await lasting.bot.store.channels.list_joined("discord")}:
        await lasting.bot.ingest_service._membership.delete_workspace("discord", guild)


async def build_guild(house: DiscordBotFixture, name: str) -> tuple[Guild, Person, Channel, Channel]:
    """A guild with somebody in it, and two channels that are read; in each the password is said."""
    guild = house.discord.guild(name)
    ada = house.discord.member(guild, "Ada")
    square, market = house.discord.channel(guild, "square"), house.discord.channel(guild, "market")
    await house.post_passwords({square: "agate", market: "beryl"})
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate beryl"
    return guild, ada, square, market


async def restart_and_reconcile(house: DiscordBotFixture) -> None:
    """The bot is here again, and has looked at everything."""
    await house.start()
    await wait_until_reconciled(house)


async def wait_until_reconciled(house: DiscordBotFixture) -> None:
    """The bot has compared all that it knows with what is there."""
    await house.bot.ingest_service.start_reconciliation("discord")
    await house.bot.ingest_service.run_sync()
    await house.wait_until_idle()


async def has_no_pending_sync(house: DiscordBotFixture) -> None:
    """No channel waits to be looked at again; one that failed would do so for a minute."""
    async with asyncio.timeout(10):
        while house.bot.ingest_service.pending_syncs:  # noqa: ASYNC110 - nobody is told of its end
            await asyncio.sleep(0.02)


async def count_documents(house: DiscordBotFixture, channel: Channel) -> int:
    """How much is known of a channel."""
    assert channel.guild is not None
    room = f"discord:{channel.guild.id}:{channel.id}"
    return len(await house.engine.list_documents(Scope(frozenset(), frozenset({room}))))


async def list_rooms(house: DiscordBotFixture, guild: Guild) -> set[str]:
    """The channels that the bot knows itself to read."""
    return {each.channel for each in await house.bot.store.channels.list_joined("discord", guild.id)}


async def test_a_channel_that_was_deleted_is_forgotten(house: DiscordBotFixture) -> None:
    guild, ada, square, market = await build_guild(house, "Deleted")
    await house.stop()
    house.discord.removes_channel(market)
    await restart_and_reconcile(house)
    assert await count_documents(house, market) == 0
    assert await list_rooms(house, guild) == {square.id}
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate"


async def test_threads_and_posts_that_were_deleted_are_forgotten(house: DiscordBotFixture) -> None:
    guild, ada, square, _ = await build_guild(house, "Threads")
    root = await ada.says(square, "Let us talk about the safe.")
    thread = await ada.opens_thread(root, "The safe")
    await ada.says(thread, "The password of the safe is coral.")
    forum = house.discord.channel(guild, "ideas", "forum")
    post = await ada.posts(forum, "The new safe", "The password of the safe is emerald.")
    await ada.says(post.channel, "The password of the safe is diamond.")
    await house.run_command(guild_owner(house.discord, guild), post.channel, "settings", setting="ingest", value="on")
    await house.wait_for_backfill()
    assert (
        find_secrets(await house.ask_by_command(ada, square, f"Now: {QUESTION}")) == "agate beryl coral diamond emerald"
    )
    await house.stop()
    house.discord.removes_channel(thread)
    house.discord.removes_channel(post.channel)
    await restart_and_reconcile(house)
    assert find_secrets(await house.ask_by_command(ada, square, f"Then: {QUESTION}")) == "agate beryl"


@pytest.mark.parametrize("status", [404, 503])
async def test_channel_is_forgotten_only_once_discord_confirms(house: DiscordBotFixture, status: int) -> None:
    guild, ada, square, market = await build_guild(house, f"Gateway {status}")
    await house.stop()
    house.discord.removes_channel(market)
    fault = house.discord.fail_next("GET", "/channels/{channel}", status=status, times=1000)
    await restart_and_reconcile(house)
    assert fault.times < 1000
    assert await count_documents(house, market) == 1
    assert await list_rooms(house, guild) == {square.id, market.id}
    assert find_secrets(await house.ask_by_command(ada, square, f"Then: {QUESTION}")) == "agate"
    fault.times = 0
    await wait_until_reconciled(house)
    assert await count_documents(house, market) == 0


async def test_a_channel_that_was_hidden_from_the_bot_is_not_forgotten(house: DiscordBotFixture) -> None:
    guild, ada, square, market = await build_guild(house, "Hidden")
    await house.stop()
    house.discord.overwrites(market, house.discord.bot(guild), deny=Permission.VIEW_CHANNEL)
    await restart_and_reconcile(house)
    assert await count_documents(house, market) == 1
    assert find_secrets(await house.ask_by_command(ada, square, f"Then: {QUESTION}")) == "agate"
    house.discord.overwrites(market, house.discord.bot(guild))
    await house.wait_until_idle()
    await wait_until_reconciled(house)
    assert find_secrets(await house.ask_by_command(ada, square, f"Later: {QUESTION}")) == "agate beryl"


async def test_a_history_that_was_hidden_from_the_bot_is_not_forgotten(house: DiscordBotFixture) -> None:
    guild, ada, square, market = await build_guild(house, "Blind")
    root = await ada.says(market, "Let us talk about the safe.")
    thread = await ada.opens_thread(root, "The safe")
    await ada.says(thread, "The password of the safe is coral.")
    await house.wait_until_idle()
    await house.stop()
    house.discord.overwrites(market, house.discord.bot(guild), deny=Permission.READ_MESSAGE_HISTORY)
    await restart_and_reconcile(house)
    assert await count_documents(house, market) == 2
    house.discord.overwrites(market, house.discord.bot(guild))
    await house.wait_until_idle()
    await wait_until_reconciled(house)
    assert find_secrets(await house.ask_by_command(ada, square, f"Later: {QUESTION}")) == "agate beryl coral"


async def test_start_of_a_long_thread_is_not_forgotten(
    house: DiscordBotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "MAX_REPLIES", 5)
    _, ada, square, market = await build_guild(house, "Busy")
    root = await ada.says(market, "Let us talk about the safe.")
    thread = await ada.opens_thread(root, "The safe")
    await ada.says(thread, "The password of the safe is coral.")
    for number in range(4):
        await ada.says(thread, f"Reply {number}.")
    house.discord.renames(thread, "The old safe")
    await ada.says(thread, "Reply last.")
    await house.wait_until_idle()
    await wait_until_reconciled(house)
    assert find_secrets(await house.ask_by_command(ada, square, f"Then: {QUESTION}")) == "agate beryl coral"


async def test_a_server_that_is_out_of_order_is_not_forgotten(house: DiscordBotFixture) -> None:
    guild, ada, square, market = await build_guild(house, "Outage")
    await house.stop()
    house.discord.outage(guild)
    await restart_and_reconcile(house)
    assert await list_rooms(house, guild) == {square.id, market.id}
    house.discord.recovers(guild)
    await house.wait_until_idle()
    await wait_until_reconciled(house)
    assert find_secrets(await house.ask_by_command(ada, square, f"Then: {QUESTION}")) == "agate beryl"


@pytest.mark.parametrize("purged", [False, True])
async def test_removed_server_is_kept_or_deleted_by_setting(house: DiscordBotFixture, *, purged: bool) -> None:
    guild, _, square, market = await build_guild(house, f"Put out, {purged}")
    await house.stop()
    house.discord.removes(house.discord.bot(guild))
    house.settings = house.settings.model_copy(update={"delete_data_on_uninstall": purged})
    await restart_and_reconcile(house)
    assert [await count_documents(house, each) for each in (square, market)] == ([0, 0] if purged else [1, 1])
    assert await list_rooms(house, guild) == (set() if purged else {square.id, market.id})
    await has_no_pending_sync(house)


async def test_a_file_whose_message_to_the_bot_was_deleted_is_forgotten(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Files")
    ada = house.discord.member(guild, "Ada")
    square, quiet = house.discord.channel(guild, "square"), house.discord.channel(guild, "quiet")
    direct = await ada.dms("Read this.", files=[PAGES])
    asked = await ada.says(quiet, f"{house.discord.bot(guild).mention} what is in it?", files=[MORE])
    await house.wait_until_idle()
    assert "I've indexed" in await house.run_command(ada, quiet, "learn", file=GIVEN)
    assert find_secrets(await house.ask_privately(ada, square, QUESTION)) == "coral diamond emerald"
    await house.stop()
    await ada.deletes(direct)
    await ada.deletes(asked)
    await restart_and_reconcile(house)
    assert find_secrets(await house.ask_privately(ada, square, f"Then: {QUESTION}")) == "coral"


@pytest.mark.parametrize("status", [403, 404, 503])
async def test_file_is_kept_while_its_message_is_unconfirmed(house: DiscordBotFixture, status: int) -> None:
    guild = house.discord.guild(f"Kept {status}")
    ada = house.discord.member(guild, "Ada")
    square = house.discord.channel(guild, "square")
    await ada.dms("Read this.", files=[PAGES])
    await house.wait_until_idle()
    await house.stop()
    fault = house.discord.fail_next("GET", "/channels/{channel}/messages/{message}", status=status, times=1000)
    await restart_and_reconcile(house)
    assert fault.times < 1000
    fault.times = 0
    assert find_secrets(await house.ask_privately(ada, square, f"Then: {QUESTION}")) == "emerald"


async def test_member_of_no_server_blocks_nothing(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Nowhere")
    ada = house.discord.member(guild, "Ada")
    await ada.dms(QUESTION)
    await house.wait_until_idle()
    house.discord.removes(ada)
    await house.wait_until_received()
    for text in (QUESTION, "help", "stop"):
        await ada.dms(text)
    await house.wait_until_idle()
    assert await house.bot.event_queue.depth() == 0
    assert len(house.discord.sees(ada, house.discord.dm(ada)).posts) == 5
