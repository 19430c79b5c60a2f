"""Channels that DiscordChatExporter wrote as CSV, HTML or text, and what newer versions add to its JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.discord.export import LESSER, NO_DIRECT, NO_SERVER, DiscordExport, open_export
from adapters.discord.exports.csv_rows import MAX_CELL
from bot.platform.export_readers import ExportOptions
from bot.platform.history_source import Omission
from bot.platform.models import Location, Message
from engine.errors import InvalidDocument
from tests.support.clock import ManualClock
from tests.support.exports import START, discord_file, discord_id, discord_message, write_files

ROOF = Location("discord", "77", "60000")
CSV = """AuthorID,Author,Date,Content,Attachments,Reactions
"1","ada","2026-03-02T10:00:00.0000000+01:00","Slates, or
tiles?","https://cdn.discordapp.com/attachments/1/2/plan.txt?ex=1",""
"2","bela","02-Mar-26 09:05 AM","Slates.","",""
"2","bela","sometime","Odd.","",""
"""
MESSAGE = (
    '<div id="chatlog__message-container-{id}" class="chatlog__message-container" data-message-id="{id}">'
    '<div class="chatlog__message"><div class="chatlog__message-primary">{reply}{header}'
    '<div class="chatlog__content chatlog__markdown"><span class="chatlog__markdown-preserve">{text}</span>'
    '<span class="chatlog__edited-timestamp">(edited)</span></div>{more}</div></div></div>'
)
HEADER = (
    '<div class="chatlog__header"><span class="chatlog__author" title="{name}" data-user-id="{user}">'
    "{name}</span></div>"
)


def build(path: Path, files: dict[str, bytes], **options: Any) -> DiscordExport:
    return open_export(write_files(path / "export", files), ExportOptions(**options), clock=ManualClock())


def read(source: DiscordExport, place: Location = ROOF) -> list[Message]:
    return [message for page in source.read_pages(place) for message in page]


def page() -> bytes:
    header = HEADER.format(name="Ada", user="1")
    reply = '<div class="chatlog__reply"><div class="chatlog__reply-author" title="Eve">Eve</div>Old words</div>'
    embed = '<div class="chatlog__embed"><div class="chatlog__embed-title">Tides</div><div>14:20</div></div>'
    file = '<div class="chatlog__attachment"><a href="https://cdn.discordapp.com/attachments/1/2/a.txt">a.txt</a></div>'
    first = MESSAGE.format(
        id=discord_id(0), reply=reply, header=header, text="Slates &amp; tiles<br>today", more=embed + file
    )
    second = MESSAGE.format(id=discord_id(1), reply="", header="", text="Nails", more="")
    return f'<html><body><div class="chatlog"><div class="chatlog__message-group">{first}{second}</div></div>'.encode()


def test_csv_is_read_with_authors_times_and_files(tmp_path: Path) -> None:
    source = build(tmp_path, {"Town - Trades - roof [60000].csv": CSV.encode()}, workspace="77")
    first, second = read(source)
    assert (first.author, first.time, first.text) == ("1", START, "Slates, or\ntiles?")
    assert [upload.name for upload in first.uploads] == ["plan.txt"]
    assert (second.author, second.text, second.time.minute) == ("2", "Slates.", 5)
    assert source.omissions == {"messages that cannot be read": 1}
    assert [(channel.name, channel.kind) for channel in source.list_channels()] == [("roof", "closed")]
    assert [document.id for document in read(source)] == [first.id, second.id]
    assert read(build(tmp_path, {}), build(tmp_path, {}).list_channels()[0].location)[0].text == first.text


TEXT = f"""{"=" * 62}
Guild: Town
Channel: Trades / roof
{"=" * 62}

[3/2/2026 9:00 AM] ada
Slates, or
[tiles]?

{{Attachments}}
https://cdn.discordapp.com/attachments/1/2/plan.txt

[3/2/2026 9:05 AM] bela (pinned)
Slates.

{{Reactions}}
thumb (2)

{"=" * 62}
Exported 2 message(s)
{"=" * 62}
"""


def test_text_is_read_with_authors_times_and_files(tmp_path: Path) -> None:
    source = build(tmp_path, {"Town - Trades - roof [60000].txt": TEXT.encode()}, workspace="77")
    first, second = read(source)
    assert (first.time, first.text) == (START, "Slates, or\n[tiles]?")
    assert [upload.name for upload in first.uploads] == ["plan.txt"]
    assert (second.text, second.time.minute) == ("Slates.", 5)
    people = [source.get_person(each.author) for each in (first, second)]
    assert [person and person.name for person in people] == ["ada", "bela"]


def test_a_rule_within_a_message_ends_nothing(tmp_path: Path) -> None:
    text = TEXT.replace("Slates.", f"Slates.\n{'=' * 30}\nNails.")
    *_, last = read(build(tmp_path, {"Town - Trades - roof [60000].txt": text.encode()}, workspace="77"))
    assert last.text.endswith("Nails.")


def test_a_head_within_a_message_begins_none(tmp_path: Path) -> None:
    text = TEXT.replace("Slates.", "Log:\n[3/1/2026 8:00 AM] carla\nNails.")
    *_, last = read(build(tmp_path, {"Town - Trades - roof [60000].txt": text.encode()}, workspace="77"))
    assert last.text == "Log:\n[3/1/2026 8:00 AM] carla\nNails."


def test_the_ending_of_a_name_can_be_in_capitals(tmp_path: Path) -> None:
    whole = discord_file({"id": "60000", "name": "roof"}, [discord_message("1", 0, "Tiles.")])
    assert [message.text for message in read(build(tmp_path, {"ROOF.JSON": whole}))] == ["Tiles."]


def test_messages_with_times_of_another_form_are_counted(tmp_path: Path) -> None:
    text = TEXT.replace("3/2/2026 9:00 AM", "2 March 2026, 9:00").replace("3/2/2026 9:05 AM", "2 March 2026, 9:05")
    source = build(tmp_path, {"Town - Trades - roof [60000].txt": text.encode()}, workspace="77")
    assert [message for channel in source.list_channels() for message in source.read_pages(channel.location)] == []
    assert sum(source.omissions.values()) == 2


def test_html_is_read_with_authors_times_embeds_and_files(tmp_path: Path) -> None:
    source = build(tmp_path, {"Town - roof [60000].html": page()}, workspace="77")
    first, second = read(source)
    assert (first.id, first.author, first.time) == (discord_id(0), "1", START)
    assert first.text == "Slates & tiles\ntoday\nTides\n14:20"
    assert [upload.name for upload in first.uploads] == ["a.txt"]
    assert (second.author, second.text) == ("1", "Nails")
    person = source.get_person("1")
    assert person is not None
    assert person.name == "Ada"


def test_json_has_precedence(tmp_path: Path) -> None:
    whole = discord_file({"id": "60000", "name": "roof"}, [discord_message("1", 0, "Tiles.")])
    files = {"Town - roof [60000].json": whole, "Town - roof [60000].html": page(), "notes.csv": b"a,b\n"}
    source = build(tmp_path, files)
    assert [document.text for document in read(source)] == ["Tiles.", "Nails"]
    assert source.omissions == {
        LESSER: 1,
        "CSV, HTML and text files that are no exported channels": 1,
    }


def test_forwards_and_embeds_of_json_are_read(tmp_path: Path) -> None:
    shown = {"content": "Pier seven", "timestamp": START.isoformat(), "attachments": [], "embeds": [{"title": "Tides"}]}
    rows = [
        discord_message("1", 0, "", forwardedMessage=shown, reference={"type": "Forward", "channelId": "5"}),
        discord_message(
            "2", 1, "Alarm", is_bot=True, embeds=[{"title": "Gate", "fields": [{"name": "Since", "value": "9"}]}]
        ),
        discord_message("1", 2, "See", embeds=[{"title": "A page", "url": "https://tides.example"}]),
    ]
    source = build(tmp_path, {"a.json": discord_file({"id": "60000", "name": "roof"}, rows)})
    forward, alarm, link = read(source)
    assert forward.forwarded == f"Forwarded message from <#5>, <t:{int(START.timestamp())}>:\n> Pier seven\n> Tides"
    assert alarm.text == "Alarm\nGate\nSince: 9"
    assert (link.text, link.previews) == ("See", "A page")


def test_a_row_that_is_no_csv_costs_no_other(tmp_path: Path) -> None:
    first, last = (f'"1","ada","2026-03-02T10:0{number}:00+00:00","Row {number}","",""' for number in (0, 2))
    broken = f'"1","ada","2026-03-02T10:01:00+00:00","{"x" * (MAX_CELL + 100)}","",""'
    head = "AuthorID,Author,Date,Content,Attachments,Reactions"
    files = {
        "Town - roof [60000].csv": f"{head}\n{first}\n{broken}\n{last}".encode(),
        "Town - quay [60001].csv": f"{'x' * (MAX_CELL + 100)}\n{first}".encode(),
    }
    source = build(tmp_path, files, workspace="77")
    assert [document.text for document in read(source)] == ["Row 0", "Row 2"]
    assert read(source, Location("discord", "77", "60001")) == []
    named = Omission("messages that cannot be read", "roof", "Town - roof [60000].csv, line 3")
    assert named in source.omissions.list_all()
    assert {each.channel for each in source.omissions.list_all()} == {"roof", "quay"}


# The kinds of messages by DiscordChatExporter's names, and numbers for those that it does not know.
KINDS = (
    *("Default", "RecipientAdd", "RecipientRemove", "Call", "ChannelNameChange", "ChannelIconChange"),
    *("ChannelPinnedMessage", "GuildMemberJoin", "ThreadCreated", "Reply"),
    *(str(number) for number in range(8, 47)),
)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_message_is_read_or_counted(tmp_path: Path, kind: str) -> None:
    row = {**discord_message("1", 0, "Slates."), "type": kind}
    source = build(tmp_path, {"roof.json": discord_file({"id": "60000", "name": "roof"}, [row])})
    texts = [document.text for document in read(source)]
    named = sum(count for kind, count in source.omissions.items() if "notices" in kind)
    assert (texts == ["Slates."], named) in {(True, 0), (False, 1)}


def test_the_first_message_of_a_post_has_its_title_whatever_its_id(tmp_path: Path) -> None:
    post = {"id": "60001", "type": "GuildPublicThread", "name": "Which slates?", "categoryId": "60000"}
    rows = [discord_message("1", 5, "The old ones crack"), discord_message("1", 6, "Mine, too")]
    source = build(tmp_path, {"post.json": discord_file(post, rows)})
    place = Location("discord", source.list_channels()[0].location.workspace, "60000")
    assert [(message.title, message.text) for message in read(source, place)] == [
        ("Which slates?", "The old ones crack"),
        ("", "Mine, too"),
    ]


def test_a_channel_is_known_by_its_content_and_a_server_by_any_name(tmp_path: Path) -> None:
    source = build(
        tmp_path, {"roof.csv": CSV.encode(), "prices.csv": b"a,b\n1,2\n"}, workspace="Town", direct_messages=True
    )
    [channel] = source.list_channels()
    assert (channel.name, len(read(source, channel.location))) == ("roof", 2)
    assert source.omissions["CSV, HTML and text files that are no exported channels"] == 1
    assert channel.location.workspace.isdigit()


def test_a_damaged_file_is_read_up_to_there_and_named(tmp_path: Path) -> None:
    whole = discord_file(
        {"id": "60000", "type": "GuildTextChat", "name": "roof"}, [discord_message("1", n, "Slates") for n in (1, 2)]
    )
    source = build(tmp_path, {"roof.json": whole[: whole.rindex(b"Slates")]})
    [channel] = source.list_channels()
    assert [message.text for message in read(source, channel.location)] == ["Slates"]
    assert (
        Omission("files that are damaged, and were read up to there", "roof", "roof.json")
        in source.omissions.list_all()
    )


def test_csv_of_older_versions_is_read_and_numbered_parts_are_one_channel(tmp_path: Path) -> None:
    old = 'AuthorID;Author;Date;Content;Attachments;Reactions;\n"1";"ada#1";"28-Nov-19 04:56 PM";"{}";"";"";\n'
    files = {f"trades/roof/{n}.csv": old.format(text).encode() for n, text in ((1, "Slates"), (2, "Tiles; nails"))}
    source = build(tmp_path, files, workspace="77", direct_messages=True)
    [channel] = source.list_channels()
    assert channel.name == "roof"
    messages = read(source, channel.location)
    assert [message.text for message in messages] == ["Slates", "Tiles; nails"]
    assert len({message.id for message in messages}) == 2
    assert not +source.omissions


def test_files_named_by_ids_are_channels_of_their_own(tmp_path: Path) -> None:
    ids = ("600000000000000001", "600000000000000002")
    files = {f"export/{name}.csv": CSV.encode() for name in ids}
    files[f"export/{ids[0]} [part 2].csv"] = CSV.replace("Slates", "Beams").encode()
    source = build(tmp_path, files, workspace="77", direct_messages=True)
    assert [channel.location.channel for channel in source.list_channels()] == list(ids)
    messages = read(source, Location("discord", "77", ids[0]))
    assert len({message.id for message in messages}) == len(messages) == 4


@pytest.mark.parametrize("names", [("2019", "2020"), ("1", "3"), ("1", "roof")])
def test_numbers_that_are_no_sequence_are_channels(tmp_path: Path, names: tuple[str, ...]) -> None:
    source = build(
        tmp_path, {f"export/{name}.csv": CSV.encode() for name in names}, workspace="77", direct_messages=True
    )
    assert [channel.name for channel in source.list_channels()] == list(names)


def test_a_file_that_names_no_server_is_left_out_until_somebody_says_it(tmp_path: Path) -> None:
    names = ("general.csv", "600000000000000001.csv", "roof [60000].csv")
    with pytest.raises(InvalidDocument, match="server") as caught:
        build(tmp_path, dict.fromkeys(names, CSV.encode()))
    assert "--workspace" in caught.value.hint
    assert len(build(tmp_path, {}, workspace="77", direct_messages=True).list_channels()) == 3
    source = build(tmp_path, {"Town - quay [60001].csv": CSV.encode()})
    assert [channel.name for channel in source.list_channels()] == ["quay"]
    assert source.omissions[NO_SERVER] == 3


def test_files_of_two_servers_do_not_share_one(tmp_path: Path) -> None:
    names = ("Town - roof [60000].csv", "Club - board [70000].csv")
    source = build(tmp_path, dict.fromkeys(names, CSV.encode()))
    assert len({channel.location.workspace for channel in source.list_channels()}) == 2


def test_direct_messages_of_any_form_are_left_out_unless_they_are_wanted(tmp_path: Path) -> None:
    files = {"Direct Messages - Private - ada [60000].csv": CSV.encode()}
    source = build(tmp_path, files, workspace="77")
    assert not source.list_channels()
    assert source.omissions == {NO_DIRECT: 1}
    assert len(build(tmp_path, {}, direct_messages=True).list_channels()) == 1


def test_one_date_of_a_file_says_whether_its_days_are_first(tmp_path: Path) -> None:
    text = TEXT.replace("3/2/2026 9:00 AM", "2/3/2026 9:00 AM").replace("3/2/2026 9:05 AM", "13/7/2026 2:20 PM")
    rows = '"1","ada","2/3/2026 9:00 AM","Slates","",""\n"2","bela","13/7/2026 2:20 PM","Nails","",""\n'
    files = {
        "Town - roof [60000].txt": text.encode(),
        "Town - quay [60001].csv": f"AuthorID,Author,Date,Content,Attachments,Reactions\n{rows}".encode(),
    }
    source = build(tmp_path, files, workspace="77")
    for place in (ROOF, Location("discord", "77", "60001")):
        assert [(each.time.day, each.time.month) for each in read(source, place)] == [(2, 3), (13, 7)]


def test_a_message_whose_time_cannot_be_read_is_no_part_of_another(tmp_path: Path) -> None:
    text = TEXT.replace("[3/2/2026 9:05 AM] bela", "[31/31/2026 9:05 AM] bela").replace(
        "Slates, or", "Slates,\n\n[9:00] or"
    )
    source = build(tmp_path, {"Town - roof [60000].txt": text.encode()}, workspace="77")
    [message] = read(source)
    assert (message.text, [upload.name for upload in message.uploads]) == (
        "Slates,\n\n[9:00] or\n[tiles]?",
        ["plan.txt"],
    )
    assert source.omissions == {"messages that cannot be read": 1}


def test_films_of_a_page_are_files_and_its_notices_are_counted(tmp_path: Path) -> None:
    film = (
        '<div class="chatlog__attachment"><video><source src="https://cdn.discordapp.com/1/2/roof.mp4"></video></div>'
    )
    header = HEADER.format(name="Ada", user="1")
    said = MESSAGE.format(id=discord_id(0), reply="", header=header, text="", more=film)
    notice = '<span class="chatlog__system-notification-content">changed the name</span>'
    renamed = MESSAGE.format(id=discord_id(1), reply="", header=header, text="", more=notice)
    source = build(
        tmp_path,
        {"roof.html": f"<html><body>{said}{renamed}</body></html>".encode()},
        workspace="77",
        direct_messages=True,
    )
    [message] = read(source, source.list_channels()[0].location)
    assert [upload.name for upload in message.uploads] == ["roof.mp4"]
    assert source.omissions == {"notices, such as who joined a server": 1}


NOTICES = (
    "Joined the server.",
    "Pinned a message.",
    "Started a thread.",
    "Started a call that lasted 12 minutes.",
    "Added Bela to the group.",
    "Left the group.",
    "Changed the channel name: quay",
    "Changed the channel icon.",
)


@pytest.mark.parametrize("notice", NOTICES)
def test_notices_of_csv_and_text_are_counted(tmp_path: Path, notice: str) -> None:
    text = TEXT.replace("Slates.", notice)
    table = CSV.replace("Slates.", notice)
    for name, data in ((f"Town - roof [60000].{ending}", data) for ending, data in (("txt", text), ("csv", table))):
        source = build(tmp_path / name[-3:], {name: data.encode()}, workspace="77")
        assert [message.text for message in read(source)][1:] == []
        assert source.omissions["notices, such as who joined a server"] == 1


def test_what_people_say_of_a_server_is_no_notice(tmp_path: Path) -> None:
    text = TEXT.replace("Slates.", "Joined the server. Where is the roof?")
    source = build(tmp_path, {"Town - roof [60000].txt": text.encode()}, workspace="77")
    assert len(read(source)) == 2
