"""Questions, whatever way they came."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.answers.request import answer_id, request_from_command, request_from_message, strip_mention
from bot.platform.events import QuestionAsked
from bot.platform.models import Location, Message, Upload
from tests.support.fake_platform import START

HALL = Location("slack", "T1", "HALL")
NOTES = Upload("F1", "notes.txt", 3, "text/plain", "https://files.example/F1")
SAID = Message("m1", HALL, "ada", "<@BOT> Who?", START, (NOTES,))
COMMAND = QuestionAsked("i1", HALL, "ada", "Who?", START, (NOTES,), private=True, mode="naive", handle="h")


def test_a_message_is_answered_in_its_thread() -> None:
    assert request_from_message(SAID).location == Location("slack", "T1", "HALL", "m1")
    assert request_from_message(replace(SAID, location=replace(HALL, thread="m0"))).location.thread == "m0"


def test_a_talk_that_belongs_to_no_workspace_is_one_thread() -> None:
    assert request_from_message(replace(SAID, location=Location("discord", "", "D1"))).location.thread == ""


def test_its_files_are_those_that_came_with_it() -> None:
    assert request_from_message(SAID).uploads == request_from_command(COMMAND).uploads == (NOTES,)


def test_a_command_is_answered_by_its_handle() -> None:
    target = request_from_command(COMMAND).reply_target("mark")
    assert (target.private, target.handle, target.message, target.reply_ref) == (True, "h", "", "mark")


def test_the_same_question_has_the_same_id_and_another_one_another() -> None:
    assert request_from_message(SAID).id == answer_id(HALL, "m1")
    assert answer_id(HALL, "m1") != answer_id(HALL, "m2")
    assert answer_id(HALL, "m1") != answer_id(replace(HALL, channel="YARD"), "m1")
    assert request_from_message(SAID).id.startswith(request_from_message(SAID).reference)


@pytest.mark.parametrize("text", ["<@BOT> Who?", "<@!1> Who?", "<@BOT|bot>, Who?", "Who?", "  <@BOT>:Who? "])
def test_the_mention_that_a_question_begins_with_is_left_out(text: str) -> None:
    assert strip_mention(text) == "Who?"


def test_only_the_first_one() -> None:
    assert strip_mention("<@BOT> does <@ada> know?") == "does <@ada> know?"
    assert strip_mention("<@BOT> <@ada>?") == "<@ada>?"
