from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.slack.events.commands import parse_click, parse_command
from bot.platform.events import ButtonPressed, CommandInvoked, PlatformEvent, QuestionAsked
from bot.platform.models import Location
from tests.adapters.slack.workspace.test_users import IDENTITY

NOW = datetime(2026, 11, 20, 10, 3, tzinfo=UTC)
C1, HANDLE = Location("slack", "T1", "C1"), "https://hooks/1"
NAMES = frozenset({"status", "forget", "help"})


def ask(text: str) -> PlatformEvent:
    return QuestionAsked("7.8", C1, "UADA", text, NOW, handle=HANDLE)


def invoke(command: str, words: str = "") -> PlatformEvent:
    return CommandInvoked("7.8", C1, "UADA", command, words, handle=HANDLE, time=NOW)


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("ask  where is the key?", ask("where is the key?")),
        ("where is the key?", ask("where is the key?")),
        ("Forget the minutes of May", invoke("forget", "the minutes of May")),
        ("status", invoke("status")),
        *((text, invoke("help")) for text in ("", "ask", "help", "stauts")),
    ],
)
def test_a_slash_command_is_a_question_or_a_command_of_the_bot(text: str, event: PlatformEvent) -> None:
    body = {"text": text, "user_id": "UADA", "channel_id": "C1", "trigger_id": "7.8", "response_url": HANDLE}
    translated = parse_command(body, IDENTITY, NAMES, NOW)
    assert (translated.event, translated.keys) == (event, ("slack:command:T1:7.8",))


@pytest.mark.parametrize(
    ("action", "pressed"),
    [
        ({"action_id": "threadlore.delete.0", "value": "a1"}, ("delete", "a1")),
        ({"action_id": "threadlore.feedback", "value": "down a1", "type": "feedback_buttons"}, ("down", "a1")),
        ({"action_id": "other", "value": "a1"}, None),
    ],
)
def test_a_button_brings_back_its_action_and_value(action: dict[str, Any], pressed: tuple[str, str] | None) -> None:
    body = {
        "user": {"id": "UADA"},
        "channel": {"id": "C1"},
        "container": {"message_ts": "5.6", "thread_ts": "1.2"},
        "response_url": HANDLE,
        "actions": [{"action_ts": "9.9", **action}],
    }
    translated = parse_click(body, IDENTITY)
    if pressed is None:
        assert translated is None
        return
    location = Location("slack", "T1", "C1", "1.2")
    assert translated is not None
    assert translated.event == ButtonPressed("C1:5.6:UADA:9.9", location, "UADA", *pressed, handle=HANDLE)
