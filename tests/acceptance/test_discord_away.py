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
from tests.support.discord_server import Can, File
from tests.support.gossip import QUESTION, told
from tests.support.town.discord import House, living, owner

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server import Channel, Guild, Person

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = File("manual.md", b"# The safe\n\nThe password of the safe is emerald.\n", "text/markdown")
GIVEN = File("given.md", b"# The safe\n\nThe password of the safe is coral.\n", "text/markdown")
MORE = File("more.md", b"# The safe\n\nThe password of the safe is diamond.\n", "text/markdown")


@pytest.fixture(autouse=True)
def _an_hour_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot is away for long enough that what was said before counts as old."""
    monkeypatch.setattr(deletions, "YOUNG", timedelta(hours=-1))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lasting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with living(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


@pytest_asyncio.fixture(loop_scope="module")
async def house(lasting: House) -> AsyncIterator[House]:
    """What was known of other stories is gone."""
    yield lasting
    for guild in {each.workspace for each in await lasting.bot.store.rooms.known("discord")}:
        await lasting.bot.listening._presence.purge("discord", guild)


async def village(house: House, name: str) -> tuple[Guild, Person, Channel, Channel]:
    """A guild with somebody in it, and two channels that are read; in each the password is said."""
    guild = house.discord.guild(name)
    ada = house.discord.member(guild, "Ada")
    square, market = house.discord.channel(guild, "square"), house.discord.channel(guild, "market")
    await house.safe({square: "agate", market: "beryl"})
    assert told(await house.asks(ada, square, QUESTION)) == "agate beryl"
    return guild, ada, square, market


async def back(house: House) -> None:
    """The bot is here again, and has looked at everything."""
    await house.start()
    await looked(house)


async def looked(house: House) -> None:
    """The bot has compared all that it knows with what is there."""
    await house.bot.listening.catch_up("discord")
    await house.bot.listening.past()
    await house.settled()


async def owes_nothing(house: House) -> None:
    """No channel waits to be looked at again; one that failed would do so for a minute."""
    async with asyncio.timeout(10):
        while house.bot.listening.owed:  # noqa: ASYNC110 - nobody is told of its end
            await asyncio.sleep(0.02)


async def documents(house: House, channel: Channel) -> int:
    """How much is known of a channel."""
    assert channel.guild is not None
    room = f"discord:{channel.guild.id}:{channel.id}"
    return len(await house.engine.documents(Scope(frozenset(), frozenset({room}))))


async def rooms(house: House, guild: Guild) -> set[str]:
    """The channels that the bot knows itself to read."""
    return {each.channel for each in await house.bot.store.rooms.known("discord", guild.id)}


async def test_a_channel_that_was_deleted_is_forgotten(house: House) -> None:
    guild, ada, square, market = await village(house, "Deleted")
    await house.end()
    house.discord.removes_channel(market)
    await back(house)
    assert await documents(house, market) == 0
    assert await rooms(house, guild) == {square.id}
    assert told(await house.asks(ada, square, QUESTION)) == "agate"


async def test_threads_and_posts_that_were_deleted_are_forgotten(house: House) -> None:
    guild, ada, square, _ = await village(house, "Threads")
    root = await ada.says(square, "Let us talk about the safe.")
    thread = await ada.opens_thread(root, "The safe")
    await ada.says(thread, "The password of the safe is coral.")
    forum = house.discord.channel(guild, "ideas", "forum")
    post = await ada.posts(forum, "The new safe", "The password of the safe is emerald.")
    await ada.says(post.channel, "The password of the safe is diamond.")
    await house.calls(owner(house.discord, guild), post.channel, "settings", setting="ingest", value="on")
    await house.caught_up()
    assert told(await house.asks(ada, square, f"Now: {QUESTION}")) == "agate beryl coral diamond emerald"
    await house.end()
    house.discord.removes_channel(thread)
    house.discord.removes_channel(post.channel)
    await back(house)
    assert told(await house.asks(ada, square, f"Then: {QUESTION}")) == "agate beryl"


@pytest.mark.parametrize("status", [404, 503])
async def test_a_channel_is_forgotten_only_once_discord_itself_says_that_it_is_gone(house: House, status: int) -> None:
    guild, ada, square, market = await village(house, f"Gateway {status}")
    await house.end()
    house.discord.removes_channel(market)
    fault = house.discord.fails("GET", "/channels/{channel}", status=status, times=1000)
    await back(house)
    assert fault.times < 1000
    assert await documents(house, market) == 1
    assert await rooms(house, guild) == {square.id, market.id}
    assert told(await house.asks(ada, square, f"Then: {QUESTION}")) == "agate"
    fault.times = 0
    await looked(house)
    assert await documents(house, market) == 0


async def test_a_channel_that_was_hidden_from_the_bot_is_not_forgotten(house: House) -> None:
    guild, ada, square, market = await village(house, "Hidden")
    await house.end()
    house.discord.overwrites(market, house.discord.bot(guild), deny=Can.VIEW_CHANNEL)
    await back(house)
    assert await documents(house, market) == 1
    assert told(await house.asks(ada, square, f"Then: {QUESTION}")) == "agate"
    house.discord.overwrites(market, house.discord.bot(guild))
    await house.settled()
    await looked(house)
    assert told(await house.asks(ada, square, f"Later: {QUESTION}")) == "agate beryl"


async def test_a_history_that_was_hidden_from_the_bot_is_not_forgotten(house: House) -> None:
    guild, ada, square, market = await village(house, "Blind")
    root = await ada.says(market, "Let us talk about the safe.")
    thread = await ada.opens_thread(root, "The safe")
    await ada.says(thread, "The password of the safe is coral.")
    await house.settled()
    await house.end()
    house.discord.overwrites(market, house.discord.bot(guild), deny=Can.READ_MESSAGE_HISTORY)
    await back(house)
    assert await documents(house, market) == 2
    house.discord.overwrites(market, house.discord.bot(guild))
    await house.settled()
    await looked(house)
    assert told(await house.asks(ada, square, f"Later: {QUESTION}")) == "agate beryl coral"


async def test_what_a_long_thread_says_first_is_not_forgotten(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconcile, "REPLIES", 5)
    _, ada, square, market = await village(house, "Busy")
    root = await ada.says(market, "Let us talk about the safe.")
    thread = await ada.opens_thread(root, "The safe")
    await ada.says(thread, "The password of the safe is coral.")
    for number in range(4):
        await ada.says(thread, f"Reply {number}.")
    house.discord.renames(thread, "The old safe")
    await ada.says(thread, "Reply last.")
    await house.settled()
    await looked(house)
    assert told(await house.asks(ada, square, f"Then: {QUESTION}")) == "agate beryl coral"


async def test_a_server_that_is_out_of_order_is_not_forgotten(house: House) -> None:
    guild, ada, square, market = await village(house, "Outage")
    await house.end()
    house.discord.outage(guild)
    await back(house)
    assert await rooms(house, guild) == {square.id, market.id}
    house.discord.recovers(guild)
    await house.settled()
    await looked(house)
    assert told(await house.asks(ada, square, f"Then: {QUESTION}")) == "agate beryl"


@pytest.mark.parametrize("purged", [False, True])
async def test_a_server_that_put_the_bot_out_is_left_as_the_setting_says(house: House, *, purged: bool) -> None:
    guild, _, square, market = await village(house, f"Put out, {purged}")
    await house.end()
    house.discord.removes(house.discord.bot(guild))
    house.settings = house.settings.model_copy(update={"purge_when_removed": purged})
    await back(house)
    assert [await documents(house, each) for each in (square, market)] == ([0, 0] if purged else [1, 1])
    assert await rooms(house, guild) == (set() if purged else {square.id, market.id})
    await owes_nothing(house)


async def test_a_file_whose_message_to_the_bot_was_deleted_is_forgotten(house: House) -> None:
    guild = house.discord.guild("Files")
    ada = house.discord.member(guild, "Ada")
    square, quiet = house.discord.channel(guild, "square"), house.discord.channel(guild, "quiet")
    direct = await ada.dms("Read this.", files=[PAGES])
    asked = await ada.says(quiet, f"{house.discord.bot(guild).mention} what is in it?", files=[MORE])
    await house.settled()
    assert "I have read" in await house.calls(ada, quiet, "learn", file=GIVEN)
    assert told(await house.whispers(ada, square, QUESTION)) == "coral diamond emerald"
    await house.end()
    await ada.deletes(direct)
    await ada.deletes(asked)
    await back(house)
    assert told(await house.whispers(ada, square, f"Then: {QUESTION}")) == "coral"


@pytest.mark.parametrize("status", [403, 404, 503])
async def test_a_file_is_kept_while_nobody_can_say_whether_its_message_is_there(house: House, status: int) -> None:
    guild = house.discord.guild(f"Kept {status}")
    ada = house.discord.member(guild, "Ada")
    square = house.discord.channel(guild, "square")
    await ada.dms("Read this.", files=[PAGES])
    await house.settled()
    await house.end()
    fault = house.discord.fails("GET", "/channels/{channel}/messages/{message}", status=status, times=1000)
    await back(house)
    assert fault.times < 1000
    fault.times = 0
    assert told(await house.whispers(ada, square, f"Then: {QUESTION}")) == "emerald"


async def test_who_is_in_no_server_any_more_keeps_nothing_waiting(house: House) -> None:
    guild = house.discord.guild("Nowhere")
    ada = house.discord.member(guild, "Ada")
    await ada.dms(QUESTION)
    await house.settled()
    house.discord.removes(ada)
    await house.heard()
    for text in (QUESTION, "help", "stop"):
        await ada.dms(text)
    await house.settled()
    assert await house.bot.inbox.depth() == 0
    assert len(house.discord.sees(ada, house.discord.dm(ada)).posts) == 5
