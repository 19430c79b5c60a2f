from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from adapters.discord.settings import TRAITS
from bot.commands.table import COMMANDS, list_commands
from bot.platform.events import ButtonPressed, CommandInvoked, FormSubmitted, MessageReceived, QuestionAsked
from bot.platform.forms import Form, FormField
from bot.platform.models import Button, Card
from bot.platform.ports import ReplyTarget
from tests.adapters.discord.conftest import Town
from tests.adapters.discord.recording_bot import until
from tests.support.discord_server import File, Permission
from tests.support.discord_server.people.client import ActionUnavailable

PLAN = File("plan.txt", b"plan", "text/plain")


async def test_every_command_is_registered_with_the_options_that_texts_name(town: Town) -> None:
    commands = town.fake.world.commands[""].values()
    names = {command["name"] for command in commands}
    assert list_commands(TRAITS).keys() | {"ask", "learn", "Ask about this", "Add to knowledge"} <= names
    options = {
        command["name"]: tuple(option["name"] for option in command.get("options", ()))
        for command in commands
        if command["type"] == 1 and command["name"] != "ask"  # which texts name without its options
    }
    assert options["settings"] == ("setting", "value")
    assert {name: TRAITS.argument_names.get(name, ()) for name in options} == options
    assert {name for name in options if COMMANDS[name].usage} <= TRAITS.argument_names.keys()


async def test_a_question_has_its_options_and_is_acknowledged_in_time(town: Town) -> None:
    used = await town.ada.slash("ask", here=town.square, question="who?", file=PLAN, private=True, mode="naive")
    asked = await town.bot.wait_for(QuestionAsked)
    assert (asked.text, asked.private, asked.mode) == ("who?", True, "naive")
    assert [upload.name for upload in asked.uploads] == ["plan.txt"]
    assert await town.platform.fetch_file(asked.location, asked.uploads[0], 100) == b"plan"
    assert (used.error, used.took < 3.0, town.bot.all(MessageReceived)) == ("", True, [])


@pytest.mark.parametrize(
    ("command", "options", "words"),
    [
        ("forget", {"what": "minutes.pdf"}, "minutes.pdf"),
        ("graph", {"name": "Ada"}, "Ada"),
        ("catch-up", {"since": "2h"}, "2h"),
        ("catch-up", {}, ""),
        ("digest", {"schedule": "weekly monday 9:00"}, "weekly monday 9:00"),
        ("help", {"topic": "forget"}, "forget"),
        ("sources", {}, ""),
        ("correct", {"correction": "add", "words": 'Ada "She reads."'}, 'add Ada "She reads."'),
    ],
)
async def test_options_become_words(town: Town, command: str, options: dict[str, Any], words: str) -> None:
    await town.bob.slash(command, here=town.square, **options)
    called = await town.bot.wait_for(CommandInvoked)
    assert (called.command, called.words, called.person) == (command, words, town.bob.id)
    assert called.time is not None
    assert timedelta() <= town.fake.clock.now() - called.time < timedelta(minutes=5)


async def test_managers_have_commands_that_others_do_not_see(town: Town) -> None:
    with pytest.raises(ActionUnavailable):
        await town.bob.slash("settings", here=town.square, setting="ingest", value="on")
    town.fake.gives(town.ada, town.fake.role(town.guild, "crew", Permission.MANAGE_GUILD))
    await town.ada.slash("settings", here=town.square, setting="ingest", value="on")
    await town.ada.slash("backfill", here=town.square, days=30)
    await town.bot.wait_for(CommandInvoked, 2)
    called = [(event.command, event.words) for event in town.bot.all(CommandInvoked)]
    assert called == [("settings", "ingest on"), ("backfill", "30")]


async def test_commands_say_whether_their_user_may_also_write_there(town: Town) -> None:
    thread = await town.ada.opens_thread(await town.ada.says(town.square, "about the roof"), "Roof")
    town.fake.overwrites(town.square, town.bob, deny=Permission.SEND_MESSAGES)
    town.fake.overwrites(town.square, town.ada, deny=Permission.SEND_MESSAGES_IN_THREADS)
    for person, place in ((town.ada, town.square), (town.bob, town.square), (town.ada, thread)):
        await person.slash("correct", here=place, correction="add", words='Ada "She reads."')
        await person.slash("ask", here=place, question="who?")
    asked = await town.bot.wait_for(QuestionAsked, 3)
    assert asked.location == town.location(town.square, thread.id)
    assert [event.may_write for event in town.bot.all(CommandInvoked)] == [True, False, False]
    assert [event.may_write for event in town.bot.all(QuestionAsked)] == [True, False, False]


async def test_files_and_messages_are_learned_or_asked_about(town: Town) -> None:
    await town.ada.slash("learn", here=town.square, file=PLAN)
    called = await town.bot.wait_for(CommandInvoked)
    assert (called.command, called.words, [upload.name for upload in called.uploads]) == ("learn", "", ["plan.txt"])
    await town.ada.slash("learn", here=town.square, file=PLAN, private=True)
    assert (await town.bot.wait_for(CommandInvoked, 2)).words == "private"
    posted = await town.ada.says(town.square, "The roof leaks.", files=[PLAN])
    await town.bob.context_menu("Ask about this", posted)
    asked = await town.bot.wait_for(QuestionAsked)
    assert (asked.text, asked.private, [upload.name for upload in asked.uploads]) == (
        "The roof leaks.",
        True,
        ["plan.txt"],
    )
    await town.bob.context_menu("Add to knowledge", posted)
    called = await town.bot.wait_for(CommandInvoked, 3)
    assert called.message is not None
    assert (called.command, called.message.id, called.message.author) == ("learn", posted.id, town.ada.id)
    assert (called.message.text, [upload.name for upload in called.message.uploads]) == (
        "The roof leaks.",
        ["plan.txt"],
    )


async def test_the_bots_suggestions_are_offered_for_names(town: Town) -> None:
    town.bot.names = [f"Ada {number}" for number in range(30)] + ["x" * 200]
    assert await town.ada.autocompletes("graph", "name", "ad", here=town.cellar) == town.bot.names[:25]
    assert town.bot.suggestions == [(town.ada.id, town.location(town.cellar), "ad")]


async def test_filters_are_completed_and_become_part_of_the_question(town: Town) -> None:
    town.bot.names = ["roof", "x" * 200]
    for option, name in (("in", "in"), ("from", "from"), ("after", "after"), ("before", "before")):
        assert await town.ada.autocompletes("ask", option, "ro", here=town.square) == ["#roof"]
        assert town.bot.suggestions[-1] == (town.ada.id, town.location(town.square), f"{name}:ro")
    options = {"in": f"<#{town.cellar.id}>", "from": "Ada Lovelace", "after": "2026-05", "has": "file"}
    await town.ada.slash("ask", here=town.square, question="who?", **options)
    asked = await town.bot.wait_for(QuestionAsked)
    assert asked.text == f'in:<#{town.cellar.id}> from:@"Ada Lovelace" after:2026-05 has:file who?'


async def test_a_forged_filter_is_refused_before_anything_is_asked(town: Town) -> None:
    await town.ada.slash("ask", here=town.square, question="who?", **{"from": "<@1> in:#cellar"})
    await until(lambda: "is not a value of" in town.fake.sees(town.ada, town.square).text)
    assert "is not a value of" not in town.fake.sees(town.bob, town.square).text
    assert town.bot.all(QuestionAsked) == []


async def test_only_the_person_who_pressed_a_button_sees_its_answer(town: Town) -> None:
    message = await town.platform.post(town.location(town.square), Card("Hello", None, (Button("👍", "up", "a1"),)))
    await town.bob.clicks(town.square.messages[message], "👍")
    clicked = await town.bot.wait_for(ButtonPressed)
    assert (clicked.action, clicked.value, clicked.person) == ("up", "a1", town.bob.id)
    target = ReplyTarget("", clicked.location, clicked.person, private=True, handle=clicked.handle)
    await town.platform.send_private(target, Card("Thank you"))
    assert town.fake.sees(town.bob, town.square).last.content == "Thank you"
    assert [post.content for post in town.fake.sees(town.ada, town.square).posts] == ["Hello"]


@pytest.mark.parametrize("refused", [False, True])
async def test_a_vote_is_received_with_its_form_and_confirmed_if_that_does_not_open(
    town: Town, *, refused: bool
) -> None:
    town.bot.form = Form("reason", "Why?", (FormField("comment", "Comment"),), "a1", handles_event=True)
    message = await town.platform.post(town.location(town.square), Card("So.", None, (Button("👎", "down", "a1"),)))
    if refused:
        town.fake.fail_next("POST", "/interactions/{interaction}/{token}/callback", status=400)
    used = await town.bob.clicks(town.square.messages[message], "👎")
    vote = await town.bot.wait_for(ButtonPressed, 2 if refused else 1)
    assert vote.opens_form is not refused
    assert bool(used.modal) is not refused
    if not refused:
        sent = await town.bob.submits(town.square, used.modal, {"comment": "Old."})
        form = await town.bot.wait_for(FormSubmitted)
        assert (form.form, form.value, form.answers, form.person) == (
            *("reason", "a1", (("comment", "Old."),), town.bob.id),
        )
        assert sent.private


async def test_a_command_that_cannot_be_stored_is_answered_with_the_error(town: Town) -> None:
    town.bot.failures = 1
    await town.ada.slash("status", here=town.square)
    await until(lambda: "data" in town.fake.sees(town.ada, town.square).text)
