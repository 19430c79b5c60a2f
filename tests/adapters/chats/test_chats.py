"""Chats of WhatsApp, Telegram and Teams become messages with authors and times."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from adapters.chats import teams, telegram, whatsapp
from adapters.chats.source import NOT_EXPORTED, NOTICES, UNREADABLE, ExportedChats, plain_text_of
from adapters.chats.whatsapp_heads import find_order
from adapters.common.json_fields import MAX_ITEMS
from bot.platform.export_readers import ExportOptions
from bot.platform.models import Message
from engine.errors import CorruptFile, InvalidDocument
from tests.support.clock import ManualClock
from tests.support.exports import write_files

ANDROID = """03/04/2026, 14:05 - Messages and calls are end-to-end encrypted.
03/04/2026, 14:06 - Ada: The slates come
on Friday: all of them.
13/04/2026, 09:00 - Bela Roth: plan.txt (file attached)
13/04/2026, 09:01 - Bela Roth: lost.jpg (file attached)
"""
IPHONE = (
    "\u200e[4/13/26, 2:05:33\u202fPM] Ada: Slates.\r\n[4/13/26, 12:05:33 AM] ~ Bela: \u200e<attached: 01-PLAN.txt>\r\n"
)


def open_at(module: Any, path: Path, files: dict[str, Any], name: str = "", **options: Any) -> ExportedChats:
    raw = {key: each if isinstance(each, bytes) else json.dumps(each).encode() for key, each in files.items()}
    found: ExportedChats = module.open_export(
        write_files(path / "export", raw) / name, ExportOptions(**options), clock=ManualClock()
    )
    return found


def read(source: ExportedChats) -> list[Message]:
    return [message for chat in source.list_channels() for page in source.read_pages(chat.location) for message in page]


async def test_a_chat_of_whatsapp_has_authors_times_and_files(tmp_path: Path) -> None:
    files = {"WhatsApp Chat with Roof.txt": ANDROID.encode(), "plan.txt": b"Copper."}
    source = open_at(whatsapp, tmp_path, files)
    slates, plan, lost = read(source)
    assert [(channel.name, channel.kind) for channel in source.list_channels()] == [("Roof", "closed")]
    assert (slates.author, slates.text) == ("Ada", "The slates come\non Friday: all of them.")
    assert slates.time == datetime(2026, 4, 3, 14, 6, tzinfo=UTC)
    assert (plan.author, plan.text, lost.uploads) == ("Bela Roth", "", ())
    assert await source.fetch_file(plan.uploads[0], 100) == b"Copper."
    assert source.omissions == {NOTICES: 1, NOT_EXPORTED: 1, "text files that are no chats": 1}
    again = read(open_at(whatsapp, tmp_path / "again", files))
    assert [each.id for each in again] == [slates.id, plan.id, lost.id]


def test_a_chat_of_an_iphone_has_american_dates(tmp_path: Path) -> None:
    files = {"WhatsApp Chat - Roof/_chat.txt": IPHONE.encode(), "WhatsApp Chat - Roof/01-PLAN.txt": b"Zinc."}
    source = open_at(whatsapp, tmp_path, files)
    slates, plan = read(source)
    assert [channel.name for channel in source.list_channels()] == ["Roof"]
    assert [slates.time, plan.time] == [
        datetime(2026, 4, 13, 14, 5, 33, tzinfo=UTC),
        datetime(2026, 4, 13, 0, 5, 33, tzinfo=UTC),
    ]
    assert [upload.name for upload in plan.uploads] == ["01-PLAN.txt"]


BARE = """13/04/2026, 09:00 - Bela: <attached: keys/private>
13/04/2026, 09:01 - Bela: <attached: ../keys/private>
13/04/2026, 09:02 - Bela: taxes.pdf (file attached)
13/04/2026, 09:03 - Bela: IMG-20260413-WA0007.jpg (file attached)
13/04/2026, 09:04 - Bela: <attached: 00000042-PLAN.pdf>
"""


def test_nobody_in_a_chat_can_name_other_files_of_its_folder(tmp_path: Path) -> None:
    name = "WhatsApp Chat with Roof.txt"
    files = {
        name: BARE.encode(),
        "IMG-20260413-WA0007.jpg": b"slates",
        "00000042-PLAN.pdf": b"plan",
        **dict.fromkeys(["keys/private", "private", "taxes.pdf", "other.txt"], b"secret"),
    }
    source = open_at(whatsapp, tmp_path, files, name)
    assert [file.url for document in read(source) for file in document.uploads] == [
        "IMG-20260413-WA0007.jpg",
        "00000042-PLAN.pdf",
    ]
    assert source.omissions == {NOT_EXPORTED: 3}


def test_a_chat_names_files_beside_it_alone(tmp_path: Path) -> None:
    files = {"Roof/_chat.txt": BARE.encode(), "Roof/keys/private": b"secret", "keys/private": b"secret"}
    source = open_at(whatsapp, tmp_path, files)
    assert [document.uploads for document in read(source)] == [()] * 5


@pytest.mark.parametrize(
    ("heads", "order"),
    [
        (["12.03.26, 14:05 - Ada: x"], "dmy"),
        (["3/4/26, 2:05 PM - Ada: x"], "mdy"),
        (["3/14/26, 14:05 - Ada: x"], "mdy"),
        (["2026-03-04, 14:05 - Ada: x"], "ymd"),
        (["3/4/26, 2:05 p. m. - Ada: x"], "dmy"),
        (["3/4/26, 2:05 PM - Ada: x", "2/5/26, 2:05 PM - Ada: x"], "dmy"),
        (["Ada: x", "14:05"], ""),
    ],
)
def test_the_order_of_dates_is_found_out(heads: list[str], order: str) -> None:
    assert find_order(heads) == order


ROOF = {
    "name": "Roof",
    "type": "private_group",
    "id": 7,
    "messages": [
        {"id": 1, "type": "service", "date": "2026-03-02T09:00:00", "action": "create_group"},
        {
            "id": 2,
            "type": "message",
            "date_unixtime": "1772442000",
            "from": "Ada",
            "from_id": "user1",
            "text": [
                "See ",
                {"type": "text_link", "text": "the table", "href": "https://tides.example"},
                {"type": "pre", "text": "a = 1"},
            ],
            "file": "files/plan.txt",
        },
        {
            "id": 3,
            "type": "message",
            "date": "2026-03-02T09:05:00",
            "from": "Bela",
            "text": "Slates",
            "forwarded_from": "Eve",
        },
        {
            "id": 4,
            "type": "message",
            "date": "2026-03-02T09:06:00",
            "from": "Bela",
            "text": "",
            "poll": {"question": "Zinc?", "answers": [{"text": "Yes", "voters": 2}]},
            "reply_to_message_id": 3,
        },
        {"id": 5, "type": "message", "date": "never", "from": "Bela", "text": "Odd"},
        {
            "id": 6,
            "type": "message",
            "date": "2026-03-02T09:07:00",
            "from": "Bela",
            "text": "",
            "photo": "(File not included. Change data exporting settings to download.)",
        },
    ],
}


async def test_a_chat_of_telegram_has_links_code_polls_and_forwards(tmp_path: Path) -> None:
    source = open_at(telegram, tmp_path, {"result.json": ROOF, "files/plan.txt": b"Copper."})
    table, forward, poll, photo = read(source)
    assert (table.id, table.author, table.time) == ("2", "user1", datetime(2026, 3, 2, 9, tzinfo=UTC))
    assert table.text == "See the table (https://tides.example)\n```\na = 1\n```"
    person = source.get_person("user1")
    assert person is not None
    assert person.name == "Ada"
    assert await source.fetch_file(table.uploads[0], 100) == b"Copper."
    assert forward.forwarded == "Forwarded message by Eve:\n> Slates"
    assert (poll.text, poll.replies_to) == ("Poll: Zinc?\n- Yes (2 votes)", "3")
    assert (photo.uploads, photo.text) == ((), "")
    assert source.omissions == {NOTICES: 1, UNREADABLE: 1, NOT_EXPORTED: 1}


def test_a_checklist_of_telegram_has_its_tasks(tmp_path: Path) -> None:
    tasks = {"title": {"text": "Roof"}, "answers": [{"id": 1, "text": ["Buy ", {"type": "bold", "text": "zinc"}]}]}
    row = {"id": 1, "type": "message", "date": "2026-03-02T09:05:00", "from": "Ada", "text": "", "todo_list": tasks}
    [found] = read(open_at(telegram, tmp_path, {"result.json": {**ROOF, "messages": [row]}}))
    assert found.text == "List: Roof\n- Buy zinc"


def test_games_invoices_prizes_buttons_and_structured_texts_of_telegram_are_read(tmp_path: Path) -> None:
    buttons = [[{"type": "url", "text": "Rota", "data": "https://r.example"}, {"type": "callback", "text": "No"}]]
    structure = {
        "blocks": [{"type": "heading", "text": "Tides"}, {"type": "list", "items": [{"text": ["low ", "six"]}]}]
    }
    bodies: list[dict[str, object]] = [
        {"game_title": "Bridge", "game_description": "cards tonight"},
        {"invoice_information": '{"title": "Dues", "description": "for spring", "amount": 5}'},
        {"invoice_information": "{"},
        {"giveaway_information": {"quantity": 1, "additional_prize": "a lamp"}},
        {"text": "See", "inline_bot_buttons": buttons},
        {"rich_message": structure},
    ]
    rows = [
        {"id": number, "type": "message", "date": "2026-03-02T09:05:00", "from": "Ada", "text": "", **body}
        for number, body in enumerate(bodies)
    ]
    found = [each.text for each in read(open_at(telegram, tmp_path, {"result.json": {**ROOF, "messages": rows}}))]
    shown = ["Bridge\ncards tonight", "Dues\nfor spring", "", "a lamp", "See\nRota (https://r.example)"]
    assert found == [*shown, "Tides\nlow six"]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            "<p>See</p><table><tr><td>Part</td><td><p>Pin 9</p></td></tr><tr><th>Fee</th>\n<th>2</th></tr></table>end",
            "See\nPart | Pin 9\nFee | 2\nend",
        ),
        ("<table><tr><td></td><td>x<br>y</td></tr></table>", "| x y"),
        ("<table><tr><td>a<td>b\nc<tr><td>d<td>e</table>after<p>it</p>end", "a | b c\nd | e\nafterit\nend"),
        ("<table>\n<tr>\n<td>a</td>\n<td>b</td>\n</tr>\n</table>\n", "a | b"),
        ("a&nbsp;&lt;b<ul><li>one</li><li>two</li></ul>", "a <b\none\ntwo"),
    ],
)
def test_cells_of_a_table_in_html_stay_apart(html: str, text: str) -> None:
    assert plain_text_of(html) == text


async def test_pages_of_telegram_are_chats(tmp_path: Path) -> None:
    first = _page(
        _note(-1, "1 March 2026"),
        _note(1, "Ada created the group"),
        _entry(2, "Ada", "01.03.2026 10:00:00 UTC+02:00", '<div class="text">\nThe <b>slates</b><br>come\n</div>'),
        _entry(
            3,
            "",
            "01.03.2026 10:01:00 UTC+02:00",
            '<div class="reply_to details">In reply to <a href="#go_to_message2">this message</a></div>'
            '<div class="text">See <a href="https://tides.example">the table</a></div>',
        ),
    )
    second = _page(
        _entry(
            4,
            "Bela",
            "02.03.2026 10:00:00",
            '<div class="media_wrap"><a class="media clearfix media_file" href="files/plan.txt"><div class="body">'
            '<div class="title bold">plan.txt</div></div></a></div>',
        ),
        _entry(
            5,
            "Bela",
            "02.03.2026 10:01:00",
            '<div class="forwarded body"><div class="from_name">Eve <span class="date details">01.01.2026 09:00:00'
            '</span></div><div class="text">Zinc</div></div>',
        ),
        _entry(
            6,
            "Bela",
            "02.03.2026 10:02:00",
            '<div class="media_poll"><div class="question bold">Zinc?</div><div class="answer">Yes</div></div>'
            '<div class="media_voice_message"><div class="title bold">Voice message</div></div>',
        ),
    )
    pages = {"messages2.html": second.encode(), "messages.html": first.encode(), "files/plan.txt": b"Copper."}
    source = open_at(telegram, tmp_path, pages)
    slates, reply, plan, zinc, poll = read(source)
    assert [channel.name for channel in source.list_channels()] == ["Roof"]
    assert (slates.author, slates.text, slates.time.isoformat()) == (
        "Ada",
        "The slates\ncome",
        "2026-03-01T08:00:00+00:00",
    )
    assert (reply.author, reply.replies_to, reply.text) == ("Ada", "2", "See the table (https://tides.example)")
    assert await source.fetch_file(plan.uploads[0], 100) == b"Copper."
    assert (zinc.author, zinc.forwarded) == ("Bela", "Forwarded message by Eve:\n> Zinc")
    assert poll.text == "Zinc?\n- Yes"
    assert source.omissions == {NOTICES: 1, NOT_EXPORTED: 1}


def test_pages_beside_a_whole_export_are_not_read_again(tmp_path: Path) -> None:
    pages = _page(_entry(2, "Ada", "01.03.2026 10:00:00", '<div class="text">Slates</div>'))
    source = open_at(telegram, tmp_path, {"result.json": ROOF, "messages.html": pages.encode()})
    assert "Slates" not in {document.text for document in read(source)}


def test_pages_of_a_direct_chat_are_left_out_with_it_and_those_of_another_folder_are_read(tmp_path: Path) -> None:
    pages = _page(_entry(2, "Ada", "01.03.2026 10:00:00", '<div class="text">Slates</div>')).encode()
    direct = {**ROOF, "name": "Ada", "type": "personal_chat", "id": 8}
    both = {"a/result.json": direct, "a/messages.html": pages, "b/messages.html": pages}
    assert [message.text for message in read(open_at(telegram, tmp_path, both))] == ["Slates"]


def _page(*entries: str) -> str:
    head = '<div class="page_header"><div class="content"><div class="text bold">\nRoof \n</div></div></div>'
    return f'<html><body>{head}<div class="history">{"".join(entries)}</div></body></html>'


def _note(id_: int, text: str) -> str:
    return f'<div class="message service" id="message{id_}"><div class="body details">{text}</div></div>'


def _entry(id_: int, author: str, time: str, inner: str) -> str:
    """A message, or one that is joined to the message before."""
    name = f'<div class="from_name">\n{author} \n</div>' if author else ""
    date = f'<div class="pull_right date details" title="{time}">10:00</div>'
    joined = "" if author else " joined"
    return f'<div class="message default{joined}" id="message{id_}"><div class="body">{date}{name}{inner}</div></div>'


def test_direct_chats_of_telegram_are_read_on_request(tmp_path: Path) -> None:
    whole = {"chats": {"list": [ROOF, {**ROOF, "name": "Ada", "type": "personal_chat", "id": 8}]}}
    assert [channel.name for channel in open_at(telegram, tmp_path, {"result.json": whole}).list_channels()] == ["Roof"]
    names = [channel.name for channel in open_at(telegram, tmp_path, {}, direct_messages=True).list_channels()]
    assert names == ["Roof", "Ada"]


OLDER = """03/04/2026, 14:05 - Ada: Slates.
03/04/2026, 14:05 - Ada: Slates.
13/04/2026, 09:00 - Bela: Nails.
13/04/2026, 09:01 - Bela: plan.txt (file attached)
"""
NEWER = """13/04/2026, 09:00 - Bela: Nails.
13/04/2026, 09:01 - Bela: plan.txt (file attached)
13/04/2026, 09:00 - Bela: Nails.
14/04/2026, 10:00 - Ada: Zinc.
"""


def test_several_exports_of_a_chat_of_whatsapp_are_one(tmp_path: Path) -> None:
    chat, files = "WhatsApp Chat with Roof.txt", {"2026-04/plan.txt": b"Copper.", "2026-05/plan.txt": b"Copper."}
    files |= {f"2026-04/{chat}": OLDER.encode(), f"2026-05/{chat}": NEWER.encode()}
    source = open_at(whatsapp, tmp_path, files)
    found = read(source)
    assert [each.text for each in found] == ["Slates.", "Slates.", "Nails.", "", "Nails.", "Zinc."]
    assert [channel.name for channel in source.list_channels()] == ["Roof"]
    assert len({each.id for each in found}) == len(found)


def test_several_exports_of_a_chat_of_telegram_are_one(tmp_path: Path) -> None:
    first, second, other = (
        {"id": number, "type": "message", "date": f"2026-03-0{day}T09:00:00", "from": "Ada", "text": text}
        for number, day, text in ((1, 2, "Slates"), (2, 3, "Tiles"), (1, 4, "Zinc"))
    )
    changed = first | {"text": "Slates today", "edited": "2026-03-02T10:00:00"}
    files = {
        f"{folder}/result.json": ROOF | {"messages": rows}
        for folder, rows in (("a", [first, second]), ("b", [changed, second]), ("c", [first, other]))
    }
    assert [(each.id, each.text) for each in read(open_at(telegram, tmp_path, files))] == [
        ("1", "Slates today"),
        ("2", "Tiles"),
        ("1-2", "Zinc"),
    ]


def test_chats_of_teams_without_ids_are_not_confused(tmp_path: Path) -> None:
    row = {"id": "1", "originalarrivaltime": "2026-03-02T09:05:00Z", "from": "8:ada", "content": "Slates"}
    chats = [{"displayName": name, "MessageList": [row]} for name in ("Roof", "Quay")]
    source = open_at(teams, tmp_path, {"messages.json": {"conversations": chats}})
    assert [channel.name for channel in source.list_channels()] == ["Roof", "Quay"]


def test_an_export_of_many_chats_is_read_whole(tmp_path: Path) -> None:
    listed = [ROOF | {"name": f"Roof {number}", "id": number} for number in range(MAX_ITEMS + 1)]
    source = open_at(telegram, tmp_path / "a", {"result.json": {"chats": {"list": listed}}})
    assert len(source.list_channels()) == MAX_ITEMS + 1
    row = {"id": "1", "originalarrivaltime": "2026-03-02T09:05:00Z", "from": "8:ada", "content": "Slates"}
    chats = [{"id": f"19:{number}", "MessageList": [row]} for number in range(MAX_ITEMS + 1)]
    source = open_at(teams, tmp_path / "b", {"messages.json": {"conversations": chats}})
    assert len(source.list_channels()) == MAX_ITEMS + 1


def test_chats_of_teams_are_read_in_both_forms(tmp_path: Path) -> None:
    own = {
        "conversations": [
            {
                "id": "19:1",
                "displayName": "Roof",
                "MessageList": [
                    {
                        "id": "2",
                        "originalarrivaltime": "2026-03-02T09:05:00Z",
                        "messagetype": "RichText",
                        "from": "8:ada",
                        "displayName": "Ada",
                        "content": "<p>Slates &amp; tiles<br/>today</p>",
                    },
                    {
                        "id": "1",
                        "originalarrivaltime": "2026-03-02T09:00:00Z",
                        "messagetype": "ThreadActivity/AddMember",
                        "content": "",
                    },
                ],
            }
        ]
    }
    graph = {
        "value": [
            {
                "id": "5",
                "createdDateTime": "2026-03-02T10:00:00Z",
                "messageType": "message",
                "from": {"user": {"id": "u1", "displayName": "Bela"}},
                "subject": "Order",
                "body": {"contentType": "html", "content": "<div>Nails</div>"},
                "attachments": [{"name": "plan.pdf"}],
            },
            {"id": "6", "messageType": "systemEventMessage", "body": {}},
            {"id": "7", "messageType": "message", "createdDateTime": "x", "body": {}},
        ]
    }
    source = open_at(teams, tmp_path, {"messages.json": own, "Board.json": graph, "other.json": {"a": 1}})
    assert sorted((document.author, document.text) for document in read(source)) == [
        ("8:ada", "Slates & tiles\ntoday"),
        ("u1", "Order\nNails\nFile “plan.pdf”"),
    ]
    assert sorted(channel.name for channel in source.list_channels()) == ["Board", "Roof"]
    assert source.omissions == {NOTICES: 2, UNREADABLE: 1, NOT_EXPORTED: 1, "JSON files that are no exported chats": 1}


def test_replies_cards_and_quoted_messages_of_teams_are_read(tmp_path: Path) -> None:
    def write(id_: str, content: str, *attachments: dict[str, Any], **more: Any) -> dict[str, Any]:
        sender, body = {"user": {"id": "u1", "displayName": "Ada"}}, {"contentType": "html", "content": content}
        time = f"2026-03-02T10:0{id_}:00Z"
        return {"id": id_, "createdDateTime": time, "from": sender, "body": body, "attachments": attachments, **more}

    card = {"body": [{"text": "Zinc is due"}, {"facts": [{"title": "On:", "value": "Friday"}]}]}
    cards = {"contentType": "application/vnd.microsoft.card.adaptive", "content": json.dumps(card)}
    quoted = {"messageId": "1", "messagePreview": "Slates", "messageSender": {"user": {"displayName": "Bela"}}}
    quote = {"contentType": "messageReference", "content": json.dumps(quoted)}
    origin = {"originalMessageContent": "<p>Nails</p>", "originalMessageSender": {"user": {"displayName": "Eve"}}}
    forward = {"contentType": "forwardedMessageReference", "content": json.dumps(origin)}
    rows = [
        write("1", "<p>Slates</p>", chatId="19:a", replies=[write("2", "On Friday")]),
        write("3", "", cards, chatId="19:a"),
        write("4", "Thanks", quote, chatId="19:b"),
        write("5", "", forward, chatId="19:b"),
    ]
    source = open_at(teams, tmp_path, {"all.json": {"value": rows}})
    slates, reply, due, thanks, nails = read(source)
    assert [channel.name for channel in source.list_channels()] == ["all 19:a", "all 19:b"]
    assert (slates.text, reply.text, reply.replies_to) == ("Slates", "On Friday", "1")
    assert due.text == "Zinc is due\nOn: Friday"
    assert (thanks.text, thanks.replies_to) == ("> Bela: Slates\nThanks", "1")
    assert nails.forwarded == "Forwarded message by Eve:\n> Nails"


@pytest.mark.share(3)
def test_a_card_of_teams_keeps_repeated_cells_and_whole_sentences(tmp_path: Path) -> None:
    rows = [{"cells": [{"items": [{"text": text}]} for text in row]} for row in (("Ada", "yes"), ("Bela", "yes"))]
    rent = {"type": "RichTextBlock", "inlines": ["The rent is ", {"type": "TextRun", "text": "900"}]}
    card = json.dumps({"body": [{"type": "Table", "rows": rows}, rent]})
    cards = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    message = {
        "id": "1",
        "createdDateTime": "2026-03-02T10:01:00Z",
        "chatId": "19:a",
        "attachments": [cards],
        "from": {"user": {"id": "u1", "displayName": "Ada"}},
        "body": {"contentType": "html", "content": ""},
    }
    [found] = read(open_at(teams, tmp_path, {"all.json": {"value": [message]}}))
    assert found.text.split() == ["Ada", "yes", "Bela", "yes", "The", "rent", "is", "900"]


@pytest.mark.parametrize("module", [whatsapp, telegram, teams])
def test_what_is_no_chat_is_refused(tmp_path: Path, module: Any) -> None:
    with pytest.raises((InvalidDocument, CorruptFile)):
        open_at(module, tmp_path, {"result.json": b"{", "notes.txt": b"Slates."})


def test_pages_of_purview_are_named_with_what_to_do(tmp_path: Path) -> None:
    export = write_files(tmp_path / "export", {"chat.html": b"<p>Slates.</p>"})
    with pytest.raises(InvalidDocument) as caught:
        teams.open_export(export, ExportOptions(), clock=ManualClock())
    assert "Purview" in caught.value.hint
