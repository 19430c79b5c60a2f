"""Exports of Slack in their old and new shapes, and as other programs write them: everything is read, or named."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.common.json_fields import MAX_ITEMS
from adapters.slack.export import SlackExport, open_export
from bot.platform.export_readers import ExportOptions
from bot.platform.history_source import Omission
from bot.platform.models import Upload
from engine.errors import InvalidDocument
from tests.support.clock import ManualClock
from tests.support.exports import START, TEAM, SlackExportFiles, slack_message, slack_user, ts_at, write_files

DAY = f"{START:%Y-%m-%d}.json"


def build(path: Path, files: dict[str, Any], **options: Any) -> SlackExport:
    raw = {name: rows if isinstance(rows, bytes) else json.dumps(rows).encode() for name, rows in files.items()}
    return open_export(write_files(path / "export", raw), ExportOptions(**options), clock=ManualClock())


def read_all(source: SlackExport) -> dict[str, list[tuple[str, str, str]]]:
    """The workspace, author and text of each message by channel."""
    return {
        channel.name: [
            (message.location.workspace, message.author, message.text)
            for page in source.read_pages(channel.location)
            for message in page
        ]
        for channel in source.list_channels()
    }


async def test_an_old_message_has_one_file_and_comments_on_files_are_messages(tmp_path: Path) -> None:
    plan = {"id": "F1", "name": "plan.txt", "mimetype": "text/plain", "size": 7, "preview": "Copper.", "lines_more": 0}
    files = SlackExportFiles()
    rows = [
        slack_message("U1", 0, "<@U1> uploaded a file", subtype="file_share", file=plan),
        slack_message(
            "", 1, "<@U2> commented", subtype="file_comment", file=plan, comment={"user": "U2", "comment": "Zinc?"}
        ),
        slack_message("U2", 2, "To all", subtype="reply_broadcast", thread_ts=ts_at(0)),
    ]
    files.add_channel("channels", "ROOF", "roof", rows)
    source = open_export(files.write_zip(tmp_path / "e.zip"), ExportOptions(), clock=ManualClock())
    [channel] = source.list_channels()
    [page] = source.read_pages(channel.location)
    assert [(message.author, message.text) for message in page] == [
        ("U1", "<@U1> uploaded a file"),
        ("U2", "Zinc?\nFile “plan.txt”"),
        ("U2", "To all"),
    ]
    assert [message.uploads for message in page] == [(Upload("F1", "plan.txt", 7, "text/plain", ""),), (), ()]
    assert await source.fetch_file(page[0].uploads[0], 100) == b"Copper."


def test_folders_that_no_list_names_are_closed_channels(tmp_path: Path) -> None:
    files = {
        "users.json": [slack_user("U1", "Ada")],
        "channels.json": [],
        f"old-roof/{DAY}": [slack_message("U1", 0, "Slates.")],
        f"C0ABCDEF1/{DAY}": [slack_message("U1", 0, "Nails.")],
        f"D0ABCDEF1/{DAY}": [slack_message("U1", 0, "Between us.")],
        f"mpdm-ada--bela-1/{DAY}": [slack_message("U1", 0, "Between us.")],
    }
    source = build(tmp_path, files)
    assert {name: len(rows) for name, rows in read_all(source).items()} == {"old-roof": 1, "C0ABCDEF1": 1}
    assert {channel.kind for channel in source.list_channels()} == {"closed"}
    assert source.omissions["direct messages (--direct-messages includes them)"] == 2
    assert len(read_all(build(tmp_path, files, direct_messages=True))) == 4


def test_the_workspaces_of_a_grid_are_read(tmp_path: Path) -> None:
    files = {
        "users.json": [slack_user("U1", "Ada")],
        "channels.json": [{"id": "C09", "name": "all", "members": ["U1"]}],
        f"all/{DAY}": [slack_message("U1", 0, "Welcome.")],
        "teams/north/users.json": [slack_user("U5", "Nora") | {"team_id": "TNORTH"}],
        "teams/north/channels.json": [{"id": "C10", "name": "slipway", "members": ["U5"]}],
        f"teams/north/slipway/{DAY}": [slack_message("U5", 0, "Nine tonnes.")],
        "backup/users.json": [],
        f"backup/roof/{DAY}": [slack_message("U1", 0, "Old.")],
    }
    source = build(tmp_path, files)
    assert read_all(source) == {"all": [(TEAM, "U1", "Welcome.")], "slipway": [("TNORTH", "U5", "Nine tonnes.")]}
    person = source.get_person("U5")
    assert person is not None
    assert person.name == "Nora"
    assert Omission("folders that are exports of their own", name="backup/") in source.omissions.list_all()
    given = read_all(build(tmp_path, files, workspace="T7"))
    assert {name: rows[0][0] for name, rows in given.items()} == {"all": "T7", "slipway": "TNORTH"}


@pytest.mark.parametrize("given", ["", "T7"])
def test_a_workspace_that_does_not_say_which_it_is_has_closed_channels(tmp_path: Path, given: str) -> None:
    bare = {"type": "message", "user": "U5", "ts": ts_at(0), "text": "Nine tonnes."}
    files = {
        "users.json": [slack_user("U1", "Ada")],
        "channels.json": [{"id": "C09", "name": "all", "members": ["U1"]}],
        f"all/{DAY}": [slack_message("U1", 0, "Welcome.")],
        "teams/north/channels.json": [{"id": "C10", "name": "slipway", "members": ["U5"]}],
        f"teams/north/slipway/{DAY}": [bare],
    }
    source = build(tmp_path, files, workspace=given)
    kinds = {channel.name: (channel.location.workspace, channel.kind) for channel in source.list_channels()}
    main = given or TEAM
    assert kinds == {"all": (main, "open"), "slipway": (main, "closed")}


async def test_a_program_that_writes_a_file_for_each_channel_is_read(tmp_path: Path) -> None:
    root = slack_message("U1", 0, "Who lays the slates?", thread_ts=ts_at(0))
    reply = slack_message("U2", 1, "Mina.", thread_ts=ts_at(0))
    dump = {"name": "roof", "messages": [root | {"slackdump_thread_replies": [reply]}], "channel_id": "C0ABCDEF1"}
    source = build(tmp_path, {"C0ABCDEF1.json": dump, "C0ABCDEF1/attachments/F0ABCDEF1-a.txt": b"Copper."})
    assert read_all(source) == {"C0ABCDEF1": [(TEAM, "U1", "Who lays the slates?"), (TEAM, "U2", "Mina.")]}
    assert await source.fetch_file(Upload("F0ABCDEF1", "a.txt", 7, "text/plain", ""), 100) == b"Copper."
    replies = [slack_message("U2", number / 100, "Mina.", thread_ts=ts_at(0)) for number in range(1, MAX_ITEMS + 2)]
    dump["messages"] = [root | {"slackdump_thread_replies": replies}]
    assert len(read_all(build(tmp_path / "long", {"C0ABCDEF1.json": dump}))["C0ABCDEF1"]) == MAX_ITEMS + 2
    beside = build(tmp_path / "beside", {"C0ABCDEF1.json": dump, "C0ABCDEF1/F0ABCDEF1-a.txt": b"Copper."})
    assert await beside.fetch_file(Upload("F0ABCDEF1", "a.txt", 7, "text/plain", ""), 100) == b"Copper."


def test_the_workspace_is_found_in_messages_or_one_is_proposed(tmp_path: Path) -> None:
    users = [{"id": "U1", "name": "ada"}]
    files = {"users.json": users, "channels.json": [{"id": "C1", "name": "roof"}]}
    found = build(tmp_path, {**files, f"roof/{DAY}": [slack_message("U1", 0, "Slates.")]})
    assert read_all(found) == {"roof": [(TEAM, "U1", "Slates.")]}
    bare = [{"type": "message", "user": "U1", "ts": ts_at(0), "text": "Slates."}]
    with pytest.raises(InvalidDocument) as caught:
        build(tmp_path / "bare", {**files, f"roof/{DAY}": bare})
    proposed = caught.value.hint.rpartition("--workspace ")[2].rstrip(".")
    assert (
        read_all(build(tmp_path / "bare", {**files, f"roof/{DAY}": bare}, workspace=proposed))["roof"][0][0] == proposed
    )


def build_canvas(id_: str, title: str, hours: float, *channels: str) -> dict[str, Any]:
    shares = [{"team": TEAM, "channel": channel} for channel in channels]
    return {
        "id": id_,
        "title": title,
        "created": int(float(ts_at(hours * 60))),
        "mimetype": "application/vnd.slack-docs",
        "filetype": "quip",
        "mode": "quip",
        "user": "U1",
        "url_private_download": f"https://files.slack.com/files-pri/{TEAM}-{id_}/download/canvas",
        "shares": shares,
    }


def test_canvases_are_files_of_their_channels(tmp_path: Path) -> None:
    later = f"{START + timedelta(days=3):%Y-%m-%d}.json"
    files = {
        "users.json": [slack_user("U1", "Ada")],
        "channels.json": [{"id": "C1", "name": "roof"}, {"id": "C2", "name": "yard"}],
        f"roof/{DAY}": [slack_message("U1", 0, "Slates.")],
        f"roof/{later}": [slack_message("U1", 3 * 24 * 60, "Nails.")],
        "roof/canvas_in_the_conversation.json": [build_canvas("F1", "Gutter plan", 2)],
        "canvases.json": [
            build_canvas("F1", "Gutter plan", 2, "C1"),
            build_canvas("F2", "Tools", 3, "C1", "C2", "C9"),
            build_canvas("F3", "Private notes", 4, "D0ABCDEF1"),
        ],
    }
    source = build(tmp_path, files)
    found = {
        channel.name: [
            [upload.name for upload in message.uploads] or message.text
            for page in source.read_pages(channel.location)
            for message in page
        ]
        for channel in source.list_channels()
    }
    assert found == {"roof": ["Slates.", ["Gutter plan"], ["Tools"], "Nails."], "yard": [["Tools"]]}
    assert source.omissions.list_all() == [Omission("canvases", name="Private notes")]


def test_files_that_belong_to_nothing_are_named(tmp_path: Path) -> None:
    files = {
        "e/users.json": [slack_user("U1", "Ada")],
        "e/channels.json": [{"id": "C1", "name": "roof"}],
        f"e/roof/{DAY}": [slack_message("U1", 0, "Slates.")],
        "e/roof/2026-13-45.json": [slack_message("U1", 0, "Never.")],
        "e/roof/notes.txt": b"Zinc.",
        "readme.txt": b"Ours.",
    }
    names = [each.name for each in build(tmp_path, files).omissions.list_all() if each.kind == "other files"]
    assert names == ["e/roof/2026-13-45.json", "e/roof/notes.txt", "readme.txt"]


def test_what_is_not_read_is_named(tmp_path: Path) -> None:
    rows = [
        slack_message("U1", 0, "<@U1> joined", subtype="channel_join"),
        {"type": "message", "ts": "x", "user": "U1"},
    ]
    files = {
        "users.json": [slack_user("U1", "Ada")],
        "channels.json": [{"id": "C1", "name": "roof"}],
        f"roof/{DAY}": rows,
        "canvases.json": [{"id": "F1", "title": "Onboarding"}],
    }
    source = build(tmp_path, files)
    read_all(source)
    assert source.omissions.list_all() == [
        Omission("canvases", name="Onboarding"),
        Omission("messages that cannot be read", "roof", "x"),
        Omission("notices, such as who joined a channel", "roof", "channel_join"),
    ]


# Every subtype of a message that Slack documents or sends.
SUBTYPES = (
    *("assistant_app_thread", "bot_add", "bot_disable", "bot_enable", "bot_message", "bot_remove", "canvas_updated"),
    *("channel_archive", "channel_canvas_deleted", "channel_canvas_updated", "channel_convert_to_private"),
    *("channel_convert_to_public", "channel_join", "channel_leave", "channel_name", "channel_posting_permissions"),
    *("channel_purpose", "channel_topic", "channel_unarchive", "document_mention", "ekm_access_denied"),
    *("file_comment", "file_mention", "file_share", "group_archive", "group_join", "group_leave", "group_name"),
    *("group_purpose", "group_topic", "group_unarchive", "huddle_thread", "joiner_notification", "me_message"),
    *("message_replied", "pinned_item", "reminder_add", "reminder_delete", "reply_broadcast", "reply_to"),
    *("sh_room_created", "sh_room_shared", "slackbot_response", "thread_broadcast", "tombstone", "unpinned_item"),
)


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_each_kind_of_message_is_read_or_counted(tmp_path: Path, subtype: str) -> None:
    row = slack_message("U1", 0, "Slates.", subtype=subtype, **({"bot_id": "B1"} if "bot_message" in subtype else {}))
    files = {"users.json": [slack_user("U1", "Ada")], "channels.json": [{"id": "C1", "name": "roof"}]}
    source = build(tmp_path, {**files, f"roof/{DAY}": [row]})
    texts = [text for _, _, text in read_all(source)["roof"]]
    named = sum(count for kind, count in source.omissions.items() if "notices" in kind)
    assert (texts == ["Slates."], named) in {(True, 0), (False, 1)}


def test_a_damaged_day_costs_only_itself_and_replies_within_messages_are_read(tmp_path: Path) -> None:
    dumped = slack_message("U1", 0, "Slates?") | {"slackdump_thread_replies": [slack_message("U1", 1, "Tiles.")]}
    files = {
        "users.json": [slack_user("U1", "Ada")],
        "channels.json": [{"id": "C1", "name": "roof"}],
        f"roof/{DAY}": [dumped],
        f"roof/{START - timedelta(days=1):%Y-%m-%d}.json": b'[{"type": "mess',
    }
    source = build(tmp_path, files, workspace="T1")
    assert [text for _, _, text in read_all(source)["roof"]] == ["Slates?", "Tiles."]
    assert +source.omissions == {"files that are damaged, and were read up to there": 1}


def test_the_comment_with_which_an_old_file_was_shared_is_read(tmp_path: Path) -> None:
    plan = {"id": "F1", "name": "plan.txt", "initial_comment": {"comment": "See page two", "user": "U1"}}
    files = {
        "users.json": [slack_user("U1", "Ada")],
        "channels.json": [{"id": "C1", "name": "roof"}],
        f"roof/{DAY}": [slack_message("U1", 0, "<@U1> uploaded a file", subtype="file_share", file=plan)],
    }
    assert read_all(build(tmp_path, files, workspace="T1"))["roof"][0][2] == "<@U1> uploaded a file\nSee page two"
