"""Exports of Slack workspaces: what they contain, whatever their oddities, and what is left out."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.export import SlackExport, open_export
from bot.platform.export_readers import ExportOptions
from bot.platform.models import Location, Upload
from engine.errors import CorruptFile, InvalidDocument
from tests.support.clock import ManualClock
from tests.support.exports import START, TEAM, SlackExportFiles, slack_message, slack_user, ts_at

ROOF = Location("slack", TEAM, "ROOF")
TUESDAY_BEGINS = datetime(2026, 3, 2, 10, tzinfo=UTC)  # where clocks are fourteen hours ahead


def build(tmp_path: Path, files: SlackExportFiles, **options: Any) -> SlackExport:
    return open_export(files.write_zip(tmp_path / "export.zip"), ExportOptions(**options), clock=ManualClock())


def roof(*messages: dict[str, Any], **more: Any) -> SlackExportFiles:
    files = SlackExportFiles()
    files.add_channel("channels", "ROOF", "roof", messages, **more)
    return files


def read(source: SlackExport, place: Location = ROOF) -> list[str]:
    return [message.text for page in source.read_pages(place) for message in page]


@pytest.mark.parametrize("form", ["zip", "folder", "zip in a folder of its own"])
def test_a_zip_and_an_unpacked_folder_are_the_same(tmp_path: Path, form: str) -> None:
    files = roof(slack_message("U1", 0, "Tiles."), slack_message("U2", 2000, "Slates."))
    path = tmp_path / "export"
    if form == "folder":
        files.write_folder(path)
    else:
        files.write_zip(path, "Town Slack export/" if form.startswith("zip in") else "")
    source = open_export(path, ExportOptions(), clock=ManualClock())
    assert read(source) == ["Tiles.", "Slates."]
    assert source.until == datetime(2026, 3, 4, tzinfo=UTC)
    source.close()


def test_a_public_channel_with_a_sign_of_a_private_one_is_closed(tmp_path: Path) -> None:
    files = roof(slack_message("U1", 0, "Tiles."))
    files.add_channel("channels", "ODD", "odd", [], is_private=True)
    files.add_channel("groups", "VAULT", "vault", [slack_message("U1", 5, "The key is under the mat.")])
    files.channels["channels"].append({"id": "FRONT", "name": "vault", "members": []})
    kinds = {channel.location.channel: channel.kind for channel in build(tmp_path, files).list_channels()}
    assert kinds == {"ROOF": "open", "ODD": "closed", "VAULT": "closed", "FRONT": "closed"}


def test_kinds_of_channels_decide_who_can_read_them(tmp_path: Path) -> None:
    files = roof(members=["U1", "UGUEST", "UGONE"])
    files.users.append(slack_user("UGUEST", "Gus", is_restricted=True))
    files.add_channel("channels", "SHARED", "shared", [], is_ext_shared=True)
    files.add_channel("groups", "VAULT", "vault", [])
    files.add_channel("mpims", "MANY", "mpdm-ada--bela-1", [])
    files.add_channel("dms", "D1", "", [slack_message("U1", 0, "Between us.")])
    source = build(tmp_path, files)
    found = {
        channel.location.channel: (channel.kind, channel.shared, sorted(channel.guests))
        for channel in source.list_channels()
    }
    assert found == {
        "ROOF": ("open", False, ["UGONE", "UGUEST"]),
        "SHARED": ("open", True, []),
        "VAULT": ("closed", False, []),
    }
    assert source.omissions["direct messages (--direct-messages includes them)"] == 2
    source = build(tmp_path, files, direct_messages=True)
    assert {channel.location.channel for channel in source.list_channels() if channel.kind == "closed"} == {
        "VAULT",
        "MANY",
        "D1",
    }
    assert read(source, Location("slack", TEAM, "D1")) == ["Between us."]


def test_notices_and_unreadable_rows_are_counted_and_everything_else_is_read(tmp_path: Path) -> None:
    files = roof(
        slack_message("U1", 0, "Plain."),
        slack_message("U1", 1, "<@U1> has joined the channel", subtype="channel_join"),
        slack_message("U1", 2, "", subtype="message_deleted", original={"text": "A secret."}),
        slack_message("U1", 3, "Again, for all.", subtype="thread_broadcast", thread_ts=ts_at(0)),
        {"type": "message", "ts": "not a number", "user": "U1", "text": "Broken."},
        {"type": "message", "user": "U1", "text": "Without a time."},
        {
            "type": "message",
            "subtype": "bot_message",
            "bot_id": "B1",
            "ts": ts_at(4),
            "text": "",
            "attachments": [{"text": "Built."}],
        },
        slack_message("U1", 5, "With files.", files=[{"id": "F1", "name": "a.txt"}, {"id": "F2", "mode": "tombstone"}]),
    )
    files.more = {"canvases.json": [{"id": "F9"}], "integration_logs.json": [{}]}
    source = build(tmp_path, files)
    assert read(source) == ["Plain.", "Again, for all.", "Built.", "With files."]
    assert +source.omissions == {
        "notices, such as who joined a channel": 2,
        "messages that cannot be read": 2,
        "canvases": 1,
        "other files": 1,
    }


@pytest.mark.parametrize(
    ("row", "options", "link"),
    [
        ({}, {}, "https://app.slack.com/"),
        (
            {"files": [{"id": "F1", "permalink": "https://town.slack.com/files/U1/F1/a.txt"}]},
            {},
            "https://town.slack.com/",
        ),
        ({}, {"url": "https://my.enterprise.slack.com"}, "https://my.enterprise.slack.com/"),
    ],
)
def test_links_lead_to_the_workspace(tmp_path: Path, row: dict[str, Any], options: dict[str, str], link: str) -> None:
    source = build(tmp_path, roof(slack_message("U1", 0, "Tiles.", **row)), **options)
    reply = Location("slack", TEAM, "ROOF", "1.000002")
    assert source.message_link(ROOF, "1.000002") == f"{link}archives/ROOF/p1000002"
    assert source.message_link(reply, "2.000003") == f"{link}archives/ROOF/p2000003?thread_ts=1.000002&cid=ROOF"


async def test_names_replace_ids_except_those_of_private_channels(tmp_path: Path) -> None:
    files = roof(slack_message("U1", 0, "Tiles."))
    files.add_channel("groups", "VAULT", "vault", [])
    text = await build(tmp_path, files).to_plain_text("<@U2> asked in <#ROOF|x> and <#VAULT|vault>, says <@U99|old>")
    assert text == "@Bela asked in #roof and #private-channel, says @old"


async def test_files_come_from_the_export_or_from_slack_alone(tmp_path: Path) -> None:
    files = roof()
    files.uploads = {"F1/plan.txt": b"Copper."}
    source = build(tmp_path, files)
    assert await source.fetch_file(Upload("F1", "plan.txt", 7, "text/plain", ""), 100) == b"Copper."
    for url in ("", "https://evil.example/plan.txt", "file:///etc/passwd"):
        with pytest.raises(InvalidDocument):
            await source.fetch_file(Upload("F2", "plan.txt", 7, "text/plain", url), 100)
    with pytest.raises(InvalidDocument, match="larger"):
        await source.fetch_file(Upload("F1", "plan.txt", 0, "text/plain", ""), 3)


def test_the_workspace_is_that_of_most_users_or_the_one_given(tmp_path: Path) -> None:
    files = roof()
    files.users.append(slack_user("U9", "Zed", team_id="TOTHER"))
    assert build(tmp_path, files).list_channels()[0].location.workspace == TEAM
    assert build(tmp_path, files, workspace="T9").list_channels()[0].location.workspace == "T9"
    files.users = [{"id": "U1", "name": "ada"}]
    with pytest.raises(InvalidDocument, match="which workspace"):
        build(tmp_path, files)


@pytest.mark.parametrize(
    "damage", ["no zip", "no lists", "no JSON", "cut off", "deep", "a list of texts", "wrong types"]
)
def test_damaged_exports_are_refused_in_one_sentence_or_read_as_far_as_they_go(tmp_path: Path, damage: str) -> None:
    path, files = tmp_path / "export.zip", roof(slack_message("U1", 0, "Tiles."))
    files.write_zip(path)
    match damage:
        case "no zip":
            path.write_bytes(b"Not a ZIP.")
        case "no lists":
            path = files.write_folder(tmp_path / "folder")
            for name in ("users.json", "channels.json"):
                (path / name).unlink()
        case "no JSON" | "deep":
            path = files.write_folder(tmp_path / "folder")
            text = "[" * 100_000 if damage == "deep" else "{"
            (path / "roof" / f"{START:%Y-%m-%d}.json").write_text(text)
            source = open_export(path, ExportOptions(), clock=ManualClock())
            assert read(source) == []
            assert source.omissions["files that are damaged, and were read up to there"] == 1
            return
        case "cut off":
            path.write_bytes(path.read_bytes()[:-40])
        case _:
            path = files.write_folder(tmp_path / "folder")
            odd = (
                '["a", 3, null]' if damage == "a list of texts" else '[{"ts": [], "text": {}, "files": 3, "user": {}}]'
            )
            (path / "roof" / f"{START:%Y-%m-%d}.json").write_text(odd)
            assert read(open_export(path, ExportOptions(), clock=ManualClock())) == []
            return
    with pytest.raises(InvalidDocument):
        read(open_export(path, ExportOptions(), clock=ManualClock()))


def test_an_archive_that_is_damaged_anywhere_gives_one_kind_of_error(tmp_path: Path) -> None:
    texts = [slack_message("U1", n * 9, f"Tile {n} of {n * 7919} is red.") for n in range(80)]
    whole = roof(*texts).write_zip(tmp_path / "export.zip").read_bytes()
    for at in range(30, len(whole), 41):
        damaged = bytearray(whole)
        damaged[at] ^= 0x5A
        (tmp_path / "damaged.zip").write_bytes(damaged)
        with suppress(InvalidDocument):
            source = open_export(tmp_path / "damaged.zip", ExportOptions(), clock=ManualClock())
            for channel in source.list_channels():
                read(source, channel.location)


def test_a_value_that_unpacks_to_too_much_ends_its_file_which_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.common.json_stream.CHUNK_SIZE", 500)
    monkeypatch.setattr("adapters.common.json_stream.MAX_VALUE_SIZE", 2000)
    many = [slack_message("U1", n, f"Tile {n}.") for n in range(100)]
    source = build(tmp_path, roof(*many, slack_message("U1", 200, "x" * 6000)), url="https://town.slack.com")
    assert len(read(source)) == len(many)
    assert source.omissions["files that are damaged, and were read up to there"] == 1


def test_ids_that_are_none_of_slack_are_left_out(tmp_path: Path) -> None:
    """Such an id could be the name of the space that everyone can read, or of somebody's direct messages."""
    files = roof(
        slack_message("U1", 0, "Tiles."),
        slack_message("U\ud800", 1, "Odd author."),
        slack_message("U1", 2, "Odd thread.", thread_ts="x\ud800"),
        slack_message("U1", 3, "Odd file.", files=[{"id": "F\ud800", "name": "a.txt"}]),
        slack_message("U1", 4, "Odd files.", files=[{"id": "F1", "name": "a\ud800.txt", "size": -5}]),
    )
    for id_ in ("open", "adult", "dm:U1", "ROOF:x"):
        files.add_channel("groups", id_, f"secret {id_}", [slack_message("U1", 0, "The key is under the mat.")])
    files.users.append(slack_user("U9", "Odd") | {"profile": ["x"]})
    source = build(tmp_path, files)
    kinds = {channel.location.channel: channel.kind for channel in source.list_channels()}
    assert kinds.pop("ROOF") == "open"
    assert {(id_[0], len(id_), kind) for id_, kind in kinds.items()} == {("X", 16, "closed")}
    [[tiles, odd]] = source.read_pages(ROOF)
    assert (tiles.text, odd.uploads[0].name, odd.uploads[0].size) == ("Tiles.", "a\ufffd.txt", 0)
    assert +source.omissions == {
        "entries of groups.json that cannot be read": 4,
        "entries of users.json that cannot be read": 1,
        "messages that cannot be read": 3,
    }
    with pytest.raises(InvalidDocument, match="no id"):
        build(tmp_path, files, workspace="T1:open")


def test_files_of_days_that_do_not_exist_or_begin_nowhere_yet_are_ignored(tmp_path: Path) -> None:
    path = roof(slack_message("U1", 0, "Tiles.")).write_folder(tmp_path / "export")
    for day in ("2026-99-99", "9999-12-31", "0000-01-01", "2026-03-04"):
        (path / "roof" / f"{day}.json").write_text("[]")
    source = open_export(path, ExportOptions(), clock=ManualClock(TUESDAY_BEGINS))
    assert read(source) == ["Tiles."]
    assert source.until == datetime(2026, 3, 3, tzinfo=UTC)


def test_the_file_of_a_day_that_has_begun_somewhere_counts(tmp_path: Path) -> None:
    path = roof(slack_message("U1", 0, "Tiles.")).write_folder(tmp_path / "export")
    (path / "roof" / "2026-03-03.json").write_text("[]")
    source = open_export(path, ExportOptions(), clock=ManualClock(TUESDAY_BEGINS))
    assert source.until == datetime(2026, 3, 4, tzinfo=UTC)


def test_a_channel_that_is_listed_twice_is_closed(tmp_path: Path) -> None:
    files = roof()
    files.channels["dms"] = [{"id": "ROOF", "members": ["U1", "U2"]}]
    assert [channel.kind for channel in build(tmp_path, files).list_channels()] == ["closed"]


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    data = bytearray(roof().write_zip(tmp_path / "export.zip").read_bytes())
    for at in range(len(data) - 4):  # set the flag of encryption in both kinds of headers
        if data[at : at + 4] == b"PK\x03\x04":
            data[at + 6] |= 1
        elif data[at : at + 4] == b"PK\x01\x02":
            data[at + 8] |= 1
    (tmp_path / "locked.zip").write_bytes(data)
    with pytest.raises(InvalidDocument):
        open_export(tmp_path / "locked.zip", ExportOptions(), clock=ManualClock())


def test_corrupt_is_a_document_error() -> None:
    assert issubclass(CorruptFile, InvalidDocument)
