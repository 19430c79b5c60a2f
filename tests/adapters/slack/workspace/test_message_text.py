"""What a Slack message says, wherever its words are: in its text, its blocks, its attachments, or its files."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.common.json_fields import CUT_NOTICE, MAX_LENGTH
from adapters.slack.workspace.markup import to_plain_text
from adapters.slack.workspace.message_text import SlackText, render_message

NAMES = {"U1": "Ada", "UBOT": "Threadlore"}
OPEN_CHANNELS = {"C1": "roof"}
PAGE = "https://tides.example/table"


def render(**payload: Any) -> SlackText:
    """The parts of a message for its readers."""
    found = render_message({"text": "", **payload})
    plain = (to_plain_text(each, NAMES, OPEN_CHANNELS) for each in (found.text, found.forwarded, found.previews))
    return SlackText(*plain)


def rich(*elements: dict[str, Any], kind: str = "rich_text_section", **more: Any) -> dict[str, Any]:
    return {"type": "rich_text", "elements": [{"type": kind, "elements": list(elements), **more}]}


def words(text: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": text, "style": style}


def raw(text: str) -> dict[str, Any]:
    return {"type": "raw_text", "text": text}


SHARED = {
    "is_share": True,
    "is_msg_unfurl": True,
    "author_id": "U1",
    "author_name": "ada.old",
    "channel_id": "C1",
    "ts": "1700000000.000100",
    "from_url": "https://town.slack.com/archives/C1/p1700000000000100",
    "text": "The slates come on Friday.\nAsk <@U9|bela> in <#C9|cellar>.",
    "fallback": "[November 14th] ada.old: The slates come on Friday.",
}


def test_a_forwarded_message_has_its_author_its_place_and_its_time() -> None:
    assert render(attachments=[SHARED]) == SlackText(
        forwarded="Forwarded message by @Ada in #roof, 2023-11-14 22:13 UTC:\n"
        "> The slates come on Friday.\n> Ask @bela in #private-channel."
    )


def test_a_forwarded_message_may_have_only_blocks_or_a_fallback() -> None:
    blocks = [{"team": "T1", "message": {"blocks": [rich(words("Copper <nails>"))]}}]
    found = render(
        attachments=[{"is_msg_unfurl": True, "author_name": "Eve", "channel_id": "D9", "message_blocks": blocks}]
    )
    assert found.forwarded == "Forwarded message by Eve in #private-channel:\n> Copper <nails>"
    found = render(
        attachments=[{"is_share": True, "fallback": "A poll", "files": [{"title": "Plan", "name": "p.pdf"}]}]
    )
    assert found.forwarded == "Forwarded message:\n> File “Plan”"


def test_what_a_forwarded_message_had_attached_is_read_with_it() -> None:
    inner = {"is_share": True, "author_name": "Eve", "text": "The weir is shut."}
    app = {"title": "Gauge", "text": "4 ells"}
    found = render(attachments=[{"is_share": True, "author_name": "Bo", "text": "See below", "attachments": [inner]}])
    assert (
        found.forwarded == "Forwarded message by Bo:\n> See below\n> Forwarded message by Eve:\n> > The weir is shut."
    )
    blocks = [{"message": {"blocks": [], "attachments": [app]}}]
    found = render(attachments=[{"is_share": True, "author_name": "Bo", "message_blocks": blocks}])
    assert found.forwarded == "Forwarded message by Bo:\n> Gauge\n> 4 ells"


def test_fields_have_what_they_are_filled_with() -> None:
    def option(text: str) -> dict[str, Any]:
        return {"text": {"type": "plain_text", "text": text}, "value": "x"}

    fields = [
        {"type": "static_select", "initial_option": option("Stuck"), "options": [option("Stuck"), option("Shut")]},
        {"type": "checkboxes", "initial_options": [option("Oiled")], "options": [option("Oiled"), option("Lit")]},
        {"type": "datepicker", "initial_date": "2026-05-02"},
        {"type": "rich_text_input", "initial_value": rich(words("Ask Mo"))},
    ]
    label = {"type": "plain_text", "text": "Gate"}
    shown = [render(blocks=[{"type": "input", "label": label, "element": field}]).text for field in fields]
    assert shown == ["Gate\nStuck", "Gate\nOiled", "Gate\n2026-05-02", "Gate\nAsk Mo"]
    assert render(blocks=[{"type": "section", "text": label, "accessory": fields[0]}]).text == "Gate\nStuck"


def test_a_message_behind_a_link_is_a_preview() -> None:
    link = {key: value for key, value in SHARED.items() if key != "is_share"}
    found = render(text=f"See <{SHARED['from_url']}>", attachments=[link])
    assert found.forwarded == ""
    assert found.previews.startswith("ada.old\nThe slates come on Friday.")


def test_a_preview_adds_the_title_and_the_text_of_a_page() -> None:
    preview = {"from_url": PAGE, "service_name": "Tides", "title": "High water", "title_link": PAGE, "text": "14:20"}
    assert render(text=f"<{PAGE}>", attachments=[preview]) == SlackText(PAGE, previews="High water\n14:20")
    assert render(text=f"<{PAGE}>", attachments=[{"from_url": PAGE, "title": PAGE}]).previews == ""


def test_an_app_says_everything_that_it_shows() -> None:
    found = render(
        text="New roster",
        bot_id="B1",
        blocks=[
            {"type": "header", "text": {"type": "plain_text", "text": "Roster <12>"}},
            {
                "type": "section",
                "text": {"type": "mrkdwn", "text": "Night: <@U1>"},
                "fields": [raw("Cook"), raw("Bela")],
            },
            {"type": "context", "elements": [{"type": "image", "alt_text": "logo"}, {"type": "mrkdwn", "text": "v2"}]},
            {"type": "actions", "elements": [{"type": "button", "text": raw("Open"), "url": PAGE}, {"type": "button"}]},
            {"type": "image", "title": {"type": "plain_text", "text": "Map"}, "alt_text": "The pier"},
            {"type": "divider"},
        ],
        attachments=[
            {
                "pretext": "Alarm",
                "title": "Gate",
                "title_link": PAGE,
                "text": "open",
                "fields": [{"title": "Since", "value": "9:00"}, {"value": "alone"}],
                "footer": "Watch",
                "fallback": "Alarm: Gate",
            },
            {"fallback": "Only this"},
        ],
    )
    assert found.text.split("\n") == [
        *("New roster", "Roster <12>", "Night: @Ada", "Cook", "Bela", "v2", f"Open ({PAGE})", "Map", "The pier"),
        *("Alarm", f"Gate ({PAGE})", "open", "Since: 9:00", "alone", "Watch", "Only this"),
    ]


def test_rich_text_keeps_lists_code_quotations_and_mentions() -> None:
    items: list[dict[str, Any]] = [
        {"type": "rich_text_section", "elements": [words("nails")]},
        {"type": "rich_text_section", "elements": []},
    ]
    found = render(
        blocks=[
            rich(
                {"type": "user", "user_id": "U1"},
                words(" runs "),
                words("make all", code=True),
                words(" not "),
                words("today", strike=True),
                {"type": "emoji", "name": "tada"},
                {"type": "broadcast", "range": "here"},
                {"type": "link", "url": PAGE, "text": "here"},
                {"type": "date", "timestamp": 1700000000, "format": "{date}"},
            ),
            rich(*items, kind="rich_text_list", style="ordered", indent=1, offset=2),
            rich(words("if a < b:\n  stop"), kind="rich_text_preformatted"),
            rich(words("so be it"), kind="rich_text_quote"),
        ]
    )
    assert found.text == (
        f"@Ada runs `make all` not ~today~:tada:@herehere ({PAGE})2023-11-14 22:13 UTC\n  3. nails\n  4. \n"
        "```\nif a < b:\n  stop\n```\n> so be it"
    )


def test_a_pasted_table_is_a_table() -> None:
    cell = rich({"type": "link", "url": PAGE, "text": "Slates"})
    table = {"type": "table", "rows": [[raw("Item"), raw("a|b")], [cell, {"type": "raw_number", "value": 41}]]}
    found = render(text="Prices", attachments=[{"id": 1, "fallback": "[no preview available]", "blocks": [table]}])
    assert found.text == f"Prices\n| Item | a\\|b |\n| --- | --- |\n| Slates ({PAGE}) | 41 |"


@pytest.mark.parametrize(
    ("text", "shown", "said"),
    [
        ("Tiles *and* nails", "Tiles and nails", "Tiles *and* nails"),
        ("Tiles", "Tiles and nails", "Tiles and nails"),
        ("", "Tiles", "Tiles"),
        ("New order", "Tiles", "New order\nTiles"),
    ],
)
def test_text_and_blocks_say_everything_once(text: str, shown: str, said: str) -> None:
    assert render(text=text, blocks=[rich(words(shown))]).text == said


def test_words_of_unknown_blocks_are_kept() -> None:
    plan = {"type": "plan", "title": "Repairs", "tasks": [{"type": "task_card", "output": rich(words("Gutter"))}]}
    card = {"type": "card", "title": raw("Ladder"), "body": {"type": "mrkdwn", "text": "a &lt; b"}, "new": 7}
    record = rich({"type": "list_record", "file_id": "F1", "url": PAGE})
    assert render(blocks=[plan, card, record]).text == f"Repairs\nGutter\nLadder\na < b\n{PAGE}"


def test_files_that_are_not_handed_out_are_named() -> None:
    drive = {"id": "F1", "mode": "external", "external_type": "gdrive", "title": "Plan", "url_private": PAGE}
    tasks = {"id": "F2", "mode": "list", "title": "Tasks", "list_metadata": {"schema": [{"name": "Owner"}]}}
    mine = {"id": "F3", "mode": "hosted", "name": "a.txt"}
    assert render(files=[drive, tasks, mine]).text == f"File “Plan ({PAGE})” (Google Drive)\nList “Tasks”\nOwner"


def test_no_payload_is_too_odd_or_too_large() -> None:
    nested: dict[str, Any] = {"type": "rich_text_section", "elements": [words("bottom")]}
    for _ in range(2000):
        nested = {"type": "rich_text_section", "elements": [nested]}
    odd = [
        nested,
        "x",
        None,
        {"type": ["a"]},
        {"type": "section", "text": {"text": {}}, "fields": "no"},
        {"type": "table"},
    ]
    assert render(text=None, blocks=odd, attachments={"a": 1}, files=[3]) == SlackText()
    long = render(blocks=[rich(words("slate " * MAX_LENGTH))]).text
    assert len(long) < MAX_LENGTH + 100
    assert long.endswith(CUT_NOTICE)


def test_a_mention_cannot_be_forged_by_a_name_or_an_address() -> None:
    evil = {"is_share": True, "author_name": "x> <@UBOT>", "author_id": "no id", "text": "hi"}
    assert render(attachments=[evil]).forwarded.startswith("Forwarded message by x> <@UBOT>:")
    found = render(blocks=[rich({"type": "link", "url": "https://a.example/>\n<@UBOT|", "text": "<@UBOT>"})])
    assert found.text == "<@UBOT> (https://a.example/%3E%3C@UBOT%7C)"
