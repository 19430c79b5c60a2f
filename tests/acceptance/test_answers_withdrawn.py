"""Who reads a channel changes while an answer is written, and after it was given: what it told is taken back."""

from __future__ import annotations

from typing import Any

import pytest

from bot import texts
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot
from tests.support.town.protocol import Asked, Way
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import QUESTION, find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLACK, DISCORD = pytest.mark.platforms("slack"), pytest.mark.platforms("discord")


async def ask_slowly(live: LiveBot[Any], person: str, channel: str, way: Way = "mention") -> Asked:
    """A question, once the first words of its answer are shown; the others wait for `live.go`."""
    live.go = live.script_answer("safe", "The password of the safe is beryl [1],", " and so on,", " and more.")
    asked: Asked = await live.town.ask(person, channel, way=way)
    await live.wait_for(lambda: "beryl" in live.text(asked))
    return asked


async def finish(live: LiveBot[Any], asked: Asked) -> str:
    """Let the model go on once the bot has received what happened, and give what is left to read."""
    await live.town.wait_until_received(live.bot)
    live.go.set()
    answer = await live.answer(asked)
    live.language.scripts.clear()
    return answer


async def test_channel_turned_private_while_an_answer_uses_it(live: LiveBot[Any]) -> None:
    live.town.add_channel("square", "ada bob")
    live.town.add_channel("market", "ada")
    await live.post_passwords(market="beryl")
    asked = await ask_slowly(live, "bob", "square")
    await live.town.make_private("market", "ada")
    assert texts.ANSWER_WITHDRAWN in await finish(live, asked)
    assert find_secrets(live.town.bot_text("bob")) == ""


@pytest.mark.long
@DISCORD
async def test_member_leaves_the_guild_while_a_direct_answer_is_written(live: LiveBot[DiscordTown]) -> None:
    town = live.town
    other = town.discord.guild("Stayed")
    town.add_person("ada there", user=town.person("ada").user, guild=other)
    town.add_channel("square")
    town.add_channel("hall", guild=other)
    await live.post_passwords(square="beryl", hall="agate")
    assert find_secrets(await live.ask("ada")) == "agate beryl"
    asked = await ask_slowly(live, "ada", "")
    town.discord.removes(town.person("ada"))
    assert texts.ANSWER_WITHDRAWN in await finish(live, asked)
    assert "beryl" not in live.text(asked)
    assert find_secrets(await live.ask("ada", text=f"Again: {QUESTION}")) == "agate"


@pytest.mark.long
@DISCORD
async def test_member_leaves_a_private_thread_while_an_answer_is_written(live: LiveBot[DiscordTown]) -> None:
    town = live.town
    town.add_channel("square")
    corner = await town.person("ada").opens_thread(town.channels["square"], "corner", private=True)
    await town.person("ada").adds(corner, town.person("bob"), town.bot_member)
    town.channels["corner"] = corner
    await live.post_passwords(square="agate", corner="beryl")
    asked = await ask_slowly(live, "bob", "square", "private")
    await town.person("ada").removes_from_thread(corner, town.person("bob"))
    assert texts.ANSWER_WITHDRAWN in await finish(live, asked)
    assert find_secrets(town.bot_text("bob")) == ""
    assert find_secrets(await live.ask("bob", "square", way="private")) == "agate"


@pytest.mark.long
@DISCORD
async def test_member_losing_a_role_gets_no_more_of_its_channel(live: LiveBot[DiscordTown]) -> None:
    town = live.town
    cooks = town.discord.role(town.guild, "cooks")
    for name in ("ada", "bob"):
        town.add_person(name, roles=[cooks])
    town.add_channel("square")
    town.add_channel("kitchen", only=[cooks])
    await live.post_passwords(square="agate", kitchen="beryl")
    alone = await ask_slowly(live, "bob", "square", "private")
    asked = await town.ask("ada", "kitchen")
    await live.wait_for(lambda: "beryl" in live.text(asked))
    town.discord.revokes(town.person("bob"), cooks)
    assert texts.ANSWER_WITHDRAWN in await finish(live, alone)
    assert "and more" in live.text(asked)
    assert find_secrets(town.bot_text("bob")) == ""
    assert find_secrets(await live.ask("bob", "square", way="private")) == "agate"


# What is shared, remembered, suggested or left standing afterwards.


async def test_answer_is_redacted_once_its_source_channel_closes(live: LiveBot[Any]) -> None:
    live.town.add_channel("square", "ada bob")
    live.town.add_channel("market", "ada")
    await live.post_passwords(square="agate", market="beryl")
    assert find_secrets(await live.ask("ada", "square")) == "agate beryl"
    await live.town.make_private("market", "ada")
    await live.wait_for_corrections()
    assert "Changed since " in live.town.bot_text("bob")
    assert find_secrets(live.town.bot_text("bob")) == "agate"
    assert "beryl" not in await live.run_command("bob", "square", "sources")
    assert "beryl" not in live.town.bot_text("bob")


@pytest.mark.long
async def test_restricted_channel_suggests_no_names(live: LiveBot[Any]) -> None:
    town = live.town
    town.add_channel("square", "ada bob")
    town.add_channel("market", "ada")
    await live.read("square", "market")
    await town.say("ada", "market", "Quillon Abernathy meets Barnaby Finch at Marrowgate Abbey.")
    await live.close_conversations()

    async def suggested(person: str) -> list[str]:
        if isinstance(town, DiscordTown):
            return await town.person(person).autocompletes("graph", "name", "Quil", here=town.channels["square"])
        return await live.bot.suggest_names(town.person(person).id, town.location("square"), "Quil")

    assert await suggested("bob") == ["Quillon Abernathy"]
    await town.make_private("market", "ada")
    await town.wait_until_received(live.bot)
    assert await suggested("bob") == []
    await live.wait_until_idle()
    assert await suggested("ada") == ["Quillon Abernathy"]
    assert "Marrowgate" not in await live.run_command("bob", "square", "graph", name="Quillon Abernathy")


@pytest.mark.long
@SLACK
async def test_channel_mentions_show_a_name_only_while_public(live: LiveBot[SlackTown]) -> None:
    """What was written with the name before the channel turned private keeps it: everybody could read it."""
    town = live.town
    town.add_channel("square", "ada bob")
    town.add_channel("agate", "ada")
    town.add_channel("beryl", "ada", "private")
    town.add_channel("coral", "ada", "private", bot=False)
    before = await town.say("ada", "square", "Ask in #agate or #beryl or #coral for the password of the safe.")
    assert find_secrets(await live.ask("bob", "square")) == "agate"
    await town.make_private("agate")
    assert find_secrets(await live.ask("bob", "square")) == "agate"
    await town.delete(before)
    await town.say("ada", "square", "Once more: ask in #agate for the password of the safe.")
    again = await live.ask("bob", "square", f"Again: {QUESTION}")
    assert "Once more" in again
    assert find_secrets(again) == ""


@pytest.mark.long
@DISCORD
@pytest.mark.parametrize("away", ["stopped", "cut off"])
async def test_channel_restricted_during_downtime_is_hidden(live: LiveBot[DiscordTown], away: str) -> None:
    town = live.town
    town.add_channel("square")
    town.add_channel("market")
    await live.post_passwords(square="agate", market="beryl")
    if away == "stopped":
        await live.stop()
        await town.make_private("market", "ada")
        await live.start()
    else:
        town.discord.gateway.invalidate()
        town.discord.gateway.disconnect()
        await town.make_private("market", "ada")
        await town.discord.wait_until_connected()
    assert find_secrets(await live.ask("bob", "square", way="command")) == "agate"
    await live.wait_for_sync()
    assert find_secrets(await live.ask("ada", "market", way="command")) == "agate beryl"
