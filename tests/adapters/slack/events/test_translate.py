from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from adapters.slack.events.translate import translate_event
from bot.platform.events import (
    BotAdded,
    ChannelRemoved,
    FilesRemoved,
    MessageEdited,
    MessageReceived,
    MessagesDeleted,
    VisibilityChanged,
    WorkspaceLeft,
)
from bot.platform.models import Location
from tests.adapters.slack.payloads import US, envelope, message

if TYPE_CHECKING:
    from bot.platform.events import PlatformEvent

C1 = Location("slack", "T1", "C1")


def happened(event: dict[str, Any]) -> PlatformEvent | None:
    found = translate_event(envelope(event), US)
    return found.event if found else None


def heard(event: dict[str, Any]) -> MessageReceived:
    happening = happened(event)
    assert isinstance(happening, MessageReceived)
    return happening


def test_a_message_is_heard_with_its_author_text_and_time() -> None:
    said = heard(message("the roof leaks")).message
    assert (said.id, said.location, said.author, said.text) == ("1700000000.000100", C1, "UADA", "the roof leaks")
    assert said.time.isoformat() == "2023-11-14T22:13:20.000100+00:00"


def test_a_message_that_names_nobody_is_not_addressed() -> None:
    assert not heard(message()).addressed


def test_a_mention_addresses_the_bot_and_its_name_is_no_part_of_the_question() -> None:
    said = heard(message("<@UBOT>: where is the key?"))
    assert said.addressed
    assert said.message.text == "where is the key?"


def test_a_name_within_a_question_stays_there() -> None:
    assert heard(message("does <@UBOT> know?")).message.text == "does <@UBOT> know?"


def test_a_direct_message_is_addressed() -> None:
    assert heard(message(channel="D1", channel_type="im")).addressed


def test_message_and_app_mention_share_a_key_so_that_the_question_is_heard_once() -> None:
    plain = translate_event(envelope(message("<@UBOT> hm?"), "Ev1"), US)
    mention = translate_event(envelope({**message("<@UBOT> hm?"), "type": "app_mention"}, "Ev2"), US)
    assert plain is not None
    assert mention is not None
    assert plain.keys == ("slack:event:Ev1", "slack:message:T1:C1:1700000000.000100")
    assert mention.keys == ("slack:event:Ev2", "slack:message:T1:C1:1700000000.000100")
    assert plain.event == mention.event


def test_a_reply_lies_in_its_thread_and_a_root_does_not() -> None:
    assert heard(message(thread_ts="1690000000.000100")).message.location.thread == "1690000000.000100"
    assert heard(message(thread_ts="1700000000.000100")).message.location.thread == ""


def test_files_come_with_the_message() -> None:
    file = {
        "id": "F1",
        "name": "a.pdf",
        "size": 9,
        "mimetype": "application/pdf",
        "url_private": "https://files.slack.com/a",
    }
    dead = {"id": "F2", "mode": "tombstone"}
    (upload,) = heard(message(subtype="file_share", files=[file, dead])).message.uploads
    assert (upload.id, upload.name, upload.size, upload.url) == ("F1", "a.pdf", 9, "https://files.slack.com/a")


def test_a_file_that_a_plan_without_fee_hides_is_still_there() -> None:
    hidden = {"id": "F1", "name": "a.pdf", "mode": "hidden_by_limit"}
    assert [each.id for each in heard(message(subtype="file_share", files=[hidden])).message.uploads] == ["F1"]


def test_a_file_of_another_workspace_must_be_asked_for() -> None:
    file = {"id": "F1", "file_access": "check_file_info"}
    assert heard(message(subtype="file_share", files=[file])).message.uploads[0].url == ""


def test_our_own_messages_and_their_edits_are_not_heard() -> None:
    ours = message(user="UBOT", bot_id="BBOT")
    assert happened(ours) is None
    assert happened({**message(subtype="message_changed"), "message": ours}) is None
    assert happened({**message(subtype="message_deleted"), "deleted_ts": "1.2", "previous_message": ours}) is None


def test_other_programs_are_marked_as_such_and_never_address_the_bot() -> None:
    for event in (
        message("<@UBOT> hi", bot_id="B2", user="UOTHER"),
        message("<@UBOT> hi", subtype="bot_message", bot_id="B2"),
        {**message("<@UBOT> hi", bot_id="B2"), "type": "app_mention"},
        message("hi", bot_id="B2", channel="D1", channel_type="im"),
    ):
        assert heard(event).message.by_bot
        assert not heard(event).addressed


def test_what_a_program_says_in_attachments_is_its_text() -> None:
    said = message("", subtype="bot_message", bot_id="B2", attachments=[{"fallback": "build failed"}])
    assert heard(said).message.text == "build failed"


def test_what_a_person_shares_from_elsewhere_is_not_his_text() -> None:
    assert heard(message("", attachments=[{"text": "a secret of another channel"}])).message.text == ""


@pytest.mark.parametrize("subtype", ["channel_join", "channel_topic", "pinned_item", "message_replied", "reminder_add"])
def test_notices_are_no_messages(subtype: str) -> None:
    assert happened(message(subtype=subtype)) is None


def test_an_edit_brings_the_new_text_and_the_time_of_the_edit() -> None:
    now = message("new", edited={"user": "UADA", "ts": "1700000009.000000"})
    edited = happened({**message(subtype="message_changed", hidden=True), "message": now})
    assert isinstance(edited, MessageEdited)
    assert (edited.message.text, edited.message.edited) == ("new", "1700000009.000000")
    assert edited.message.id == "1700000000.000100"


def test_an_unfurl_looks_like_an_edit_without_a_time() -> None:
    edited = happened({**message(subtype="message_changed", hidden=True), "message": message("same")})
    assert isinstance(edited, MessageEdited)
    assert edited.message.edited == ""


def test_a_deleted_message_is_deleted_and_so_is_one_that_left_a_tombstone() -> None:
    before = message("x", thread_ts="1690000000.000100")
    event = {**message(subtype="message_deleted"), "deleted_ts": "1700000000.000100", "previous_message": before}
    place = Location("slack", "T1", "C1", "1690000000.000100")
    assert happened(event) == MessagesDeleted(place, ("1700000000.000100",))
    tomb = {"subtype": "tombstone", "ts": "1700000000.000100", "user": "USLACKBOT"}
    assert happened({**message(subtype="message_changed"), "message": tomb}) == MessagesDeleted(
        C1, ("1700000000.000100",)
    )


def test_the_bot_comes_and_goes_and_so_do_readers() -> None:
    came = {"type": "member_joined_channel", "user": "UBOT", "channel": "C1", "inviter": "UADA"}
    assert happened(came) == BotAdded(C1, by="UADA")
    assert happened({**came, "user": "UBEN"}) == VisibilityChanged(C1)
    assert happened({**came, "type": "member_left_channel"}) == ChannelRemoved(C1)
    assert happened({**came, "type": "member_left_channel", "user": "UBEN"}) == VisibilityChanged(C1)
    assert happened({"type": "channel_left", "channel": "C1", "actor_id": "UADA"}) == ChannelRemoved(C1)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "channel_rename", "channel": {"id": "C1", "name": "new"}},
        {"type": "group_archive", "channel": "C1"},
        {"type": "channel_unarchive", "channel": "C1"},
        {"type": "channel_shared", "channel": "C1", "connected_team_id": "T2"},
        {"type": "channel_unshared", "channel": "C1"},
        message("made private", subtype="channel_convert_to_private"),
    ],
)
def test_whatever_may_change_readers_is_a_change(event: dict[str, Any]) -> None:
    assert happened(event) == VisibilityChanged(C1)


def test_a_deleted_channel_is_gone() -> None:
    assert happened({"type": "channel_deleted", "channel": "C1"}) == ChannelRemoved(C1)
    assert happened({"type": "group_deleted", "channel": "C1"}) == ChannelRemoved(C1)


def test_a_deleted_file_is_taken_back_everywhere_and_an_unshared_one_in_its_channel() -> None:
    assert happened({"type": "file_deleted", "file_id": "F1"}) == FilesRemoved(Location("slack", "T1", ""), ("F1",))
    assert happened({"type": "file_unshared", "file_id": "F1", "channel_id": "C1"}) == FilesRemoved(C1, ("F1",))
    assert happened({"type": "file_unshared", "file_id": "F1"}) is None


def test_the_end_is_told_when_our_token_went_but_not_somebody_elses() -> None:
    assert happened({"type": "app_uninstalled"}) == WorkspaceLeft("slack", "T1", "app_uninstalled")
    assert happened({"type": "tokens_revoked", "tokens": {"bot": ["UBOT"]}}) == WorkspaceLeft(
        "slack", "T1", "tokens_revoked"
    )
    assert happened({"type": "tokens_revoked", "tokens": {"oauth": ["UADA"]}}) is None


def test_places_are_of_our_workspace_whoever_wrote_there() -> None:
    body = {**envelope(message(team="T2", user_team="T2")), "team_id": "T2"}
    found = translate_event(body, US)
    assert found is not None
    assert isinstance(found.event, MessageReceived)
    assert found.event.message.location.workspace == "T1"


def test_what_means_nothing_is_nothing() -> None:
    assert happened({"type": "app_context_changed"}) is None
    assert happened({"type": "reaction_added"}) is None
