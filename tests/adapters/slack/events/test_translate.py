from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.events.translate import TranslatedEvent, translate_event
from bot.platform.events import (
    BotAdded,
    ChannelRemoved,
    FilesRemoved,
    MessageEdited,
    MessageReceived,
    MessagesDeleted,
    PlatformEvent,
    VisibilityChanged,
    WorkspaceLeft,
)
from bot.platform.models import Location, Upload
from tests.adapters.slack.workspace.test_users import IDENTITY

C1, WORKSPACE = Location("slack", "T1", "C1"), Location("slack", "T1", "")
TS = "1700000000.000100"
POSTED = {"type": "message", "channel": "C1", "channel_type": "channel", "user": "UADA", "ts": TS, "text": "hello"}
CHANGED, DELETED = {**POSTED, "subtype": "message_changed"}, {**POSTED, "subtype": "message_deleted"}
OWN = {**POSTED, "user": "UBOT", "bot_id": "BBOT"}
JOINED = {"type": "member_joined_channel", "user": "UBOT", "channel": "C1", "inviter": "UADA"}
LEFT = {**JOINED, "type": "member_left_channel"}
ROBOT = {"bot_id": "B2", "user": "UOTHER"}
PDF = {
    "id": "F1",
    "name": "a.pdf",
    "size": 9,
    "mimetype": "application/pdf",
    "url_private": "https://files.slack.com/a",
}

PLAIN = {"author": "UADA", "text": "hello", "uploads": (), "by_bot": False, "thread": "", "addressed": False}


def translate(event: dict[str, Any], event_id: str = "Ev1", team: str = "T1") -> TranslatedEvent | None:
    body = {"type": "event_callback", "team_id": team, "event_id": event_id, "event": event}
    return translate_event(body, IDENTITY)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, {}, id="a message"),
        pytest.param({"text": "<@UBOT>: where?"}, {"text": "<@UBOT>: where?", "addressed": True}, id="a mention"),
        pytest.param(
            {"text": "does <@UBOT> know?"}, {"text": "does <@UBOT> know?", "addressed": True}, id="a mention inside"
        ),
        pytest.param({"channel_type": "im"}, {"addressed": True}, id="a direct message"),
        pytest.param({"thread_ts": "1690000000.000100"}, {"thread": "1690000000.000100"}, id="a reply"),
        pytest.param({"thread_ts": TS}, {}, id="the root of a thread"),
        pytest.param(
            {"subtype": "file_share", "files": [PDF, {"id": "F2", "mode": "tombstone"}]},
            {"uploads": (Upload("F1", "a.pdf", 9, "application/pdf", "https://files.slack.com/a"),)},
            id="a file and a deleted one",
        ),
        pytest.param(
            {"files": [{"id": "F1", "name": "a.pdf", "mode": "hidden_by_limit"}]},
            {"uploads": (Upload("F1", "a.pdf", 0, "", ""),)},
            id="a file that a free plan hides",
        ),
        pytest.param(
            {"files": [{"id": "F1", "file_access": "check_file_info"}]},
            {"uploads": (Upload("F1", "F1", 0, "", ""),)},
            id="a file of another workspace",
        ),
        pytest.param(
            {**ROBOT, "text": "<@UBOT> hi"}, {"by_bot": True, "author": "UOTHER", "text": "<@UBOT> hi"}, id="an app"
        ),
        pytest.param({**ROBOT, "channel_type": "im"}, {"by_bot": True, "author": "UOTHER"}, id="an app in private"),
        pytest.param(
            {"subtype": "bot_message", "user": "", "bot_id": "B2", "text": "", "attachments": [{"fallback": "failed"}]},
            {"by_bot": True, "author": "B2", "text": "failed"},
            id="an app's attachment",
        ),
        pytest.param({"text": "", "attachments": [{"text": "secret"}]}, {"text": "secret"}, id="a person's attachment"),
    ],
)
@pytest.mark.parametrize("team", ["T1", "T2"], ids=["of this workspace", "of another"])
def test_a_message(changes: dict[str, Any], expected: dict[str, Any], team: str) -> None:
    translated = translate({**POSTED, **changes, "team": team}, team=team)
    assert translated is not None
    event = translated.event
    assert isinstance(event, MessageReceived)
    message = event.message
    assert (message.id, message.time.isoformat()) == (TS, "2023-11-14T22:13:20.000100+00:00")
    assert (message.location.workspace, message.location.channel) == ("T1", "C1")
    facts = {name: getattr(message, name) for name in ("author", "text", "uploads", "by_bot")}
    assert {**facts, "thread": message.location.thread, "addressed": event.addressed} == {**PLAIN, **expected}


def test_a_mention_and_its_message_are_one_event() -> None:
    posted = {**POSTED, "text": "<@UBOT> hm?"}
    plain, mention = translate(posted), translate({**posted, "type": "app_mention"}, "Ev2")
    assert plain is not None
    assert mention is not None
    assert plain.event == mention.event
    assert [each.keys for each in (plain, mention)] == [
        (f"slack:event:T1:{event_id}", f"slack:message:T1:C1:{TS}") for event_id in ("Ev1", "Ev2")
    ]


@pytest.mark.parametrize("edited", [{}, {"edited": {"user": "UADA", "ts": "1700000009.000000"}}])
def test_an_edit_has_a_time_and_a_preview_has_none(edited: dict[str, Any]) -> None:
    translated = translate({**CHANGED, "message": {**POSTED, "text": "new", **edited}})
    assert translated is not None
    assert isinstance(translated.event, MessageEdited)
    message = translated.event.message
    assert (message.id, message.text, message.edited) == (TS, "new", "1700000009.000000" if edited else "")


NOTICES = ("channel_join", "channel_topic", "pinned_item", "message_replied", "reminder_add")
VISIBILITY_EVENTS: list[dict[str, Any]] = [
    {**JOINED, "user": "UBEN"},
    {**LEFT, "user": "UBEN"},
    {"type": "channel_rename", "channel": {"id": "C1", "name": "new"}},
    {"type": "group_archive", "channel": "C1"},
    {"type": "channel_unarchive", "channel": "C1"},
    {"type": "channel_shared", "channel": "C1", "connected_team_id": "T2"},
    {"type": "channel_unshared", "channel": "C1"},
    {**POSTED, "subtype": "channel_convert_to_private"},
]
DELETED_REPLY = {**DELETED, "deleted_ts": TS, "previous_message": {**POSTED, "thread_ts": "1690000000.000100"}}
TOMBSTONE = {"subtype": "tombstone", "ts": TS, "user": "USLACKBOT"}


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (OWN, None),
        ({**CHANGED, "message": OWN}, None),
        ({**DELETED, "deleted_ts": "1.2", "previous_message": OWN}, None),
        *(({**POSTED, "subtype": subtype}, None) for subtype in NOTICES),
        ({"type": "app_context_changed"}, None),
        ({"type": "reaction_added"}, None),
        (DELETED_REPLY, MessagesDeleted(Location("slack", "T1", "C1", "1690000000.000100"), (TS,))),
        ({**CHANGED, "message": TOMBSTONE}, MessagesDeleted(C1, (TS,))),
        (JOINED, BotAdded(C1)),
        (LEFT, ChannelRemoved(C1)),
        ({"type": "channel_left", "channel": "C1", "actor_id": "UADA"}, ChannelRemoved(C1)),
        ({"type": "channel_deleted", "channel": "C1"}, ChannelRemoved(C1)),
        ({"type": "group_deleted", "channel": "C1"}, ChannelRemoved(C1)),
        *((event, VisibilityChanged(C1)) for event in VISIBILITY_EVENTS),
        ({"type": "file_deleted", "file_id": "F1"}, FilesRemoved(WORKSPACE, ("F1",))),
        ({"type": "file_unshared", "file_id": "F1", "channel_id": "C1"}, FilesRemoved(C1, ("F1",))),
        ({"type": "file_unshared", "file_id": "F1"}, None),
        ({"type": "app_uninstalled"}, WorkspaceLeft("slack", "T1", "app_uninstalled")),
        ({"type": "tokens_revoked", "tokens": {"bot": ["UBOT"]}}, WorkspaceLeft("slack", "T1", "tokens_revoked")),
        ({"type": "tokens_revoked", "tokens": {"oauth": ["UADA"]}}, None),
    ],
    ids=lambda value: f"{value['type']}-{value.get('subtype', '')}" if isinstance(value, dict) else "",
)
def test_other_events(event: dict[str, Any], expected: PlatformEvent | None) -> None:
    translated = translate(event)
    assert (translated.event if translated else None) == expected
