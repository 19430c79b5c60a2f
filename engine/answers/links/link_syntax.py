"""Patterns of links in Markdown, chat markup and HTML, and the text before a link, which decides its form. Pure.

Every pattern is bounded, so that the time grows only linearly with the text.
"""

from __future__ import annotations

import re

from engine.answers.links.addresses import (
    CLOSING_PUNCTUATION,
    MAX_ADDRESS_CHARACTERS,
    NON_ADDRESS_CHARACTERS,
    STRIPPED_SUFFIX,
    decode_escapes,
)
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
# Tags without attributes pass, since code in a sentence looks like them, but for those with which HTML acts or hides.
HTML_TAG = re.compile(
    r"</?(?!(?:script|style|i?frame|frameset|object|embed|applet|svg|math|form|input|textarea|button|select|option|base"
    r"|link|meta|title|noscript|noembed|noframes|template|plaintext|xmp|listing|video|audio|canvas|marquee|img|image"
    r"|dialog|portal|body|html|head)>)[A-Za-z][A-Za-z0-9]*>",
    re.IGNORECASE,
)
ANGLED_CODE = re.compile(
    rf"{MENTION_START.pattern[0]}(?={MENTION_START.pattern[1:]}|[^\s<>|]*[@^]|[A-Za-z][A-Za-z0-9+.-]{{0,31}}:[^:\s])",
    re.IGNORECASE,
)
AFTER_LESS_THAN = frozenset(f"{BLANKS}=-<0123456789")  # characters after a `<` that starts no markup
MAX_LABEL_CHARACTERS = 300
LABEL_TEXT = r"(?:[^\[\]<>`|\n]|`[^`|\[\]\n]{1,300}`(?!`))"  # no brackets, and only whole spans of code
SELF_LABEL = rf"[A-Za-z][A-Za-z0-9+.-]*://[^\s\[\]<>()`|\"]{{1,{MAX_ADDRESS_CHARACTERS}}}"
LINK_LABEL = re.compile(rf"\[({LABEL_TEXT}{{0,{MAX_LABEL_CHARACTERS}}}|{SELF_LABEL})\](?=\()")
PARTIAL_LINK_LABEL = re.compile(
    rf"\[(?:{LABEL_TEXT}{{0,{MAX_LABEL_CHARACTERS}}}(?:`[^`|\[\]\n]{{0,300}}`?)?|[^\s\[\]<>()`|\"]{{0,{MAX_ADDRESS_CHARACTERS}}})\]?\Z"
)
CITATION_END = re.compile(r"\[\d{1,3}[\]\s]*\Z")


def target_address(target: re.Match[str]) -> str:
    """The address of a link target, decoded as platforms decode it."""
    return decode_escapes(target["bare"] if target["angled"] is None else target["angled"])


class LinkContext:
    """Tracks open angle brackets and strikethrough, however the text is cut."""

    def __init__(self, *, angled: bool = False) -> None:
        self.angled = angled  # after a written `<`, with no space or `>` since
        self.in_strikethrough = False  # after `~~` in the same paragraph

    def is_within_angle(self, text: str) -> bool:
        """Whether chat markup would read the end of this text as the inside of a link opened by `<`."""
        _, angle, rest = text.rpartition("<")
        return (self.angled or bool(angle)) and " " not in rest and ">" not in rest

    def can_have_text(self, link: str) -> bool:
        """Whether a link can be written as `[text](link)` here."""
        return not self.angled and not set("()[]") & set(link)

    def record_output(self, before: str, text: str) -> None:
        """Record written text; a paragraph break ends all marks."""
        if "\n\n" in before[-1:] + text:
            self.in_strikethrough = False
        self.in_strikethrough = self.in_strikethrough or "~~" in before[-1:] + text
        self.angled = self.is_within_angle(text)

    def render_angle_link(self, link: str, before: str, tail: str) -> str:
        """A link in angle brackets; `before` is the text before it in this step, `tail` the text before that."""
        escaped = (before or tail).endswith("\\")
        return f" <{link}>" if escaped or self.is_within_angle(before) else f"<{link}>"


def needs_space(first: str, text: str, tail: str, *, linked: bool, bare: bool) -> bool:
    """Whether a space is needed so that the text does not extend a link, or turn a bracket into one."""
    if tail.endswith("]") and text[:1] in ("(", ":"):
        return True
    if not linked or first in BLANKS:
        return False
    if bare:
        return not STRIPPED_SUFFIX.fullmatch(text) or (
            first in EDGE_CHARACTERS and tail[-1:] in tuple(CLOSING_PUNCTUATION)
        )
    return first in LINK_BREAKERS or bool(text.partition(" ")[0].strip(CLOSING_PUNCTUATION + EDGE_CHARACTERS))
