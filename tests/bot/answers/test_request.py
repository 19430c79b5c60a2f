"""Questions from messages and from commands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.answers.question import answer_id, request_from_command, request_from_message
from bot.platform.events import QuestionAsked
from bot.platform.models import Location, Upload
from bot.text.speech.mentions import strip_mention
from tests.support.builders import HALL, make_message
from tests.support.fake_platform import START

NOTES = (Upload("F1", "notes.txt", 3, "text/plain", "https://files.example/F1"),)
MESSAGE = make_message("m1", "<@BOT> Who?", location=HALL, uploads=NOTES)
COMMAND = QuestionAsked("i1", HALL, "ada", "Who?", START, NOTES, private=True, mode="naive", handle="h")


@pytest.mark.parametrize(
    ("place", "thread"),
    [(HALL, "m1"), (replace(HALL, thread="m0"), "m0"), (Location("discord", "", "D1"), "")],
    ids=["in its own thread", "in the thread it stands in", "a direct message is one thread"],
)
def test_a_message_is_answered_in_its_thread(place: Location, thread: str) -> None:
    assert request_from_message(replace(MESSAGE, location=place)).location == replace(place, thread=thread)


def test_a_command_is_answered_by_its_handle() -> None:
    target = request_from_command(COMMAND).reply_target("mark")
    assert (target.private, target.handle, target.message, target.reply_ref) == (True, "h", "", "mark")


def test_files_come_with_messages_and_commands() -> None:
    assert request_from_message(MESSAGE).uploads == request_from_command(COMMAND).uploads == NOTES


def test_the_same_question_has_the_same_id_and_another_one_another() -> None:
    request = request_from_message(MESSAGE)
    assert request.id == answer_id(HALL, "m1")
    assert len({request.id, answer_id(HALL, "m2"), answer_id(replace(HALL, channel="YARD"), "m1")}) == 3
    assert request.id.startswith(request.reference)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        *((text, "Who?") for text in ("<@BOT> Who?", "<@!1> Who?", "<@BOT|bot>, Who?", "Who?", "  <@BOT>:Who? ")),
        ("<@BOT> does <@ada> know?", "does <@ada> know?"),
        ("<@BOT> <@ada>?", "<@ada>?"),
        ("<@BOT> <@BOT|bot>: Who?", "Who?"),
    ],
)
def test_only_the_leading_mention_is_left_out(text: str, question: str) -> None:
    assert strip_mention(text) == question
