"""Links and pictures that several renderers find in a text, independent of the filter's own patterns.

Two libraries parse CommonMark and GFM; Slack's mrkdwn and Discord's Markdown follow their documentation. Each gives
every live address: targets of links and pictures, and text that is linked by itself.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import mistune
from markdown_it import MarkdownIt
from markdown_it.token import Token

TLD_NAMES = (
    "com net org edu gov info biz app dev xyz online site top shop store tech cloud live link click page space news"
    " example test md py sh rs zip mov io ai co me tv ly gg id name run is at de uk fr xn--p1ai"
)
TLDS = TLD_NAMES.split()

MARKDOWN = MarkdownIt("gfm-like", {"html": True})
assert MARKDOWN.linkify is not None
MARKDOWN.linkify.tlds(TLDS)
MISTUNE = mistune.create_markdown(renderer=None, plugins=["url", "table", "strikethrough", "def_list"])
ATTRIBUTE = re.compile(r"(?:href|src|action|data|poster|background)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]*)", re.IGNORECASE)

TAG = re.compile(r"<[a-z][a-z0-9-]*(?:\"[^\"]*\"|'[^']*'|[^\"'>])*", re.IGNORECASE)

LABEL = r"(?:[^\[\]\n]|\[[^\[\]\n]*\])*"
ANYWHERE = re.compile(r"(?:[a-z][a-z0-9+.-]*://|(?<![a-z0-9])(?:www\.|mailto:|tel:|sms:))[^\s<>|`]+", re.IGNORECASE)
DOMAIN = re.compile(
    rf"(?<![\w@./-])(?:[\w.+-]+@)?(?:[\w-]+\.)+(?:{'|'.join(TLDS)})(?![\w-])(?:[:/?#][^\s<>|`]*)?", re.IGNORECASE
)
ANGLED = re.compile(
    r"<((?:[a-z][a-z0-9+.-]*:|www\.|[\w.+-]+@[\w-]+\.)[^\s<>|]*|[@#!][^<>|]*)(?:\|[^<>\n]*)?>",
    re.IGNORECASE,
)

CODE = re.compile(r"```.+?```|(?<!`)(`+)(?!`)(?:[^`]|(?!\1)`)+?(?<!`)\1(?!`)", re.DOTALL)
AUTOLINK = re.compile(r"<[a-z][a-z0-9+.-]*:[^\s<>]*>|\]\([^()\s]*\)", re.IGNORECASE)
EXTENDED = re.compile(
    r"(?:(?<![^\s*_~(])(?:www\.|https?://)[\w-]+\.[^\s<]+|[\w.+-]+@[\w-]+\.[\w.-]*[a-z](?![\w-]))", re.IGNORECASE
)

DISCORD_BLOCK = re.compile(r"```(?:(?:[a-z0-9_+\-.#]+)\n)?\n*[^\n].*?\n*```", re.IGNORECASE | re.DOTALL)
DISCORD_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)", re.DOTALL)
DISCORD_MASKED = re.compile(
    rf"\[{LABEL}\]\(\s*(<[^<>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+[\"'].*?[\"'])?\s*\)"
)
DISCORD_BARE = re.compile(r"(?:https?|discord|steam|ftp)://[^\s<]+[^<.,:;\"'\]\s]", re.IGNORECASE)
DISCORD_ANGLED = re.compile(r"<((?:[a-z][a-z0-9+.-]*:|\+|[\w.+-]+@)[^ >\n]+)>", re.IGNORECASE)


def commonmark(text: str) -> Iterator[str]:
    """CommonMark, tables, autolinks of all kinds, also of bare domains and mail addresses."""
    yield from _tokens(MARKDOWN.parse(text))


def _tokens(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        yield from (str(token.attrs[name]) for name in ("href", "src") if name in token.attrs)
        if token.type.startswith("html"):
            yield from _attributes(token.content)
        yield from _tokens(token.children or [])


def _attributes(raw: str) -> Iterator[str]:
    """The addresses in the tags of HTML; everything between tags is text."""
    for tag in TAG.finditer(raw):
        yield from (found[1].strip("\"'") for found in ATTRIBUTE.finditer(tag[0]))


def gfm(text: str) -> Iterator[str]:
    """GFM, by another library."""
    made: Any = MISTUNE(text)
    yield from _nodes(made)


def _nodes(nodes: list[dict[str, Any]]) -> Iterator[str]:
    for node in nodes:
        if node["type"] in {"link", "image"}:
            yield node["attrs"]["url"]
        if node["type"] in {"inline_html", "block_html"}:
            yield from _attributes(node["raw"])
        yield from _nodes(node.get("children") or [])


def autolinks(text: str) -> Iterator[str]:
    """GFM's extended autolinks by its specification: they end at a blank or `<`, without some punctuation."""
    for found in EXTENDED.finditer(AUTOLINK.sub(" ", CODE.sub(" ", text))):
        yield trimmed(found[0])


def trimmed(address: str) -> str:
    """Without the punctuation that GFM removes from the end of an address."""
    while address.endswith(tuple("?!.,:*_~'\";")) or (
        address.endswith(")") and address.count(")") > address.count("(")
    ):
        address = address[:-1]
    return address


def mrkdwn(text: str) -> Iterator[str]:
    """Slack: `<address|label>` everywhere, addresses with a scheme also in code, domains and mail outside of it."""
    for found in ANGLED.finditer(text):
        if found[1][0] not in "@#" and (found[1][0] != "!" or "^" in found[1]):  # a date may carry a link
            yield found[1]
    rest = ANGLED.sub(" ", text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    yield from (found[0] for found in ANYWHERE.finditer(rest))
    outside = re.sub(r"```.+?```|(`{1,2})(?!`)[^`\n]+\1(?!`)", " ", rest, flags=re.DOTALL)
    yield from (found[0] for found in DOMAIN.finditer(outside))


def discord(text: str) -> Iterator[str]:
    """Discord: masked links, addresses with or without angle brackets, outside of code."""
    outside = DISCORD_SPAN.sub(" ", DISCORD_BLOCK.sub(" ", text))
    yield from (found[1].strip("<>") for found in DISCORD_MASKED.finditer(outside))
    plain = re.sub(r"\\([^\w\s])", r"\1", DISCORD_MASKED.sub(" ", outside))
    for read in (outside, plain):
        yield from (found[1] for found in DISCORD_ANGLED.finditer(read))
        yield from (found[0] for found in DISCORD_BARE.finditer(DISCORD_ANGLED.sub(" ", read)))


RENDERERS = {"commonmark": commonmark, "gfm": gfm, "autolinks": autolinks, "mrkdwn": mrkdwn, "discord": discord}


def normalize(address: str) -> str:
    """An address as a browser understands it."""
    plain = unicodedata.normalize("NFKC", unquote(html.unescape(address)))
    return "".join(char for char in plain if unicodedata.category(char) != "Cf").lower()
