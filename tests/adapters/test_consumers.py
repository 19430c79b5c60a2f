"""What others wrote reaches every consumer as inert text: names, titles, headings, files, channels, words of links."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from adapters.discord.replies.render import render_markdown, render_sources
from adapters.mcp.records import CitedAnswer, ListedDocument
from adapters.slack.replies.blocks import BlockFormat, build_footer, footer_text
from adapters.slack.replies.mrkdwn import to_mrkdwn
from adapters.slack.replies.streaming import task_chunk
from adapters.web.models import AnswerBody, DocumentItem, SourceItem
from adapters.web.openai_api import format_citations
from adapters.web.pages.asking.answer_html import render_answer
from adapters.web.pages.shell import render_text
from bot.answers.footer import build_answer_footer, build_answer_source
from bot.capabilities.results import AnswerEnd
from bot.cli.render import tables
from bot.platform.models import AnswerFooter
from bot.text.markdown import markdown_link
from engine import DocumentInfo, Source
from tests.support.source_trees import ROOT

LINK = "https://wiki.example/page_(1)"
TIME = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
HOSTILE = (
    "<img src=x onerror=alert(1)>¦<script>alert(1)</script>¦![p](https://planted.example/p.png)¦[click](https://planted.example)"
    "¦https://planted.example/x¦<https://planted.example/x|click>¦](https://planted.example/x)¦@everyone @here"
    "¦<!channel> <!here|x> <@U123> <@123> <@&7> <#C1|x>¦\x1b[2Jgone\x1b]0;title\x07¦a\u202egpj.exe\u202c"
    "¦\u2066x\u2069 \u200f\u061c¦two\nlines\r\n# head\u2028more¦`code` **bold** | cell |¦[red]x[/red]"
    "¦javascript:alert(1)¦<a href='https://planted.example'>x</a>¦&lt;img src=x&gt; &#91;1&#93;(https://planted.example/x)"
    "¦[r]: https://planted.example/x¦www.planted.example mail@planted.example¦\x9b31mred¦{{ 7*7 }}</td>¦[1]"
    "¦<t:1:R> <:a:123> </x:123>"
)


def make_source(words: str) -> Source:
    """A source in which everything that others choose is these words."""
    return Source(1, "doc", "p1", words, f"{words} › {words}", LINK, words, TIME, words, "space", words, "chunk")


def make_footer(words: str) -> AnswerFooter:
    source = build_answer_source(make_source(words), "It is [1].")
    return build_answer_footer("a1", [source], (), private=False, share=False)


def make_end(words: str) -> AnswerEnd:
    return AnswerEnd((make_source(words),), ())


def make_document(words: str) -> DocumentInfo:
    return DocumentInfo(
        "doc",
        "s",
        words,
        "file",
        words,
        LINK,
        TIME,
        open=False,
        status="failed",
        error=words,
        hint=words,
        chunks=1,
        passages=1,
    )


def print_terminal(words: str) -> str:
    out = io.StringIO()
    Console(file=out, width=400, highlight=False).print(tables.render_sources([make_source(words)], "whole"))
    return out.getvalue()


def render_list(words: str) -> str:
    return render_text("parts/sources.html", sources=[SourceItem.of(make_source(words))], prefix="s")


def render_body(words: str) -> str:
    source = SourceItem.of(make_source(words))
    return AnswerBody(answer="", sources=[source], usage=[], incomplete=False).model_dump_json()


def build_blocks(form: BlockFormat) -> Callable[[str], str]:
    return lambda words: json.dumps(build_footer(make_footer(words), form))


# What each consumer gets of a source or of a document, and how it reads that; first the folder of its adapter.
CONSUMERS: dict[str, tuple[str, Callable[[str], str]]] = {
    "slack rich": ("typed", build_blocks(BlockFormat.RICH)),
    "slack simple": ("mrkdwn in typed", build_blocks(BlockFormat.SIMPLE)),
    "slack bare": ("mrkdwn", lambda words: to_mrkdwn(footer_text(make_footer(words)))),
    "slack task": ("typed", lambda words: json.dumps(task_chunk("x", done=True, sources=make_footer(words).sources))),
    "slack card": ("mrkdwn", lambda words: to_mrkdwn(markdown_link(words, LINK))),
    "discord": ("discord", lambda words: render_sources(make_footer(words))),
    "discord card": ("discord", lambda words: render_markdown(markdown_link(words, LINK))),
    "web page": ("html", render_list),
    "web answer": ("html", lambda words: render_answer("It is [1].", {1: SourceItem.of(make_source(words))}, "s")),
    "web api": ("typed", render_body),
    "web documents": ("typed", lambda words: DocumentItem.of(make_document(words)).model_dump_json()),
    "web openai": ("markdown", lambda words: format_citations(make_end(words))),
    "mcp": ("typed", lambda words: CitedAnswer.of("", make_end(words)).model_dump_json()),
    "mcp documents": ("typed", lambda words: ListedDocument.of(make_document(words), "uri").model_dump_json()),
    "console": ("text", print_terminal),
}
SHOWS_NOTHING = {"chats", "common", "mattermost", "sources"}  # shared parts, readers of exports and of sources
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SLACK_TOKEN = re.compile(r"<([!@#])(?!date\^\d)|<(?!https://wiki\.example)(https?:[^<>]*)>")
DISCORD_TOKEN = re.compile(
    r"(?<!\\)<(?:@[!&]?|#|:|a:|/|t:(?!1795166))\w|@(?:everyone|here)|(?<!\\)\]\((?!<https://wiki)|(?<![<\w])https://"
)
TAGS = "p a br strong em s code section h3 ol ul li details summary span blockquote time svg path use circle"


class TagReader(HTMLParser):
    """Finds what no template has: other tags, handlers, and addresses that are not the link."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag] if tag not in TAGS.split() else []
        for name, value in attrs:
            foreign = name in {"href", "src"} and not (value or "").startswith(
                ("#", "/static/", "https://wiki.example/")
            )
            self.found += [f"{name}={value}"] if foreign or name.startswith("on") else []


def find_tags(shown: str) -> list[str]:
    reader = TagReader()
    reader.feed(shown)
    return reader.found


def list_texts(value: object) -> list[str]:
    """All texts in decoded JSON."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value] if isinstance(value, str) else [text for each in inner for text in list_texts(each)]


PLAIN_MARKDOWN = MarkdownIt("gfm-like", {"html": True})
FIND_MARKUP: dict[str, Callable[[str], list[str]]] = {
    "typed": lambda _: [],  # whoever gets typed fields knows that they hold no markup
    "text": lambda _: [],
    "mrkdwn": lambda shown: [found[0] for found in SLACK_TOKEN.finditer(shown)],
    "mrkdwn in typed": lambda shown: [found[0] for found in SLACK_TOKEN.finditer(shown)],
    "discord": lambda shown: [found[0] for found in DISCORD_TOKEN.finditer(shown)],
    "html": find_tags,
    "markdown": lambda shown: find_tags(PLAIN_MARKDOWN.render(shown)),
}


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_hostile_words_are_inert_text(consumer: str) -> None:
    form, show = CONSUMERS[consumer]
    for words in HOSTILE.split("¦"):
        shown = show(words)
        for text in list_texts(json.loads(shown)) if "typed" in form else [shown]:
            assert not CONTROLS.search(text), (words, text)
            assert FIND_MARKUP[form](text) == [], (words, text)


def test_every_adapter_is_a_consumer_here() -> None:
    folders = {path.parent.name for path in (ROOT / "adapters").glob("*/__init__.py")}
    assert folders - SHOWS_NOTHING == {name.split()[0] for name in CONSUMERS}


def test_the_words_themselves_stay() -> None:
    for name, (_, show) in CONSUMERS.items():
        assert "Roof & minutes" in html.unescape(show("Roof & minutes")), name
