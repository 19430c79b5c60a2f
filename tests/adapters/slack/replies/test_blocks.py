from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.slack.replies.blocks import (
    MAX_BLOCKS_LENGTH,
    BlockFormat,
    blocks_length,
    build_body,
    build_buttons,
    build_footer,
    build_home,
    build_sections,
    footer_text,
    parse_action,
)
from bot.platform.models import AnswerFooter, Button, Card, FooterSource

UP, DOWN = Button("👍", "up", "a1"), Button("👎", "down", "a1")
TRASH = Button("Delete", "delete", "a1")
SAID = datetime(2026, 5, 18, 9, 20, tzinfo=UTC)
SOURCE = FooterSource(1, "#roof · 2026-05-01", "https://small.slack.com/archives/C1/p1", "the roof leaks")


def test_sources_are_citations_with_their_numbers() -> None:
    (rich,) = build_footer(AnswerFooter("a1", (SOURCE,)), "UADA", BlockFormat.RICH)
    (line,) = rich["elements"][1]["elements"]
    number, cited, said = line["elements"]
    assert number["text"] == "[1] "
    assert cited["type"] == "citation"
    assert (cited["index"], cited["url"], cited["details"]["citation_type"]) == (1, SOURCE.link, "message")
    assert said["text"] == " — the roof leaks"


def test_a_source_that_leads_nowhere_is_text() -> None:
    (rich,) = build_footer(AnswerFooter("a1", (FooterSource(2, "notes", "javascript:x"),)), "UADA", BlockFormat.RICH)
    assert rich["elements"][1]["elements"][0]["elements"] == [{"type": "text", "text": "[2] notes"}]


def test_the_simple_form_is_a_list_of_links_that_escapes_what_it_shows() -> None:
    end = AnswerFooter("a1", (FooterSource(1, "<!channel> & co", "https://x.org/a|b>c"),), notice="only <!here>")
    text = json.dumps(build_footer(end, "UADA", BlockFormat.SIMPLE))
    assert "<!channel>" not in text
    assert "<!here>" not in text
    assert "<https://x.org/a%7Cb%3Ec|[1] &lt;!channel&gt; &amp; co>" in text


def test_the_time_of_a_source_is_shown_in_that_of_the_reader() -> None:
    end = AnswerFooter("a1", (replace(SOURCE, time=SAID), FooterSource(2, "Bob", "", time=SAID)))
    (rich,) = build_footer(end, "UADA", BlockFormat.RICH)
    dates = [part for line in rich["elements"][1]["elements"] for part in line["elements"] if part["type"] == "date"]
    assert (
        dates
        == [
            {
                "type": "date",
                "timestamp": 1779096000,
                "format": "{date_short_pretty} {time}",
                "fallback": "2026-05-18 09:20 UTC",
            }
        ]
        * 2
    )
    (simple,) = build_footer(end, "UADA", BlockFormat.SIMPLE)
    assert (
        simple["text"]["text"].count("> · <!date^1779096000^{date_short_pretty} {time}|2026-05-18 09:20 UTC> — ") == 1
    )
    assert "[2] Bob, 2026-05-18 09:20 UTC" in footer_text(end)


def test_a_title_that_spells_a_date_is_text() -> None:
    (simple,) = build_footer(
        AnswerFooter("a1", (FooterSource(1, "<!date^1^{time}|x>", ""),), notice="<!date^1^{time}|x>"),
        "U",
        BlockFormat.SIMPLE,
    )[:1]
    assert "<!date" not in json.dumps(simple)


@pytest.mark.parametrize("before", range(485, 500))
def test_no_link_is_cut_where_escapes_make_a_text_longer(before: int) -> None:
    link = "[the opening hours of the kiosk](https://ok.example/hours)"
    texts = [block["text"]["text"] for block in build_sections("& " * before + link + " word" * 200)]
    assert all(len(text) <= 3000 for text in texts)
    assert sum(text.count("<https://ok.example/hours|the opening hours of the kiosk>") for text in texts) == 1
    assert "".join(texts).count("&amp;") == before
    assert "".join(texts).count("word") == 200


def test_feedback_and_trash_share_a_row_and_only_the_asker_sees_the_trash() -> None:
    row, rest = build_buttons([UP, DOWN, TRASH, Button("Share", "share", "a1")], BlockFormat.RICH, "b", "UADA")
    assert row["type"] == "context_actions"
    assert [element["type"] for element in row["elements"]] == ["feedback_buttons", "icon_button"]
    assert row["elements"][1]["visible_to_user_ids"] == ["UADA"]
    assert rest["elements"][0]["action_id"] == "threadlore.share.0"


def test_the_simple_form_has_plain_buttons() -> None:
    (row,) = build_buttons([UP, DOWN, TRASH], BlockFormat.SIMPLE, "b", "UADA")
    assert [element["action_id"] for element in row["elements"]] == [
        "threadlore.up.0",
        "threadlore.down.1",
        "threadlore.delete.2",
    ]


def test_buttons_come_back_as_they_went_out() -> None:
    assert parse_action("threadlore.forget.3", "doc 7") == ("forget", "doc 7")
    assert parse_action("threadlore.feedback", "up a1") == ("up", "a1")
    assert parse_action("elsewhere", "x") is None


def test_words_of_sources_are_left_out_before_a_message_gets_too_long() -> None:
    many = tuple(FooterSource(n, f"source {n}", f"https://x.org/{n}", "word " * 40) for n in range(1, 15))
    full = blocks_length(build_footer(AnswerFooter("a1", many), "U", BlockFormat.RICH))
    short = blocks_length(build_footer(AnswerFooter("a1", many), "U", BlockFormat.RICH, max_length=full - 1))
    assert short < full < MAX_BLOCKS_LENGTH


def test_a_long_text_in_the_simple_form_fits_its_sections() -> None:
    sections = build_body("word " * 2000, BlockFormat.SIMPLE)
    assert all(len(section["text"]["text"]) <= 3000 for section in sections)
    assert sum(section["text"]["text"].count("word") for section in sections) == 2000


def test_the_home_tab_is_made_of_sections() -> None:
    view = build_home(Card("# Home\n\n" + "line\n\n" * 900, buttons=(Button("Forget me", "forget", "me"),)))
    assert view["type"] == "home"
    assert {block["type"] for block in view["blocks"]} == {"section", "actions"}


def test_slack_makes_no_links_of_its_own_in_texts_of_ours() -> None:
    end = AnswerFooter("a1", (FooterSource(1, "notes.md", ""),), notice="From #roof.")
    for block in [*build_body("See evil.example.", BlockFormat.SIMPLE), *build_footer(end, "UADA", BlockFormat.SIMPLE)]:
        for text in [block.get("text"), *block.get("elements", ())]:
            assert text is None or text["verbatim"] is True


def test_the_number_of_a_citation_is_a_link_in_every_form() -> None:
    text = "It leaks [[1]](https://small.slack.com/archives/C1/p1)."
    assert build_body(text, BlockFormat.RICH) == [{"type": "markdown", "text": text}]
    (section,) = build_body(text, BlockFormat.SIMPLE)
    assert section["text"]["text"] == "It leaks <https://small.slack.com/archives/C1/p1|[1]>."
