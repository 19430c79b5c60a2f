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

ADDRESS = "https://a.example/" + "x" * 20 + " "
POSTED_AT = datetime(2026, 5, 18, 9, 20, tzinfo=UTC)
TABLE = "| Name | Age |\n|---|--:|\n| Ada | 36 |\n| **Bob** [2](https://a.example) | 7 |\nafter"
COLUMNS = "```\nName     Age\n───────  ───\nAda      36\nBob [2]  7\n```\nafter"
CODE = "`https://a.example` and\n```sh\ncurl https://b.example\n```"
CODE_TABLE = "```\n| a | b |\n|---|---|\n```"
ADDRESSES = "<https://a.example>, (<https://b.example/y_(z)>)."
LINKS = "[1](<https://a.example/x>) [[2]](<https://b.example>)"
QUIET = "<https://a.example> and [x](<https://b.example>)"


@pytest.mark.parametrize(
    ("markdown", "rendered"),
    [
        pytest.param("https://a.example, (https://b.example/y_(z)).", ADDRESSES, id="address"),
        pytest.param("[1](https://a.example/x) [[2]](https://b.example)", LINKS, id="link"),
        pytest.param("[https://good.example](https://bad.example)", "<https://bad.example>", id="misleading link"),
        pytest.param("![a map](https://a.example/map.png)", "[a map](<https://a.example/map.png>)", id="picture"),
        pytest.param("x ``` https://a.example", "x ``` <https://a.example>", id="fence that never closes"),
        pytest.param(QUIET, QUIET, id="already without preview"),
        pytest.param(CODE, CODE, id="code"),
        pytest.param(TABLE, COLUMNS, id="table"),
        pytest.param(CODE_TABLE, CODE_TABLE, id="table in code"),
        pytest.param("### three\n#### four", "### three\n**four**", id="deep heading"),
        pytest.param(" \n", "…", id="nothing"),
    ],
)
def test_markdown_becomes_that_of_discord(markdown: str, rendered: str) -> None:
    assert render_markdown(markdown) == rendered


def test_rendered_parts_still_fit() -> None:
    part = (ADDRESS * 60)[:1800]
    assert len(render_markdown(part)) <= MAX_MESSAGE_LENGTH
    assert render_markdown(part).count("https://") == part.count("https://")
    rows = "\n".join(f"| {'x' * 100 if number == 0 else 'y'} | z |" for number in range(40))
    wide = render_markdown(f"| a | b |\n|---|---|\n{rows}")
    assert (len(wide) <= MAX_MESSAGE_LENGTH, wide[:9]) == (True, "| a | b |")


def test_an_unfinished_part_has_an_ellipsis_and_closed_code() -> None:
    assert render_partial("The roof") == "The roof …"
    assert render_partial("```py\nx = 1") == "```py\nx = 1\n```\n…"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (FooterSource(1, "#roof › [x]", "https://a.example"), "**[1]** [#roof › (x)](<https://a.example>)"),
        (FooterSource(3, "minutes.pdf, page 2", ""), "**[3]** minutes.pdf, page 2"),
        (
            FooterSource(1, "A", "https://a.example", time=POSTED_AT),
            "**[1]** [A](<https://a.example>) · <t:1779096000:f>",
        ),
        (FooterSource(2, "Bob", "", time=POSTED_AT), "**[2]** Bob · <t:1779096000:f>"),
        (FooterSource(2, "x", "https://a.example/a)b"), "**[2]** [x](<https://a.example/a%29b>)"),
    ],
)
def test_a_source_is_a_link_without_preview_with_its_time(source: FooterSource, line: str) -> None:
    assert render_sources(AnswerFooter("a", (source,), "From #roof.")) == f"**Sources**\n{line}\n-# From #roof."


def test_a_title_that_was_an_address_is_no_link() -> None:
    assert "evil.example" not in render_sources(AnswerFooter("a", (FooterSource(1, "https[:]//evil[.]example", ""),)))


def test_at_most_ten_lines_of_sources_are_shown_and_the_rest_is_counted() -> None:
    many = tuple(FooterSource(n, "t" * 300, f"https://a.example/{'x' * 300}{n}") for n in range(1, 13))
    below = render_sources(AnswerFooter("a", many, "note " * 500))
    assert (len(below) <= MAX_MESSAGE_LENGTH, below.count("\n") < 12) == (True, True)
    assert below.split("\n")[-2].startswith("… +")


def test_an_answer_without_sources_and_notice_has_no_footer() -> None:
    assert render_sources(AnswerFooter("a")) == ""
    assert append_sources(["x"], AnswerFooter("a")) == ["x"]


def test_a_thread_is_named_after_its_question() -> None:
    question = "<@123> What about **the roof**?\n\nIt leaks <:drop:55>"
    assert build_thread_title(question) == "What about the roof? It leaks drop"
    assert build_thread_title("<@123>") == ""
    long = build_thread_title("word " * 50)
    assert (len(long) <= MAX_THREAD_NAME, long[-5:]) == (True, "word…")
