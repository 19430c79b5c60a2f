from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from adapters.discord.traits import TRAITS
from bot.commands.table import list_commands
from bot.platform.events import ButtonPressed, CommandInvoked, MessageReceived, QuestionAsked
from bot.platform.models import Button, Card
from bot.platform.ports import ReplyTarget
from tests.support.discord_server import File, Permission
from tests.support.discord_server.people.client import ActionUnavailable

if TYPE_CHECKING:
    from tests.adapters.discord.conftest import Town


async def test_every_command_of_the_bot_is_there(town: Town) -> None:
    names = {command["name"] for command in town.fake.world.commands[""].values()}
    assert list_commands(TRAITS).keys() | {"ask", "learn", "Ask about this", "Add to knowledge"} <= names


async def test_a_question_comes_with_its_options(town: Town) -> None:
    plan = File("plan.txt", b"plan", "text/plain")
    await town.ada.enters(town.square).slash("ask", question="who?", file=plan, private=True, mode="naive")
    asked = await town.ear.hears(QuestionAsked)
    assert (asked.text, asked.private, asked.mode) == ("who?", True, "naive")
    assert [each.name for each in asked.uploads] == ["plan.txt"]
    assert await town.platform.fetch_file(asked.uploads[0], 100) == b"plan"


@pytest.mark.parametrize(
    ("command", "options", "words"),
    [
        ("forget", {"what": "minutes.pdf"}, "minutes.pdf"),
        ("graph", {"name": "Ada"}, "Ada"),
        ("catch-up", {"since": "2h"}, "2h"),
        ("catch-up", {}, ""),
        ("help", {"topic": "forget"}, "forget"),
        ("sources", {}, ""),
    ],
)
async def test_options_become_words(town: Town, command: str, options: dict[str, Any], words: str) -> None:
    await town.bob.enters(town.square).slash(command, **options)
    called = await town.ear.hears(CommandInvoked)
    assert (called.command, called.words, called.person) == (command, words, town.bob.id)
    assert called.time is not None
    assert timedelta() <= datetime.now(UTC) - called.time < timedelta(minutes=5)


async def test_managers_have_commands_that_others_do_not_see_but_everybody_may_state_something(town: Town) -> None:
    with pytest.raises(ActionUnavailable):
        await town.bob.enters(town.square).slash("settings", setting="ingest", value="on")
    await town.bob.slash("correct", correction="add", words='Ada "She reads."')
    assert (await town.ear.hears(CommandInvoked)).words == 'add Ada "She reads."'
    town.ear.heard.clear()
    town.fake.gives(town.ada, town.fake.role(town.guild, "crew", Permission.MANAGE_GUILD))
    await town.ada.enters(town.square).slash("settings", setting="ingest", value="on")
    await town.ada.slash("backfill", days=30)
    await town.ada.slash("correct", correction="merge", words='"Ada L." Ada')
    await town.ear.hears(CommandInvoked, 3)
    assert [(each.command, each.words) for each in town.ear.all(CommandInvoked)] == [
        ("settings", "ingest on"),
        ("backfill", "30"),
        ("correct", 'merge "Ada L." Ada'),
    ]


async def test_a_file_is_handed_over(town: Town) -> None:
    await town.ada.enters(town.square).slash("learn", file=File("plan.txt", b"plan", "text/plain"))
    called = await town.ear.hears(CommandInvoked)
    assert (called.command, [each.name for each in called.uploads]) == ("learn", ["plan.txt"])


async def test_it_is_told_whether_somebody_may_also_write_where_he_gives_a_command(town: Town) -> None:
    start = await town.ada.says(town.square, "about the roof")
    thread = await town.ada.opens_thread(start, "Roof")
    town.fake.overwrites(town.square, town.bob, deny=Permission.SEND_MESSAGES)
    town.fake.overwrites(town.square, town.ada, deny=Permission.SEND_MESSAGES_IN_THREADS)
    for person, place in ((town.ada, town.square), (town.bob, town.square), (town.ada, thread)):
        await person.enters(place).slash("correct", correction="add", words='Ada "She reads."')
        await person.slash("ask", question="who?")
    await town.ear.hears(QuestionAsked, 3)
    assert [each.may_write for each in town.ear.all(CommandInvoked)] == [True, False, False]
    assert [each.may_write for each in town.ear.all(QuestionAsked)] == [True, False, False]


async def test_a_message_is_asked_about_or_added(town: Town) -> None:
    said = await town.ada.says(town.square, "The roof leaks.", files=[File("plan.txt", b"plan", "text/plain")])
    await town.bob.enters(town.square).context_menu("Ask about this", said)
    asked = await town.ear.hears(QuestionAsked)
    assert (asked.text, asked.private, [each.name for each in asked.uploads]) == ("The roof leaks.", True, ["plan.txt"])
    await town.bob.context_menu("Add to knowledge", said)
    called = await town.ear.hears(CommandInvoked)
    assert called.message is not None
    assert (called.command, called.message.id, called.message.author) == ("learn", said.id, town.ada.id)
    assert (called.message.text, [each.name for each in called.message.uploads]) == ("The roof leaks.", ["plan.txt"])


async def test_names_are_offered_from_what_the_asker_may_read(town: Town) -> None:
    town.ear.names = [f"Ada {number}" for number in range(30)] + ["x" * 200]
    offered = await town.ada.enters(town.cellar).autocompletes("graph", "name", "ad")
    assert offered == town.ear.names[:25]
    assert town.ear.asked_for == [(town.ada.id, town.place(town.cellar), "ad")]


async def test_a_command_in_a_thread_bears_its_place(town: Town) -> None:
    start = await town.ada.says(town.square, "about the roof")
    thread = await town.ada.opens_thread(start, "Roof")
    await town.ada.slash("ask", here=thread, question="who?")
    asked = await town.ear.hears(QuestionAsked)
    assert (asked.location.channel, asked.location.thread) == (town.square.id, thread.id)


async def test_a_button_tells_what_it_means_and_its_answer_is_for_the_one_who_pressed_it(town: Town) -> None:
    message = await town.platform.post(town.place(town.square), Card("Hello", None, (Button("👍", "up", "a1"),)))
    await town.bob.clicks(town.square.messages[message], "👍")
    clicked = await town.ear.hears(ButtonPressed)
    assert (clicked.action, clicked.value, clicked.person) == ("up", "a1", town.bob.id)
    target = ReplyTarget("", clicked.location, clicked.person, private=True, handle=clicked.handle)
    await town.platform.send_private(target, Card("Thank you"))
    assert town.fake.sees(town.bob, town.square).last.content == "Thank you"
    assert [post.content for post in town.fake.sees(town.ada, town.square).posts] == ["Hello"]


async def test_what_cannot_be_kept_is_said(town: Town) -> None:
    town.ear.broken = True
    await town.ada.enters(town.square).slash("status")
    await town.fake.wait_for(lambda: "data" in town.fake.sees(town.ada, town.square).text)


async def test_every_interaction_is_acknowledged_within_its_time(town: Town) -> None:
    interaction = await town.ada.enters(town.square).slash("ask", question="who?")
    assert (interaction.error, interaction.took < 3.0) == ("", True)
    await town.ear.hears(QuestionAsked)
    assert town.ear.all(MessageReceived) == []


async def test_the_options_that_texts_name_are_those_of_the_commands(town: Town) -> None:
    commands = town.fake.world.commands[""].values()
    taken = {
        each["name"]: tuple(option["name"] for option in each.get("options", ()))
        for each in commands
        if each.get("type", 1) == 1 and each["name"] != "ask"  # which texts name without its words
    }
    assert taken["settings"] == ("setting", "value")
    assert {name: TRAITS.argument_names.get(name, ()) for name in taken} == taken
