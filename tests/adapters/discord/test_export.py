"""Channels that DiscordChatExporter wrote as JSON: what they contain, whatever their oddities, and what is left out."""

from __future__ import annotations

import zipfile
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from adapters.discord.export import DiscordExport, open_export
from bot.platform.export_readers import ExportOptions
from bot.platform.models import Location
from engine.errors import InvalidDocument
from tests.support.clock import ManualClock
from tests.support.exports import START, discord_file, discord_id, discord_message, write_files

HALL = Location("discord", "77", "500")


def build(tmp_path: Path, files: dict[str, bytes], **options: Any) -> DiscordExport:
    return open_export(write_files(tmp_path / "export", files), ExportOptions(**options), clock=ManualClock())


def hall(*messages: dict[str, Any], **more: Any) -> dict[str, bytes]:
    return {"Town - hall [500].json": discord_file({"id": "500", "name": "hall"}, messages, **more)}


def read(source: DiscordExport, place: Location = HALL) -> list[str]:
    return [message.text for page in source.read_pages(place) for message in page]


def test_messages_have_the_ids_times_and_links_of_the_platform(tmp_path: Path) -> None:
    source = build(tmp_path, hall(discord_message("1", 0, "Tiles."), discord_message("2", 1, "Slates.")))
    [page] = source.read_pages(HALL)
    first = page[0]
    assert (first.id, first.time, first.author, first.location) == (discord_id(0), START, "1", HALL)
    assert source.message_link(HALL, first.id) == f"https://discord.com/channels/77/500/{first.id}"
    person = source.get_person("1")
    assert person is not None
    assert person.name == "Nick 1"
    assert [channel.kind for channel in source.list_channels()] == ["closed"]


@pytest.mark.parametrize(
    ("exported_at", "until"),
    [
        ("2026-03-02T11:00:00+00:00", "2026-03-02T11:00:00+00:00"),
        ("2031-01-01T00:00:00", ManualClock().now().isoformat()),
    ],
)
def test_an_export_ends_when_it_was_made_and_never_after_today(tmp_path: Path, exported_at: str, until: str) -> None:
    source = build(tmp_path, hall(discord_message("1", 0, "Tiles."), exportedAt=exported_at))
    assert source.until == datetime.fromisoformat(until)


def test_threads_belong_to_their_channel_and_private_ones_are_rooms_of_their_own(tmp_path: Path) -> None:
    root = discord_id(0)
    thread = {"id": root, "name": "Who lays them?", "categoryId": "500", "category": "hall"}
    private = {"id": "900", "name": "secret", "type": "GuildPrivateThread", "categoryId": "500", "category": "hall"}
    files = {
        "a thread.json": discord_file({"type": "GuildPublicThread", **thread}, [discord_message("2", 9, "Mina does.")]),
        "private.json": discord_file(private, [discord_message("1", 3, "Between us.")]),
        **hall(discord_message("1", 0, "Who lays them?")),
    }
    source = build(tmp_path, files)
    assert {channel.location.channel: channel.name for channel in source.list_channels()} == {
        "500": "hall",
        "900": "secret",
    }
    first, second = (page[0] for page in source.read_pages(HALL))
    assert (first.text, first.location.thread) == ("Who lays them?", "")
    assert (second.text, second.location.thread) == ("Mina does.", root)
    assert source.message_link(second.location, second.id).endswith(f"/77/{root}/{second.id}")
    assert read(source, Location("discord", "77", "900")) == ["Between us."]


def test_the_first_message_of_a_forum_post_has_its_title(tmp_path: Path) -> None:
    post = {"id": discord_id(0), "name": "Leak!", "type": "GuildPublicThread", "categoryId": "600", "category": "help"}
    source = build(
        tmp_path,
        {"post.json": discord_file(post, [discord_message("1", 0, "It drips."), discord_message("2", 1, "Oh.")])},
    )
    [channel] = source.list_channels()
    [page] = source.read_pages(channel.location)
    assert channel.name == "help"
    assert [(message.title, message.location.thread) for message in page] == [
        ("Leak!", discord_id(0)),
        ("", discord_id(0)),
    ]


def test_notices_and_unreadable_rows_are_counted(tmp_path: Path) -> None:
    source = build(
        tmp_path,
        hall(
            discord_message("1", 0, "", type="GuildMemberJoin"),
            discord_message("1", 1, "Answer.", type="Reply", reference={"messageId": "42"}),
            {"id": "7"},
            discord_message("9", 2, "", is_bot=True, embeds=[{"title": "Build", "description": "passed"}]),
            discord_message("1", 3, "Edited.", timestampEdited=START.isoformat()),
        ),
    )
    [page] = source.read_pages(HALL)
    assert [message.text for message in page] == ["Answer.", "Build\npassed", "Edited."]
    assert [message.replies_to for message in page] == ["42", "", ""]
    assert [bool(message.edited) for message in page] == [False, False, True]
    assert source.omissions == {"notices, such as who joined a server": 1, "messages that cannot be read": 1}


def test_ids_that_are_none_of_discord_are_left_out(tmp_path: Path) -> None:
    """Such an id could be the name of a space that others can read."""
    odd = [
        {**discord_message("1", 1, "Odd."), "id": "-5"},
        discord_message("1\ud800", 2, "Odd."),
        {**discord_message("1", 3, "Odd."), "type": ["Default"]},
    ]
    files = hall({**discord_message("1", 0, "Tiles."), "timestamp": f"{START:%Y-%m-%dT%H:%M:%S}"}, *odd)
    for number, (channel, guild) in enumerate((("open", "77"), ("5", "77:open"), ("dm:1", "0"), (None, "77"))):
        files[f"{number}.json"] = discord_file({"id": channel, "name": "secret"}, [], guild=guild)
    source = build(tmp_path, files, direct_messages=True)
    assert [each.location for each in source.list_channels()] == [HALL]
    [[message]] = source.read_pages(HALL)
    assert message.time == START
    assert source.omissions["JSON files that are no exported channels"] == 4
    assert source.omissions["messages that cannot be read"] == 2


@pytest.mark.parametrize("start", ["[", '{"a":', '{"guild": {"id": "1"}, "messages": ['])
def test_a_deeply_nested_file_takes_little_memory(tmp_path: Path, start: str) -> None:
    deep = start * 100_000 if len(start) < 9 else start + "[" * 100_000
    source = build(tmp_path, {**hall(discord_message("1", 0, "Tiles.")), "deep.json": deep.encode()})
    assert [channel.location for channel in source.list_channels()] == [HALL]


async def test_files_are_those_beside_the_channel_or_discords_own(tmp_path: Path) -> None:
    local = {"id": "1", "url": "hall.json_Files\\plan%20b.txt", "fileName": "plan b.txt", "fileSizeBytes": 7}
    outside = {"id": "2", "url": "../../../etc/passwd", "fileName": "passwd", "fileSizeBytes": 7}
    foreign = {"id": "3", "url": "https://evil.example/x.txt", "fileName": "x.txt", "fileSizeBytes": 7}
    files = hall(discord_message("1", 0, "Here.", attachments=[local, outside, foreign]))
    source = build(
        tmp_path,
        {f"deep/{name}": data for name, data in files.items()} | {"deep/hall.json_Files/plan b.txt": b"Copper."},
    )
    [[message]] = source.read_pages(HALL)
    good, *bad = message.uploads
    assert good.kind == "text/plain"
    assert await source.fetch_file(good, 100) == b"Copper."
    for upload in bad:
        with pytest.raises(InvalidDocument):
            await source.fetch_file(upload, 100)


def test_direct_messages_are_left_out_unless_wanted(tmp_path: Path) -> None:
    files = {
        "dm.json": discord_file(
            {"id": "800", "name": "Bela", "type": "DirectTextChat"}, [discord_message("1", 0, "Hi.")], guild="0"
        )
    }
    assert list(build(tmp_path, files).list_channels()) == []
    source = build(tmp_path, files, direct_messages=True)
    assert read(source, Location("discord", "", "800")) == ["Hi."]


def test_other_files_are_counted_and_a_folder_of_them_alone_is_refused(tmp_path: Path) -> None:
    source = build(
        tmp_path, {**hall(discord_message("1", 0, "Tiles.")), "notes.json": b'{"a": 1}', "list.json": b"[1]"}
    )
    assert read(source) == ["Tiles."]
    assert source.omissions["JSON files that are no exported channels"] == 2
    with pytest.raises(InvalidDocument):
        build(tmp_path / "other", {"readme.txt": b"Hi."})


def test_a_file_that_ends_early_gives_its_messages_and_is_named(tmp_path: Path) -> None:
    [(name, data)] = hall(*(discord_message("1", n, f"Tile {n}.") for n in range(1500))).items()
    source = build(tmp_path, {name: data[: len(data) * 9 // 10]})
    assert [len(page) for page in source.read_pages(HALL)] == [1000, 350]
    assert source.omissions == {"files that are damaged, and were read up to there": 1}


def test_an_archive_that_is_damaged_anywhere_gives_one_kind_of_error(tmp_path: Path) -> None:
    files = hall(*(discord_message("1", n, f"Tile {n} of {n * 7919} is red.") for n in range(80)))
    whole = tmp_path / "export.zip"
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    for at in range(30, whole.stat().st_size, 41):
        damaged = bytearray(whole.read_bytes())
        damaged[at] ^= 0x5A
        (tmp_path / "damaged.zip").write_bytes(damaged)
        with suppress(InvalidDocument):
            source = open_export(tmp_path / "damaged.zip", ExportOptions(), clock=ManualClock())
            for channel in source.list_channels():
                read(source, channel.location)
