"""Patterns of links in Markdown, chat markup and HTML. Pure.

Every pattern is bounded, so that the time grows only linearly with the text.
"""

from __future__ import annotations

import re

from engine.answers.links.addresses import MAX_ADDRESS_CHARACTERS, NON_ADDRESS_CHARACTERS, decode_escapes
from engine.answers.mentions import MENTION_START

MAX_WORD_CHARACTERS = 64  # a word without address signs up to here is not an address
BLANKS = " \t\n"
EDGE_CHARACTERS = f'|>"`<[]{NON_ADDRESS_CHARACTERS}'
WORD_TEXT = re.compile(rf"[^{BLANKS}{re.escape(EDGE_CHARACTERS)}]+")
CODE_WORD = re.compile(r"\S+")
ADDRESS_SIGNS = re.compile(r"[.:@/\\&!]")
AFTER_NAME = ("", *BLANKS, *",;!?)")  # characters that complete no address in the name before them
LINK_BREAKERS = frozenset("[<`")  # must not follow a link directly

OPTIONAL_BLANKS = "[ \\t\\n]{0,4}"
REQUIRED_BLANKS = r"[ \t\n]{1,4}"
LINK_TITLE = rf"""{REQUIRED_BLANKS}(?:"[^"\n]{{0,400}}"|'[^'\n]{{0,400}}'|\([^()\n]{{0,400}}\))"""
PARTIAL_LINK_TITLE = rf"""{REQUIRED_BLANKS}(?:"[^"\n]{{0,400}}"?|'[^'\n]{{0,400}}'?|\([^()\n]{{0,400}}\)?)?"""
BARE_TARGET = r"[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*"
LINK_TARGET = re.compile(
    rf"\({OPTIONAL_BLANKS}(?:<(?P<angled>[^<>\n]*)>|(?P<bare>{BARE_TARGET}))(?:{LINK_TITLE})?{OPTIONAL_BLANKS}\)"
)
PARTIAL_LINK_TARGET = re.compile(
    rf"\({OPTIONAL_BLANKS}(?:<[^<>\n]*>?|[^\s<]*)(?:{PARTIAL_LINK_TITLE})?{OPTIONAL_BLANKS}\Z"
)
ANGLE_LINK = re.compile(r"<([^\s<>|`]+)(?:\|([^<>\n]*))?>")
PARTIAL_ANGLE_LINK = re.compile(r"<(?:[^\s<>|`]+(?:\|[^<>\n]*)?)?\Z")
HTML_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]*>")
ANGLED_CODE = re.compile(
    rf"{MENTION_START.pattern[0]}(?={MENTION_START.pattern[1:]}|[^\s<>|]*[@^]|[A-Za-z][A-Za-z0-9+.-]{{0,31}}:[^:\s])",
    re.IGNORECASE,
)
AFTER_LESS_THAN = frozenset(f"{BLANKS}=-<0123456789")  # characters after a `<` that starts no markup
SELF_LINK = re.compile(rf"\[((?:[A-Za-z][A-Za-z0-9+.-]*://[^\s\[\]<>()`|\"]{{1,{MAX_ADDRESS_CHARACTERS}}})?)\](?=\()")
PARTIAL_SELF_LINK = re.compile(rf"\[[^\s\[\]<>()`|\"]{{0,{MAX_ADDRESS_CHARACTERS}}}\]?\Z")
CITATION_END = re.compile(r"\[\^?\d+\Z")


def target_address(target: re.Match[str]) -> str:
    """The address of a link target, decoded as platforms decode it."""
    return decode_escapes(target["bare"] if target["angled"] is None else target["angled"])
