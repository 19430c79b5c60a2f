"""Answers are shown with their markup and citations, and with nothing that could act."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.models import SourceItem
from adapters.web.pages.asking.answer_html import NO_BREAK, render_answer
from tests.support.builders import make_source

LINK = "https://t.example/roof"
TAGS = frozenset(
    "p a em strong s code pre ul ol li blockquote hr br h1 h2 h3 h4 h5 h6 table thead tbody tr th td span".split()  # noqa: SIM905
)
ATTRIBUTES = {"href", "target", "rel", "class", "data-source", "aria-label", "title", "start"}
HOSTILE = (
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "[x](data:text/html,a)"),
    *("![x](https://evil.example/p.png)", "[1]: javascript:alert(1)\n\n[1]", '<https://a.example/"onclick=alert(1)>'),
    *("[a](https://a.example/'onclick='x)", "`<b>`", "```<script>\n<b>\n```", '[a](https://a.example "t\\"onx=\'")'),
    *("[1][2] [3](vbscript:x)", "<a href='javascript:1'>x</a>", "| <b> | [1] |\n|---|:-:|\n| `x` | [2] |", "[９]"),
)


class Elements(HTMLParser):
    """The tags of a text, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def make_sources(link: str = LINK) -> dict[int, SourceItem]:
    return {1: SourceItem.of(make_source(number=1, link=link, title='Roof "><script>'))}


def check_harmless(text: str) -> None:
    for tag, attributes in Elements(render_answer(text, make_sources(), "s-")).found:
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES
        assert (attributes.get("href") or "#").startswith(("http://", "https://", "#"))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markup_does_nothing(text: str) -> None:
    check_harmless(text)


@given(st.lists(st.sampled_from([*HOSTILE, "\n", "\n\n", "- ", "> ", "[1]", "**", "`", "<", ">", '"', "\\"])))
def test_no_mixture_of_markup_does_anything(pieces: list[str]) -> None:
    check_harmless("".join(pieces))


def test_markup_is_shown_and_numbers_lead_to_their_sources() -> None:
    shown = render_answer("**Mina** repairs it [1] [2].", make_sources(), "s-")
    assert "<strong>Mina</strong>" in shown
    assert f'<a class="citation" href="{LINK}" target="_blank"' in shown
    assert '<span class="citation">2</span>' in shown


def test_a_source_without_an_address_leads_to_the_list_of_sources() -> None:
    assert 'href="#s-1"' in render_answer("It is so [1].", make_sources("javascript:alert(1)"), "s-")


def test_numbers_in_code_are_no_citations() -> None:
    assert "<code>a[1]</code>" in render_answer("`a[1]`", make_sources())


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("It is noon [1].", "noon\u00a0"),
        ("It is noon.[1]", "noon.\u2060"),
        ("It is **noon** [1]", "</strong>\u00a0"),
        ("It is noon.\n[1]", "noon.\u00a0"),
        ("- It is noon.\n\n [1]", "noon.\u00a0"),
        ("正午です[1]", "です\u2060"),
    ],
)
def test_a_citation_is_on_the_line_of_the_word_before_it(text: str, before: str) -> None:
    for sources in ({}, make_sources()):
        shown = render_answer(text, sources, "s-")
        assert f'{before}<{"a" if sources else "span"} class="citation"' in shown


def test_citations_are_tied_to_each_other_and_code_is_as_it_was() -> None:
    assert "</span>\u2060<span" in render_answer("Noon [1][2].")
    assert "</span>\u00a0<span" in render_answer("Noon [1] [2].")
    assert "<br />\n" in render_answer("One [1]\ntwo [2]")
    assert render_answer("```\na = b\n```\n[1]").startswith("<pre><code>a = b\n</code></pre>")


@pytest.mark.parametrize("code", ["```\na = b\n[1]\n```", "~~~py\na\n\n[1]\n~~~", "    a = b\n    [1]"])
def test_a_block_of_code_stays_as_it_is(code: str) -> None:
    shown = render_answer(f"It is so.\n[2]\n\n{code}\n\nSo it is.\n[3]")
    assert "[1]\n</code>" in shown
    assert shown.count(f".{NO_BREAK}<") == 2
