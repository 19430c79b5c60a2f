"""Questions, whatever way they came."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.answers.request import answer_id, commanded, heard, spoken
from bot.platform.events import Asked
from bot.platform.models import Message, Place, Upload
from tests.support.fake_platform import START

HALL = Place("slack", "T1", "HALL")
NOTES = Upload("F1", "notes.txt", 3, "text/plain", "https://files.example/F1")
SAID = Message("m1", HALL, "ada", "<@BOT> Who?", START, (NOTES,))
COMMAND = Asked("i1", HALL, "ada", "Who?", START, (NOTES,), private=True, mode="naive", handle="h")


def test_a_message_is_answered_in_its_thread() -> None:
    assert heard(SAID).place == Place("slack", "T1", "HALL", "m1")
    assert heard(replace(SAID, place=replace(HALL, thread="m0"))).place.thread == "m0"


def test_a_talk_that_belongs_to_no_workspace_is_one_thread() -> None:
    assert heard(replace(SAID, place=Place("discord", "", "D1"))).place.thread == ""


def test_its_files_are_those_that_came_with_it() -> None:
    assert heard(SAID).files == commanded(COMMAND).files == (NOTES,)


def test_a_command_is_answered_by_its_handle() -> None:
    target = commanded(COMMAND).target("mark")
    assert (target.private, target.handle, target.message, target.mark) == (True, "h", "", "mark")


def test_the_same_question_has_the_same_id_and_another_one_another() -> None:
    assert heard(SAID).id == answer_id(HALL, "m1")
    assert answer_id(HALL, "m1") != answer_id(HALL, "m2")
    assert answer_id(HALL, "m1") != answer_id(replace(HALL, channel="YARD"), "m1")
    assert heard(SAID).id.startswith(heard(SAID).reference)


@pytest.mark.parametrize("text", ["<@BOT> Who?", "<@!1> Who?", "<@BOT|bot>, Who?", "Who?", "  <@BOT>:Who? "])
def test_the_mention_that_a_question_begins_with_is_left_out(text: str) -> None:
    assert spoken(text) == "Who?"


def test_only_the_first_one() -> None:
    assert spoken("<@BOT> does <@ada> know?") == "does <@ada> know?"
    assert spoken("<@BOT> <@ada>?") == "<@ada>?"
