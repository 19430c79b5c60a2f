from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.slack.events.commands import parse_click, parse_command
from bot.platform.events import ButtonPressed, CommandInvoked, PlatformEvent, QuestionAsked
from bot.platform.models import Location
from tests.adapters.slack.payloads import US

NOW = datetime(2026, 11, 20, 10, 3, tzinfo=UTC)
KNOWN = frozenset({"status", "forget", "help"})


def typed(text: str) -> PlatformEvent:
    body = {"text": text, "user_id": "UADA", "channel_id": "C1", "trigger_id": "7.8", "response_url": "https://hooks/1"}
    told = parse_command(body, US, KNOWN, NOW)
    assert told.keys == ("slack:command:7.8",)
    return told.event


def test_ask_is_a_private_question() -> None:
    asked = typed("ask  where is the key?")
    assert asked == QuestionAsked(
        "7.8", Location("slack", "T1", "C1"), "UADA", "where is the key?", NOW, handle="https://hooks/1"
    )


def test_several_words_without_a_command_are_a_question() -> None:
    asked = typed("where is the key?")
    assert isinstance(asked, QuestionAsked)
    assert asked.text == "where is the key?"


def test_a_command_is_called_with_the_words_behind_it() -> None:
    called = typed("Forget the minutes of May")
    assert isinstance(called, CommandInvoked)
    assert (called.command, called.words, called.handle) == ("forget", "the minutes of May", "https://hooks/1")
    assert called.time == NOW


@pytest.mark.parametrize("text", ["", "ask", "help", "stauts"])
def test_help_is_given_where_there_is_no_question(text: str) -> None:
    called = typed(text)
    assert isinstance(called, CommandInvoked)
    assert called.command == "help"


def pressed(action: dict[str, Any]) -> PlatformEvent | None:
    told = parse_click(
        {
            "user": {"id": "UADA"},
            "channel": {"id": "C1"},
            "container": {"message_ts": "5.6", "thread_ts": "1.2"},
            "response_url": "https://hooks/2",
            "actions": [{"action_ts": "9.9", **action}],
        },
        US,
    )
    return told.event if told else None


def test_a_button_brings_back_its_action_and_value() -> None:
    clicked = pressed({"action_id": "threadlore.delete.0", "value": "a1"})
    assert isinstance(clicked, ButtonPressed)
    assert (clicked.action, clicked.value, clicked.location.thread) == ("delete", "a1", "1.2")
    assert clicked.handle == "https://hooks/2"


def test_a_thumb_tells_which_way_it_points() -> None:
    clicked = pressed({"action_id": "threadlore.feedback", "value": "down a1", "type": "feedback_buttons"})
    assert isinstance(clicked, ButtonPressed)
    assert (clicked.action, clicked.value) == ("down", "a1")


def test_the_button_of_another_app_is_nothing() -> None:
    assert pressed({"action_id": "other", "value": "a1"}) is None
