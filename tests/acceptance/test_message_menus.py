"""The menu of a message: ask about it, add it to the index, summarize its thread; for those who can read it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.commands.learn import ALREADY_INDEXED
from tests.support.town.live_bot import LiveBot, reply
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import QUESTION, find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLACK = pytest.mark.platforms("slack")


@pytest.mark.long
async def test_a_thread_is_summarized_for_the_person_alone(live: LiveBot[Any]) -> None:
    town = live.town
    town.add_channel("square", "ada bob")
    await live.read("square")
    said = await reply(town, "agate")
    await live.wait_until_idle()
    assert find_secrets(await live.answer(await town.use_menu("ada", "Summarize thread", said))) == "agate"
    assert "agate" not in town.bot_text("bob")
    assert ALREADY_INDEXED in await live.answer(await town.use_menu("bob", "Add to knowledge", said))


@pytest.mark.long
@SLACK
async def test_a_question_about_a_message_is_asked_in_a_form(live: LiveBot[SlackTown]) -> None:
    town = live.town
    town.add_channel("square", "ada bob")
    town.add_channel("cellar", "ada carla", "private")
    town.add_channel("yard", "ada", bot=False)
    said = await live.post_passwords(square="agate", cellar="beryl")
    await town.use_menu("ada", "Ask about this", said["cellar"])
    form = town.open_form("ada", "cellar")
    assert form.values["question"] == said["cellar"].message.text
    assert await town.person("ada").submits({"question": " "}, form.handle) == {"question": "This is needed."}
    # Bob is not in the channel; he gets an answer from what he can read.
    forged = await town.submit_form(form, "bob", question=QUESTION)
    await live.answer(forged)
    assert "beryl" not in town.bot_text("bob")
    assert find_secrets(await live.answer(await town.submit_form(form, question=QUESTION))) == "agate beryl"
    assert "beryl" not in town.bot_text("carla")
    await town.use_menu("carla", "Ask about this", said["cellar"])
    late = town.open_form("carla", "cellar")
    await town.remove_member("carla", "cellar")
    await live.wait_until_idle()
    await live.restart()
    hostile = f"{QUESTION} <!channel> @everyone <@{town.person('ada').id}> https://evil.example/?q=1"
    await live.answer(await town.submit_form(late, question=hostile))
    sent = [
        message
        for message in town.channels["cellar"].channel.ephemeral_messages
        if message.only_for == town.person("carla").id
    ]
    shown = " ".join(f"{message.text} {message.blocks}" for message in sent)
    assert find_secrets(shown) == "agate"
    assert list(town.pings) == []
    outside = await town.say("ada", "yard", "The gate is open.")
    assert "Invite me" in await live.answer(await town.use_menu("ada", "Add to knowledge", outside))
    assert await live.titles("yard") == []
