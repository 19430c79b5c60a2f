from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from pprint import pformat

import pytest

from adapters.slack.replies.blocks import (
    MAX_BLOCKS_LENGTH,
    BlockFormat,
    blocks_length,
    build_body,
    build_footer,
    build_home,
    build_sections,
    footer_text,
    parse_action,
)
from bot.platform.models import SUGGESTION_ACTION, AnswerFooter, Button, Card, FooterSource

GOLDEN = Path(__file__).parent / "golden"
TEXT = "It **leaks** [[1]](https://small.slack.com/archives/C1/p1), see evil.example."
TIME = datetime(2026, 5, 18, 9, 20, tzinfo=UTC)
SOURCES = (
    FooterSource(1, "#roof · 2026-05-01", "https://small.slack.com/archives/C1/p1", "the roof leaks", time=TIME),
    FooterSource(2, "<!channel> & <!date^1^{time}|x>", "https://x.org/a|b>c"),
    FooterSource(3, "notes.md", "javascript:x", time=TIME),
)
BUTTONS = tuple(Button(action.title(), action, "a1") for action in ("up", "down", "share", "improve"))
FOOTER = AnswerFooter("a1", SOURCES, "Only for <!here>.", BUTTONS)


@pytest.mark.parametrize("form", BlockFormat, ids=lambda form: form.name.lower())
def test_an_answer_in_each_format(form: BlockFormat, compare_with_golden: Callable[[Path, str], None]) -> None:
    blocks = [*build_body(TEXT, form), *build_footer(FOOTER, form)]
    shown = pformat(blocks, width=120, sort_dicts=False) if blocks else footer_text(FOOTER)
    compare_with_golden(GOLDEN / f"{form.name.lower()}.txt", f"{shown}\n")


def test_no_link_is_cut_in_texts_that_grow_by_escapes() -> None:
    link = "[the opening hours of the kiosk](https://ok.example/hours)"
    for before in range(485, 500):
        texts = [block["text"]["text"] for block in build_sections("& " * before + link + " word" * 200)]
        assert all(len(text) <= 3000 for text in texts)
        assert sum(text.count("<https://ok.example/hours|the opening hours of the kiosk>") for text in texts) == 1
        assert ("".join(texts).count("&amp;"), "".join(texts).count("word")) == (before, 200)


def test_a_long_text_is_split_into_sections() -> None:
    sections = build_body("word " * 2000, BlockFormat.SIMPLE)
    assert all(len(section["text"]["text"]) <= 3000 for section in sections)
    assert sum(section["text"]["text"].count("word") for section in sections) == 2000


def test_excerpts_are_left_out_before_a_message_gets_too_long() -> None:
    footer = AnswerFooter("a1", tuple(FooterSource(n, f"source {n}", "", "word " * 40) for n in range(1, 15)))
    full = blocks_length(build_footer(footer, BlockFormat.RICH))
    short = blocks_length(build_footer(footer, BlockFormat.RICH, max_length=full - 1))
    assert short < full < MAX_BLOCKS_LENGTH


def test_the_home_tab_has_sections_and_buttons() -> None:
    view = build_home(Card("# Home\n\n" + "line\n\n" * 900, buttons=(Button("Forget me", "forget", "me"),)))
    assert view["type"] == "home"
    assert {block["type"] for block in view["blocks"]} == {"section", "actions"}


@pytest.mark.parametrize("form", [BlockFormat.RICH, BlockFormat.SIMPLE])
def test_suggested_questions_are_in_a_row_below_the_other_buttons(form: BlockFormat) -> None:
    suggested = (
        Button("What about <!here>?", SUGGESTION_ACTION, "a1:0:0"),
        Button("Why?", SUGGESTION_ACTION, "a1:0:1"),
    )
    *_, others, last = build_footer(AnswerFooter("a1", buttons=(*BUTTONS, *suggested)), form)
    assert [element["text"]["text"] for element in last["elements"]] == ["What about <!here>?", "Why?"]
    assert {element["text"]["type"] for element in last["elements"]} == {"plain_text"}
    assert [parse_action(element["action_id"], element["value"]) for element in last["elements"]] == [
        *((SUGGESTION_ACTION, "a1:0:0"), (SUGGESTION_ACTION, "a1:0:1"))
    ]
    assert others["block_id"] != last["block_id"]
    assert not any(element["action_id"].startswith("threadlore.suggestion") for element in others["elements"])
