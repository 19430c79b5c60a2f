"""A bulk export of Mattermost: what it contains, whatever its oddities, and what is left out."""

from __future__ import annotations

import errno
import json
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from adapters.mattermost.export import MattermostExport, open_export
from bot.platform.export_readers import ExportOptions
from bot.platform.models import Channel, Location
from engine.errors import CorruptFile, DiskFull, DocumentTooLarge, InvalidDocument
from tests.support.clock import ManualClock
from tests.support.exports import (
    START,
    MattermostExportFiles,
    Row,
    mattermost_post,
    mattermost_reply,
    mattermost_user,
    ms_at,
)

ROOF, VAULT = Location("mattermost", "town", "~roof"), Location("mattermost", "town", "~vault")
DIRECT = Location("mattermost", "", "@ada+bela")
PATH = "20260302/teams/noteam/channels/c1/users/u1/f1/plan.txt"


opened: list[MattermostExport] = []


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    while opened:
        opened.pop().close()


def open_path(path: Path, **options: Any) -> MattermostExport:
    opened.append(open_export(path, ExportOptions(**options), clock=ManualClock()))
    return opened[-1]


def build(tmp_path: Path, files: MattermostExportFiles, **options: Any) -> MattermostExport:
    return open_path(files.write_zip(tmp_path / "export.zip"), **options)


def town(*posts: Row, **more: Any) -> MattermostExportFiles:
    return MattermostExportFiles(list(posts), **more)


def texts(source: MattermostExport, place: Location = ROOF) -> list[str]:
    return [message.text for page in source.read_pages(place) for message in page]


def channels(source: MattermostExport) -> dict[str, Channel]:
    return {channel.name: channel for channel in source.list_channels()}


def test_posts_have_ids_of_their_times_and_replies_are_in_the_thread(tmp_path: Path) -> None:
    replies = [mattermost_reply("bela", 3, "Mina does."), mattermost_reply("ada", 4, "Oh.", edit_at=ms_at(9))]
    source = build(
        tmp_path,
        town(mattermost_post("bela", 2, "Who lays them?", replies=replies), mattermost_post("Ada", 0, "Tiles.")),
        url="https://chat.example.org/",
    )
    [[first, root, reply, last]] = source.read_pages(ROOF)
    assert (first.id, first.time, first.author, first.location) == (str(ms_at(0)), START, "ada", ROOF)
    assert (root.text, root.location.thread) == ("Who lays them?", "")
    assert (reply.id, reply.location.thread) == (f"{root.id}.{ms_at(3)}", root.id)
    assert (reply.edited, last.edited) == ("", str(ms_at(9)))
    assert source.message_link(reply.location, reply.id) == "https://chat.example.org/town/channels/roof"
    assert source.until == START + timedelta(minutes=9)


def test_an_export_never_ends_after_today(tmp_path: Path) -> None:
    source = build(tmp_path, town(mattermost_post("ada", 0, "Tiles.", edit_at=ms_at(5 * 365 * 24 * 60))))
    assert source.until == ManualClock().now()


def test_posts_of_one_moment_are_told_apart_by_their_order(tmp_path: Path) -> None:
    source = build(tmp_path, town(*(mattermost_post("ada", 0, text) for text in ("One.", "Two.", "Three."))))
    [page] = source.read_pages(ROOF)
    assert [(message.id.partition("-")[2], message.text) for message in page] == [
        ("", "One."),
        ("2", "Two."),
        ("3", "Three."),
    ]


def test_channels_are_as_readable_as_they_were_and_closed_if_that_is_unclear(tmp_path: Path) -> None:
    files = town(mattermost_post("ada", 0, "Hm.", channel="nowhere"))
    for name, more in (("old", {"type": "O", "deleted_at": 5}), ("twice", {"type": "O"}), ("twice", {"type": "O"})):
        files.channels.append({"team": "town", "name": name, **more})
    files.users += [
        mattermost_user("gil", roles="system_guest"),
        mattermost_user("gone", delete_at=7),
        mattermost_user("max", channels=["roof"]),
    ]
    found = channels(build(tmp_path, files))
    assert {name: each.kind for name, each in found.items()} == {
        "roof": "open", "vault": "closed", "old": "closed", "twice": "closed", "nowhere": "closed",
    }  # fmt: skip
    assert found["vault"].members == {"ada", "bela", "gil"}
    assert found["roof"].members == {"ada", "bela", "gil", "max"}
    assert found["vault"].guests == {"gil"}


def test_direct_messages_are_left_out_unless_they_are_wanted(tmp_path: Path) -> None:
    files = town(mattermost_post("ada", 0, "Psst.", channel_members=["bela", "ada"]), mattermost_post("ada", 1, "Hi."))
    files.more = [{"type": "direct_channel", "direct_channel": {"participants": [{"username": "ada"}]}}]
    source = build(tmp_path, files)
    assert set(channels(source)) == {"roof", "vault"}
    assert source.omissions == {"direct messages (--direct-messages includes them)": 1}
    files.more = []
    source = build(tmp_path, files, direct_messages=True)
    assert texts(source, DIRECT) == ["Psst."]
    assert channels(source)["Ada, Bela"].kind == "closed"
    assert channels(source)["Ada, Bela"].members == {"ada", "bela"}


def test_only_the_chosen_team_is_read(tmp_path: Path) -> None:
    files = town(mattermost_post("ada", 0, "Here."), mattermost_post("ada", 1, "There.", team="camp"))
    files.channels.append({"team": "camp", "name": "roof", "type": "O"})
    source = build(tmp_path, files, workspace="town")
    assert {channel.location.workspace for channel in source.list_channels()} == {"town"}
    assert source.omissions == {"posts of other teams (--workspace names the team)": 1}


def test_notices_deleted_posts_and_unreadable_lines_are_counted(tmp_path: Path) -> None:
    files = town(
        mattermost_post("ada", 0, "joined", type="system_join_channel"),
        mattermost_post("ada", 1, "gone", props={"deleteBy": "u1"}),
        mattermost_post("ada", 2, "waves", type="me"),
        mattermost_post("ada", 3, "", create_at="soon"),
        mattermost_post("ada", 4, "Out.", channel="../open"),
        mattermost_post("ada", 5, "Bad.", replies=[{"user": "ada"}]),
    )
    files.more = [{"type": "novelty", "novelty": {}}, {"type": "post"}]
    source = build(tmp_path, files)
    assert texts(source) == ["waves"]
    assert source.omissions == {
        "lines that cannot be read": 4,
        "notices, such as who joined a channel": 2,
        "messages that cannot be read": 1,
    }


@pytest.mark.parametrize("name", ["open", "adult", "dm"])
def test_a_private_channel_that_is_called_like_a_space_is_a_room_of_its_own(tmp_path: Path, name: str) -> None:
    files = town(mattermost_post("ada", 0, "Secret.", channel=name))
    files.channels.append({"team": "town", "name": name, "type": "P"})
    assert f"mattermost:town:{name}" not in {
        channel.location.room for channel in build(tmp_path, files).list_channels()
    }


async def test_people_and_open_channels_are_named_in_texts(tmp_path: Path) -> None:
    files = town()
    files.users.append(mattermost_user("max", first_name="Max", last_name="Roe"))
    source = build(tmp_path, files)
    said = "@bela, ask @Max. or @nobody or a@bela.org in ~roof, not ~vault ~~roof~~"
    shown = "@Bela, ask @Max Roe. or @nobody or a@bela.org in #roof, not ~vault ~~roof~~"
    assert await source.to_plain_text(said) == shown


def test_bots_and_what_integrations_attach_are_read(tmp_path: Path) -> None:
    attached = {"from_webhook": "true", "attachments": [{"title": "Build 7", "text": "failed"}, {"fallback": "x"}, 3]}
    files = town(
        mattermost_post("ada", 0, "", type="slack_attachment", props=attached), mattermost_post("hal", 1, "Beep.")
    )
    files.more = [{"type": "bot", "bot": {"username": "hal", "display_name": "Hal"}}]
    [[webhook, bot]] = build(tmp_path, files).read_pages(ROOF)
    assert (webhook.text, webhook.by_bot) == ("Build 7\nfailed\nx", True)
    assert (bot.text, bot.by_bot) == ("Beep.", True)


@pytest.mark.parametrize("form", ["zip", "folder", "file"])
async def test_attachments_are_read_from_the_export(tmp_path: Path, form: str) -> None:
    attachments = [{"path": PATH}, {"path": "../../secret.txt"}, {"path": "a/absent.txt"}]
    files = town(mattermost_post("ada", 0, "The plan.", attachments=attachments), files={PATH: b"Copper."})
    path = files.write_zip(tmp_path / "export.zip")
    (tmp_path / "secret.txt").write_bytes(b"password")
    if form != "zip":
        path = tmp_path / "out"
        (path / "data" / PATH).parent.mkdir(parents=True)
        (path / "data" / PATH).write_bytes(b"Copper.")
        (path / "bulk.jsonl").write_bytes(files.lines())
        path = path / "bulk.jsonl" if form == "file" else path
    source = open_path(path)
    [[message]] = source.read_pages(ROOF)
    [plan, outside, absent] = message.uploads
    assert (plan.name, plan.kind, await source.fetch_file(plan, 10)) == ("plan.txt", "text/plain", b"Copper.")
    with pytest.raises(DocumentTooLarge):
        await source.fetch_file(plan, 3)
    for each in (outside, absent):
        with pytest.raises(InvalidDocument, match="is not in the export"):
            await source.fetch_file(each, 10)


class FullDisk(BytesIO):
    """A temporary file on a disk that has no space left."""

    def write(self, _: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_not_called_a_damaged_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", FullDisk)
    with pytest.raises(DiskFull, match="cannot be unpacked"):
        build(tmp_path, town(mattermost_post("ada", 0, "The roof is done.")))


def test_what_is_no_export_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK nothing")
    (tmp_path / "b.jsonl").write_text(json.dumps({"type": "post"}))
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorruptFile):
        open_export(tmp_path / "a.zip", ExportOptions(), clock=ManualClock())
    for name in ("b.jsonl", "empty"):
        with pytest.raises(InvalidDocument, match="no bulk export"):
            open_export(tmp_path / name, ExportOptions(), clock=ManualClock())
