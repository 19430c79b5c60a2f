"""Channels in several files and forms: direct messages, one channel in two forms, and the order of day and month."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.discord.export import (
    LESSER,
    MAY_BE_DIRECT,
    NO_DIRECT,
    NO_SERVER_BESIDE_DIRECT,
    TWICE,
    DiscordExport,
    open_export,
)
from adapters.discord.exports.times import DAY_FIRST, MONTH_FIRST, USUAL, DateOrders
from bot.platform.export_readers import ExportOptions
from engine.errors import InvalidDocument
from tests.support.clock import ManualClock
from tests.support.exports import discord_file, discord_id, discord_message, write_files

RULE = "=" * 62
HEAD = "AuthorID,Author,Date,Content,Attachments,Reactions"


def build(path: Path, files: dict[str, bytes], **options: Any) -> DiscordExport:
    return open_export(write_files(path / "export", files), ExportOptions(**options), clock=ManualClock())


def texts(source: DiscordExport) -> list[str]:
    places = [channel.location for channel in source.list_channels()]
    return [message.text for place in places for page in source.read_pages(place) for message in page]


def ids(source: DiscordExport) -> set[str]:
    places = [channel.location for channel in source.list_channels()]
    return {message.id for place in places for page in source.read_pages(place) for message in page}


def csv(*rows: tuple[str, str]) -> bytes:
    lines = [f'"1","ada","{time}","{text}","",""' for time, text in rows or [("2026-03-02T10:00:00Z", "Slates")]]
    return "\n".join([HEAD, *lines]).encode()


def text(guild: str, place: str, *rows: tuple[str, str]) -> bytes:
    said = "".join(f"[{time}] ada\n{words}\n\n" for time, words in rows or [("3/2/2026 9:00 AM", "Slates")])
    return f"{RULE}\nGuild: {guild}\nChannel: {place}\n{RULE}\n\n{said}".encode()


def page(guild: str, place: str, entry: str = '<div class="preamble__entry">') -> bytes:
    head = f"<head><title>{guild} - {place.rpartition(' / ')[2]}</title></head>"
    entries = f"{entry}{guild}</div>{entry}{place}</div>" if entry else ""
    author = '<span class="chatlog__author" title="ada" data-user-id="1">ada</span>'
    content = '<div class="chatlog__content">Slates</div>'
    said = f'<div class="chatlog__message" data-message-id="{discord_id(0)}">{author}{content}</div>'
    return f"<html>{head}<body>{entries}{said}</body></html>".encode()


def whole(guild: str, channel: dict[str, str]) -> bytes:
    return discord_file(channel, [discord_message("1", 0, "Slates")], guild)


DIRECT = {
    "ada.txt": text("Direct Messages", "Private / ada"),
    "bela.txt": text("Direct Messages", "bela"),
    "Town - chat [60001].txt": text("Direct Messages", "ada"),
    "ada.html": page("Direct Messages", "Private / ada"),
    "small.html": page("Direct Messages", "ada", "<div class=preamble__entry>"),
    "old.html": page("Direct Messages", "ada", ""),
    "Direct Messages/ada.csv": csv(),
    "Direct Messages - ada.csv": csv(),
    "0/600000000000000001.csv": csv(),
}


@pytest.mark.parametrize("name", DIRECT)
def test_direct_messages_are_known_by_the_head_or_the_place_of_a_file(tmp_path: Path, name: str) -> None:
    files = {name: DIRECT[name], "Town - roof [60000].txt": text("Town", "Trades / roof")}
    source = build(tmp_path, files, workspace="77")
    assert [channel.name for channel in source.list_channels()] == ["roof"]
    assert source.omissions == {NO_DIRECT: 1}
    wanted = build(tmp_path, files, workspace="77", direct_messages=True).list_channels()
    assert sorted(channel.location.workspace for channel in wanted) == ["", "77"]


@pytest.mark.parametrize(
    "other",
    [
        {"ada [60001].txt": text("Direct Messages", "Private / ada")},
        {"ada [60001].html": page("Direct Messages", "ada")},
        {"ada.json": whole("0", {"id": "60001", "name": "ada"})},
    ],
)
def test_a_file_without_a_head_is_as_direct_as_another_of_its_channel(tmp_path: Path, other: dict[str, bytes]) -> None:
    source = build(tmp_path, {"ada [60001].csv": csv(), **other}, workspace="77")
    assert not source.list_channels()
    assert source.omissions == {NO_DIRECT: 2}


def test_a_file_without_a_server_is_of_none_if_some_are_of_people(tmp_path: Path) -> None:
    town = {"hall.json": discord_file({"id": "500", "name": "hall"}, [discord_message("1", 0, "Slates")])}
    files = {**town, "bela.csv": csv()}
    assert len(build(tmp_path / "town", files, direct_messages=True).list_channels()) == 2
    source = build(tmp_path / "mixed", {**files, "ada.json": whole("0", {"id": "60001", "name": "ada"})})
    assert [channel.name for channel in source.list_channels()] == ["hall"]
    assert source.omissions == {NO_DIRECT: 1, NO_SERVER_BESIDE_DIRECT: 1}


@pytest.mark.parametrize("options", [{}, {"direct_messages": True}])
def test_a_file_that_can_be_of_people_is_of_no_named_server(tmp_path: Path, options: dict[str, bool]) -> None:
    files = {"Town - roof [60000].csv": csv(), "600000000000000007.csv": csv(), "ada.txt": DIRECT["ada.txt"]}
    source = build(tmp_path, files, workspace="77", **options)
    assert "600000000000000007" not in {channel.location.channel for channel in source.list_channels()}
    assert source.omissions[NO_SERVER_BESIDE_DIRECT] == 1


def test_a_head_names_the_server_of_a_file_with_another_name(tmp_path: Path) -> None:
    files = {"a.txt": text("Town", "Trades / roof"), "b.html": page("Town &amp; Co", "Trades / quay")}
    source = build(tmp_path, files)
    assert {channel.name for channel in source.list_channels()} == {"roof", "quay"}
    assert len({channel.location.workspace for channel in source.list_channels()}) == 2
    assert not +source.omissions


@pytest.mark.parametrize(
    "names",
    [
        ("Town - Trades - roof [600000000000000001].html", "Town - Trades - roof [600000000000000001].csv"),
        ("Town - Trades - roof [600000000000000001].html", "Town - Trades - roof [600000000000000001].txt"),
        ("Town - Trades - roof [600000000000000001].csv", "Town - Trades - roof [600000000000000001].txt"),
        ("Town - Trades - roof [600000000000000001].csv", "roof.txt"),
        ("roof.html", "Town - Trades - roof [600000000000000001].csv"),
        ("one/roof.html", "two/chat.txt"),
        ("roof.html", "roof.csv"),
        ("a.json", "Town - Trades - roof.csv"),
        ("a.json", "roof.html"),
        ("a.json", "600000000000000001.csv"),
        ("a.json", "Town - Trades - roof [600000000000000001] (after 2026-01-01).csv"),
    ],
)
def test_one_channel_in_two_forms_is_read_once(tmp_path: Path, names: tuple[str, str]) -> None:
    channel = {"id": "600000000000000001", "name": "roof", "category": "Trades"}
    shapes = {
        "csv": csv(),
        "txt": text("Town", "Trades / roof"),
        "html": page("Town", "Trades / roof"),
        "json": discord_file(channel, [discord_message("1", 0, "Slates")]),
    }
    source = build(tmp_path, {name: shapes[name.rpartition(".")[2]] for name in names}, workspace="77")
    assert texts(source) == ["Slates"]
    assert [(each.kind, each.name) for each in source.omissions.list_all()] == [(LESSER, names[1])]


def test_messages_that_only_the_lesser_form_has_are_read(tmp_path: Path) -> None:
    channel, name = {"id": "60000", "name": "roof", "category": "Trades"}, "Town - Trades - roof [60000]"
    old = discord_file(channel, [discord_message("1", at, f"Tile {at}") for at in (0, 60 * 24, 60 * 24 * 2)])
    later = csv(
        ("2026-02-20 09:00", "Nails"),
        ("2026-03-02 19:00", "Tile 0"),
        ("2026-03-03 12:00", "Tile 1440 as CSV shows it"),
        ("2026-03-04 13:00", "Beams"),
        ("2026-06-01 09:00", "Ropes"),
    )
    source = build(tmp_path, {f"{name}.json": old, f"{name}.csv": later})
    assert texts(source) == ["Tile 0", "Tile 1440", "Tile 2880", "Nails", "Beams", "Ropes"]
    assert [(each.channel, each.count) for each in source.omissions.list_all()] == [("roof", 2)]


def test_a_page_is_compared_with_json_by_the_ids_of_its_messages(tmp_path: Path) -> None:
    channel = {"id": "60000", "name": "roof", "category": "Trades"}
    filtered = discord_file(channel, [discord_message("1", at, "Tiles") for at in (-60, 60)])
    files = {"a.json": filtered, "b.html": page("Town", "Trades / roof")}
    assert texts(build(tmp_path, files)) == ["Tiles", "Tiles", "Slates"]


def test_a_form_of_some_days_does_not_double_those_of_another(tmp_path: Path) -> None:
    name = "Town - Trades - roof [60000]"
    rows = [("2026-02-02T10:00:00Z", "Nails"), ("2026-03-02T09:00:00Z", "Slates")]
    files = {f"{name} (after 2026-03-01).html": page("Town", "Trades / roof"), f"{name}.csv": csv(*rows)}
    assert sorted(texts(build(tmp_path, files, workspace="77"))) == ["Nails", "Slates"]


def test_other_days_and_other_channels_are_no_second_form(tmp_path: Path) -> None:
    files = {
        "Town - Trades - roof [60000] (after 2026-03-01).html": page("Town", "Trades / roof"),
        "Town - Trades - roof [60000] (before 2026-03-01).csv": csv(("2026-02-02T10:00:00Z", "Tiles")),
        "Town - Trades - roof [60001].csv": csv(("2026-02-02T10:00:00Z", "Nails")),
        "one.txt": text("Town", "Trades / roof"),
    }
    source = build(tmp_path, files, workspace="77")
    assert sorted(texts(source)) == ["Nails", "Slates", "Slates", "Tiles"]
    assert len(source.list_channels()) == 3
    assert not +source.omissions


def test_a_thread_that_is_here_as_json_is_read_once(tmp_path: Path) -> None:
    thread = {"id": "60009", "name": "nails", "type": "GuildPublicThread", "category": "roof", "categoryId": "60000"}
    files = {
        "a.json": discord_file(thread, [discord_message("1", 0, "Slates")]),
        "Town - roof - nails [60009].html": page("Town", "Trades / roof / nails"),
    }
    assert texts(build(tmp_path, files)) == ["Slates"]


def test_dates_are_read_in_the_order_that_the_room_or_else_the_export_shows(tmp_path: Path) -> None:
    noon, plain = ("4/3/2026 9:00 AM", "Slates"), ("4/3/2026 9:00", "Tiles")
    files = {
        "Town - roof [60000].txt": text("Town", "roof", noon),
        "Town - roof [60000] (after 2026-07-01).txt": text("Town", "roof", ("13/7/2026 9:00 AM", "Nails")),
        "Town - quay [60001].csv": csv(noon, plain),
        "Town - hall [60002].csv": csv(("7/13/2026 9:00 AM", "Beams"), noon),
        "Town - mill [60003].csv": csv(("13/7/2026 9:00 PM", "Ropes"), ("14/7/2026 9:00 PM", "Sails")),
    }
    source = build(tmp_path, files, workspace="77")
    found = {
        (channel.name, message.text): (message.time.day, message.time.month)
        for channel in source.list_channels()
        for messages in source.read_pages(channel.location)
        for message in messages
    }
    assert found["roof", "Slates"] == (4, 3)
    assert found["quay", "Slates"] == (4, 3)
    assert found["quay", "Tiles"] == (4, 3)
    assert found["hall", "Slates"] == (3, 4)


def test_each_file_is_searched_for_dates_once_and_only_if_it_must() -> None:
    times = {"a": ["4/3/2026 9:00 AM"], "b": ["13/3/2026 9:00 AM"], "c": ["4/3/2026 9:00"], "d": ["2026-03-04"]}
    read: list[str] = []

    def read_times(name: str) -> list[str]:
        read.append(name)
        return times[name]

    orders = DateOrders(read_times)
    for name, room in zip(times, ("1", "1", "2", "2"), strict=True):
        orders.add(name, room)
    assert orders.find("d") == USUAL
    assert read == ["d"]
    assert orders.find("b") == (DAY_FIRST[0], USUAL[1])
    assert orders.find("a") == (DAY_FIRST[0], USUAL[1])
    assert read == ["d", "b", "a"]
    assert orders.find("c") == USUAL
    assert sorted(read) == ["a", "b", "c", "d"]
    times["c"] = ["3/13/2026 9:00"]
    orders = DateOrders(read_times)
    orders.add("c", "2")
    assert orders.find("c") == (USUAL[0], MONTH_FIRST[1])


def test_a_file_that_may_be_of_people_needs_the_same_consent(tmp_path: Path) -> None:
    named = {"Town - roof [60000].csv": csv(("2026-03-02T09:00:00Z", "Tiles"))}
    for name in ("bela.csv", "60007.csv", "60007 [60007].csv"):
        source = build(tmp_path / name, {name: csv(), **named}, workspace="77")
        assert (texts(source), +source.omissions) == (["Tiles"], {MAY_BE_DIRECT: 1})
        agreed = build(tmp_path / name, {}, workspace="77", direct_messages=True)
        assert sorted(texts(agreed)) == ["Slates", "Tiles"]
    with pytest.raises(InvalidDocument, match="direct messages"):
        build(tmp_path / "alone", {"bela.csv": csv()}, workspace="77")


MINUTE = [("2026-03-02 09:00", "ok"), ("2026-03-02 09:00", "ok"), ("2026-03-02 09:01", "Tiles")]
PRECISE = [("2026-03-02T09:00:00.1230000+00:00", "Slates"), ("2026-03-02T09:00:00.1230000+00:00", "Slates")]


@pytest.mark.parametrize("rows", [MINUTE, PRECISE])
@pytest.mark.parametrize("ending", ["csv", "txt"])
def test_two_exports_of_one_channel_that_overlap_double_nothing(
    tmp_path: Path, rows: list[tuple[str, str]], ending: str
) -> None:
    later = [*rows, ("2026-03-05 10:00", "Nails")]
    name = "Town - Trades - roof [60000]"
    parts = {f"{name}.{ending}": rows, f"{name} (after 2026-03-01).{ending}": later}
    files = {each: csv(*said) if ending == "csv" else text("Town", "roof", *said) for each, said in parts.items()}
    source = build(tmp_path, files, workspace="77")
    assert sorted(texts(source)) == sorted(words for _, words in later)
    assert +source.omissions == {TWICE: len(rows)}
    alone = build(tmp_path / "alone", {"Town - roof [60000].csv": csv(*rows)}, workspace="77")
    again = build(tmp_path / "again", {"Town - roof [60000].csv": csv(*later)}, workspace="77")
    assert ids(alone) < ids(again)


def test_another_message_of_the_same_minute_is_another_one(tmp_path: Path) -> None:
    name = "Town - Trades - roof [60000]"
    files = {
        f"{name} (before).csv": csv(("2026-03-02 09:00", "Slates"), ("2026-03-02 09:00", "Tiles")),
        f"{name} (after).csv": csv(("2026-03-02 09:00", "Nails"), ("2026-03-02 09:00", "Tiles")),
    }
    assert sorted(texts(build(tmp_path, files, workspace="77"))) == ["Nails", "Slates", "Tiles"]


def test_files_of_people_alone_are_no_error_but_those_of_no_server_are(tmp_path: Path) -> None:
    assert not build(tmp_path / "one", {"ada.txt": DIRECT["ada.txt"]}).list_channels()
    with pytest.raises(InvalidDocument, match="server"):
        build(tmp_path / "two", {"bela.csv": csv()})
