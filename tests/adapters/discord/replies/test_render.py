from __future__ import annotations

from datetime import UTC, datetime

import pytest

from adapters.discord.replies.render import (
    MAX_MESSAGE_LENGTH,
    MAX_THREAD_NAME,
    append_sources,
    build_thread_title,
    render_markdown,
    render_partial,
    render_sources,
)
from bot.platform.models import AnswerFooter, FooterSource


def test_a_bare_address_shows_no_preview() -> None:
    assert render_markdown("See https://a.example/x, and (https://b.example/y_(z)).") == (
        "See <https://a.example/x>, and (<https://b.example/y_(z)>)."
    )


def test_a_named_link_shows_no_preview_either() -> None:
    assert render_markdown("[1](https://a.example/x) and [[2]](https://b.example/y)") == (
        "[1](<https://a.example/x>) and [[2]](<https://b.example/y>)"
    )


def test_what_is_quiet_already_stays_as_it_is() -> None:
    text = "<https://a.example> and [x](<https://b.example>)"
    assert render_markdown(text) == text


def test_addresses_in_code_stay_as_they_are() -> None:
    text = "`https://a.example` and\n```sh\ncurl https://b.example\n```"
    assert render_markdown(text) == text


def test_a_link_whose_words_are_an_address_shows_where_it_really_leads() -> None:
    assert render_markdown("[https://good.example](https://bad.example)") == "<https://bad.example>"


def test_a_picture_becomes_a_link() -> None:
    assert render_markdown("![a map](https://a.example/map.png)") == "[a map](<https://a.example/map.png>)"


def test_a_table_becomes_columns() -> None:
    table = "| Name | Age |\n|---|--:|\n| Ada | 36 |\n| **Bob** [2](https://a.example) | 7 |\nafter"
    assert render_markdown(table) == "```\nName     Age\n───────  ───\nAda      36\nBob [2]  7\n```\nafter"


def test_a_table_in_code_is_code() -> None:
    text = "```\n| a | b |\n|---|---|\n```"
    assert render_markdown(text) == text


def test_deep_headings_become_bold() -> None:
    assert render_markdown("### three\n#### four") == "### three\n**four**"


@pytest.mark.parametrize("text", ["https://a.example/" + "x" * 20 + " " for _ in range(1)])
def test_a_part_full_of_addresses_still_fits(text: str) -> None:
    part = (text * 60)[:1800]
    assert len(render_markdown(part)) <= MAX_MESSAGE_LENGTH
    assert render_markdown(part).count("https://") == part.count("https://")


def test_a_wide_table_that_would_not_fit_stays_markdown() -> None:
    rows = "\n".join(f"| {'x' * 100 if number == 0 else 'y'} | z |" for number in range(40))
    text = render_markdown(f"| a | b |\n|---|---|\n{rows}")
    assert len(text) <= MAX_MESSAGE_LENGTH
    assert text.startswith("| a | b |")


def test_nothing_is_never_sent() -> None:
    assert render_markdown(" \n") == "…"


def test_what_is_still_being_written_says_so_and_its_code_is_closed() -> None:
    assert render_partial("The roof") == "The roof …"
    assert render_partial("```py\nx = 1") == "```py\nx = 1\n```\n…"


def test_sources_are_links_without_previews_with_the_note_below() -> None:
    below = render_sources(
        AnswerFooter("a", (FooterSource(1, "#roof › Ada [x]", "https://discord.com/channels/1/2/3"),), "From #roof.")
    )
    assert below == "**Sources**\n**[1]** [#roof › Ada (x)](<https://discord.com/channels/1/2/3>)\n-# From #roof."


def test_a_source_without_an_address_has_its_title_alone() -> None:
    assert (
        render_sources(AnswerFooter("a", (FooterSource(3, "minutes.pdf, page 2", ""),)))
        == "**Sources**\n**[3]** minutes.pdf, page 2"
    )


def test_the_time_of_a_source_is_shown_in_that_of_the_reader() -> None:
    said = datetime(2026, 5, 18, 9, 20, tzinfo=UTC)
    below = render_sources(
        AnswerFooter(
            "a", (FooterSource(1, "Ada", "https://ok.example", time=said), FooterSource(2, "Bob", "", time=said))
        )
    )
    assert below.endswith("**[1]** [Ada](<https://ok.example>) · <t:1779096000:f>\n**[2]** Bob · <t:1779096000:f>")


def test_a_title_that_was_an_address_stays_none() -> None:
    below = render_sources(
        AnswerFooter(
            "a", (FooterSource(1, "https[:]//evil[.]example", ""), FooterSource(2, "x", "https://ok.example/a)b"))
        )
    )
    assert "evil.example" not in below
    assert below.endswith("[x](<https://ok.example/a%29b>)")


def test_at_most_ten_lines_of_sources_are_shown_and_the_rest_is_counted() -> None:
    many = tuple(FooterSource(n, "t" * 300, f"https://a.example/{'x' * 300}{n}") for n in range(1, 13))
    below = render_sources(AnswerFooter("a", many, "note " * 500))
    lines = below.split("\n")
    assert len(below) <= MAX_MESSAGE_LENGTH
    assert len(lines) <= 12
    assert lines[-2].startswith("… +")


def test_below_an_answer_without_sources_and_note_stands_nothing() -> None:
    assert render_sources(AnswerFooter("a")) == ""
    assert append_sources(["x"], AnswerFooter("a")) == ["x"]


def test_an_address_behind_a_fence_that_never_closes_shows_no_preview() -> None:
    assert render_markdown("x ``` https://a.example") == "x ``` <https://a.example>"


def test_a_thread_is_named_after_its_question() -> None:
    assert (
        build_thread_title("<@123> What about **the roof**?\n\nIt leaks <:drop:55>")
        == "What about the roof? It leaks drop"
    )
    assert build_thread_title("<@123>") == ""
    long = build_thread_title("word " * 50)
    assert len(long) <= MAX_THREAD_NAME
    assert long.endswith("word…")
