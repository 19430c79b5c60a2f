"""Render the Markdown of an answer as HTML: no markup of its own, links to the web only, numbers that cite a source."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

from bot.text.markdown import is_web_link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

    from adapters.web.models import SourceItem

CITATION = re.compile(r"\[(\d{1,4})\]")
# Numbers on a line of their own, below a line of text that they can end.
_LONELY = re.compile(r"(?<=[^\s`|>])[ \t]*+\n\s*+(?=(?:\[\d{1,4}\][ \t]*)++(?:\n|$))")
_LINE_END = re.compile(r"\r\n?|\n")  # as the parser counts lines
CODE = ("fence", "code_block")
NO_BREAK, JOINER = "\u00a0", "\u2060"  # a blank, and nothing, at which no line breaks
NEW_TAB = 'target="_blank" rel="noopener noreferrer nofollow"'
EXTERNAL = {"target": "_blank", "rel": "noopener noreferrer nofollow"}


def render_answer(text: str, sources: Mapping[int, SourceItem] | None = None, prefix: str = "") -> str:
    """The HTML of an answer. `sources`: by number, once they are known; `prefix`: of the ids in the list of sources."""
    return str(_parser.render(_join_lonely(text), {"sources": sources or {}, "prefix": prefix}))


def _join_lonely(text: str) -> str:
    """The text with lonely numbers on the line that they end; blocks of code stay as they are."""
    blocks = [token.map for token in _parser.parse(text) if token.type in CODE and token.map]
    lines, joined, at = [f"{part}\n" for part in _LINE_END.split(text)], list[str](), 0
    for begin, end in blocks:
        joined += [_LONELY.sub(" ", "".join(lines[at:begin])), *lines[begin:end]]
        at = end
    return "".join([*joined, _LONELY.sub(" ", "".join(lines[at:]))])


def _render_text(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """A text whose numbers in brackets are citations, each on the line of the word before it."""
    del renderer, options
    *parts, last = CITATION.split(tokens[index].content)  # text and numbers alternate
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return "".join(f"{escape(_tie(text))}{_render_citation(number, env)}" for text, number in pairs) + escape(last)


def _tie(text: str) -> str:
    """A text that ends without a place where the line could break."""
    bare = text.rstrip()
    return f"{bare}{JOINER if bare == text else NO_BREAK}"


def _render_citation(number: str, env: Any) -> str:
    source: SourceItem | None = env["sources"].get(int(number))
    if source is None:
        return f'<span class="citation">{number}</span>'
    card = f"{env['prefix']}{source.number}"
    target = f'href="{escape(source.link)}" {NEW_TAB}' if is_web_link(source.link) else f'href="#{card}"'
    label = escape(f"Source {source.number}: {source.title}")
    return f'<a class="citation" {target} data-source="{card}" aria-label="{label}">{source.number}</a>'


def _render_link_open(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    tokens[index].attrs.update(EXTERNAL)
    return renderer.renderToken(tokens, index, options, env)


def _render_cell_open(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    tokens[index].attrs.clear()  # their styles are inline, which the policy of the pages forbids
    return renderer.renderToken(tokens, index, options, env)


def _build_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    parser.disable(["image", "reference", "html_block", "html_inline"])
    parser.validateLink = is_web_link  # type: ignore[method-assign, assignment]  # the library's way to restrict links
    parser.add_render_rule("text", _render_text)
    parser.add_render_rule("link_open", _render_link_open)
    for name in ("th_open", "td_open"):
        parser.add_render_rule(name, _render_cell_open)
    return parser


_parser = _build_parser()
