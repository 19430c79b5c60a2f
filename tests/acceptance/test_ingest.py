"""What becomes known: files, messages that are added by hand, the past of a channel; and what people may refuse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.commands.learn import ALREADY_INDEXED, MESSAGE_INDEXED
from bot.model_setup.opened import EngineModels
from tests.demos.slack_day import load_manifest
from tests.support.slack_server import FakeSlack
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot, open_live_bot, password
from tests.support.town.protocol import Asked, TownFile
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import QUESTION, find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLACK, DISCORD = pytest.mark.platforms("slack"), pytest.mark.platforms("discord")
MANUAL = TownFile()
LOGIN = "<!DOCTYPE html><html><head><title>Log in</title></head><body>Log in: diamond</body></html>"
SIGNS = {"slack": ["white_check_mark"], "discord": ["✅"]}


async def test_a_shared_file_is_read_confirmed_and_gone_with_its_message(live: LiveBot[Any]) -> None:
    live.town.add_channel("square", "ada")
    await live.read("square")
    said = await live.town.say("ada", "square", "How to open it.", files=[MANUAL])
    await live.wait_until_idle()
    assert live.town.reactions(said) == SIGNS[live.town.platform]
    assert find_secrets(await live.ask("ada", "square")) == "emerald"
    await live.town.delete(said)
    await live.wait_until_idle()
    assert find_secrets(await live.ask("ada", "square", f"Again: {QUESTION}")) == ""


async def test_edited_message_is_answered_in_its_new_form(live: LiveBot[Any]) -> None:
    live.town.add_channel("square", "ada")
    said = (await live.post_passwords(square="agate"))["square"]
    assert find_secrets(await live.ask("ada", "square")) == "agate"
    await live.town.edit(said, password("beryl"))
    await live.wait_until_idle()
    assert find_secrets(await live.ask("ada", "square")) == "beryl"


async def test_forget_me_deletes_their_messages(live: LiveBot[Any]) -> None:
    live.town.add_channel("square", "ada bob")
    await live.read("square")
    await live.town.say("ada", "square", password("agate"))
    await live.town.say("bob", "square", password("beryl"))
    await live.wait_until_idle()
    await live.run_command("ada", "square", "forget-me")
    await live.town.say("ada", "square", password("coral"))
    assert find_secrets(await live.ask("bob", "square")) == "beryl"


@pytest.mark.long
@SLACK
async def test_a_login_page_in_place_of_a_slack_file_is_not_indexed(tmp_path: Path, models: EngineModels) -> None:
    app = load_manifest()
    town = SlackTown(FakeSlack(replace(app, scopes=app.scopes - {"files:read"})))
    async with open_live_bot(town, tmp_path, models) as live:
        town.add_channel("square", "ada")
        await live.post_passwords(square="agate")
        said = await town.say("ada", "square", "Read it.", files=[TownFile("report.txt", password("beryl"))])
        await live.wait_until_idle()
        assert town.reactions(said) == ["warning"]
        assert "I need the permission “files:read”" in town.bot_text("ada")
        assert "1 document," in await live.run_command("ada", "square", "status")
        answer = await live.ask("ada", "square")
        assert find_secrets(answer) == "agate"
        assert "report" not in answer


@DISCORD
@pytest.mark.parametrize("status", [200, 404])
async def test_a_page_in_place_of_a_discord_file_is_not_indexed(live: LiveBot[DiscordTown], status: int) -> None:
    live.town.add_channel("square")
    await live.read("square")
    if status != 200:
        live.town.discord.fail_next("GET", "/attachments", status=status)
    said = await live.town.say("ada", "square", files=[TownFile("plan.pdf", LOGIN, "application/pdf")])
    await live.wait_until_idle()
    assert live.town.reactions(said) == ["⚠️"]
    assert [post for post in live.town.bot_posts("ada", "square") if "plan.pdf" in post.text] == []
    assert await live.titles("square") == []


@pytest.mark.long
@DISCORD
async def test_learned_file_is_visible_to_channel_readers(live: LiveBot[DiscordTown]) -> None:
    live.town.add_channel("square")
    live.town.add_channel("cellar", "ada", "private")
    await live.read("square", "cellar")
    assert "I've indexed" in await live.run_command("ada", "cellar", "learn", file=MANUAL)
    assert find_secrets(await live.ask("ada", "cellar")) == "emerald"
    assert find_secrets(await live.ask("bob", "square", way="private")) == ""
    assert find_secrets(live.town.bot_text("bob")) == ""


@DISCORD
async def test_a_question_with_a_file_is_answered_from_it_first(live: LiveBot[DiscordTown]) -> None:
    live.town.add_channel("square")
    await live.post_passwords(square="agate")
    asked = await live.town.run_command("ada", "square", "ask", question=QUESTION, file=MANUAL, private=True)
    assert find_secrets(await live.answer(asked)) == "emerald"


@pytest.mark.long
@DISCORD
async def test_a_message_is_added_and_asked_about_by_its_menu(live: LiveBot[DiscordTown]) -> None:
    town = live.town
    town.add_channel("square")
    town.add_channel("quiet")

    async def choose(command: str, said: Any) -> str:
        return await live.answer(await town.use_menu("ada", command, said))

    dropped = await town.say("ada", "quiet", files=[MANUAL])
    said = await town.say("ada", "square", password("agate"))
    assert "`/settings setting:ingest value:on`" in await choose("Add to knowledge", said)
    await live.read("square")
    assert ALREADY_INDEXED in await choose("Add to knowledge", said)
    await live.run_command("ada", "square", "forget-me")
    await live.run_command("ada", "square", "remember-me")
    assert find_secrets(await live.ask("ada", "square")) == ""
    assert MESSAGE_INDEXED in await choose("Add to knowledge", said)
    assert "I've indexed" in await choose("Add to knowledge", dropped)
    assert find_secrets(await live.ask("ada", "quiet", f"Again: {QUESTION}")) == "agate emerald"
    assert "agate" in await choose("Ask about this", said)
    assert find_secrets(town.bot_text("bob")) == "agate emerald", "of the public answer alone"


@DISCORD
async def test_replied_to_message_is_context_until_deleted(live: LiveBot[DiscordTown]) -> None:
    town = live.town
    town.add_channel("square")
    town.add_channel("quiet")
    await live.post_passwords(square="beryl")
    said = await town.say("ada", "quiet", password("agate"))
    text = f"{town.bot_member.mention} what is the password?"
    asked = Asked("ada", "quiet", await town.person("ada").says(town.channels["quiet"], text, reply_to=said))
    assert find_secrets(await live.answer(asked)) == "agate beryl"
    await town.delete(said)
    again = await town.follow_up("ada", asked, "Which password was that?")
    assert find_secrets(await live.answer(again)) == "beryl"


@pytest.mark.long
@DISCORD
async def test_enabling_a_channel_backfills_only_that_channel(live: LiveBot[DiscordTown]) -> None:
    town = live.town
    for name, kind in (("square", "public"), ("quiet", "public"), ("ideas", "forum")):
        town.add_channel(name, kind=kind)
    await town.say("ada", "square", password("agate"))
    await town.say("ada", "quiet", password("beryl"))
    post = await town.person("ada").posts(town.channels["ideas"], "The old safe", password("coral"))
    await live.read("square")
    assert find_secrets(await live.ask("ada", "square")) == "agate"
    town.channels["post"] = post.channel
    await live.read("post")
    await town.person("ada").posts(town.channels["ideas"], "The new safe", password("diamond"))
    await live.wait_until_idle()
    answer = await live.ask("ada", "square", f"Again: {QUESTION}")
    assert find_secrets(answer) == "agate coral diamond"
    assert "The new safe" in answer
