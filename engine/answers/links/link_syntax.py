"""How links are written in Markdown, mrkdwn and HTML, as far as one may begin anywhere in a text. Pure.

Every pattern is bounded, so that a text costs no more than its length.
"""

from __future__ import annotations

import re

from engine.answers.links.addresses import ASIDE, LONGEST, decoded
from engine.answers.mentions import BEGUN

WORD = 64  # characters of a word that may become an address; more of them are none
BLANK = " \t\n"
EDGES = f'|>"`<[]{ASIDE}'
TEXT = re.compile(rf"[^{BLANK}{re.escape(EDGES)}]+")
CODE = re.compile(r"\S+")
PIVOTS = re.compile(r"[.:@/\\&!]")
OPENING = frozenset("[<`")  # never follows a link directly

SOME = "[ \\t\\n]{0,4}"
GAP = r"[ \t\n]{1,4}"
TITLE = rf"""{GAP}(?:"[^"\n]{{0,400}}"|'[^'\n]{{0,400}}'|\([^()\n]{{0,400}}\))"""
TITLE_SO_FAR = rf"""{GAP}(?:"[^"\n]{{0,400}}"?|'[^'\n]{{0,400}}'?|\([^()\n]{{0,400}}\)?)?"""
PLACE = r"[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*"
TARGET = re.compile(rf"\({SOME}(?:<(?P<angled>[^<>\n]*)>|(?P<bare>{PLACE}))(?:{TITLE})?{SOME}\)")
TARGET_SO_FAR = re.compile(rf"\({SOME}(?:<[^<>\n]*>?|[^\s<]*)(?:{TITLE_SO_FAR})?{SOME}\Z")
ANGLE = re.compile(r"<([^\s<>|`]+)(?:\|([^<>\n]*))?>")
ANGLE_SO_FAR = re.compile(r"<(?:[^\s<>|`]+(?:\|[^<>\n]*)?)?\Z")
TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]*>")
ANGLED_CODE = re.compile(
    rf"{BEGUN.pattern[0]}(?={BEGUN.pattern[1:]}|[^\s<>|]*[@^]|[A-Za-z][A-Za-z0-9+.-]{{0,31}}:[^:\s])", re.IGNORECASE
)
LESS = frozenset(f"{BLANK}=-<0123456789")  # behind a `<` that begins nothing
ITSELF = re.compile(rf"\[((?:[A-Za-z][A-Za-z0-9+.-]*://[^\s\[\]<>()`|\"]{{1,{LONGEST}}})?)\](?=\()")
ITSELF_SO_FAR = re.compile(rf"\[[^\s\[\]<>()`|\"]{{0,{LONGEST}}}\]?\Z")
NUMBERED = re.compile(r"\[\^?\d+\Z")


def place(target: re.Match[str]) -> str:
    """The address of a target as a platform reads it."""
    return decoded(target["bare"] if target["angled"] is None else target["angled"])
