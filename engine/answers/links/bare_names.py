"""Allowed addresses without a scheme, which platforms link: `ok.com/d`, `ada@ok.com`, `notes.md`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from engine.answers.links.addresses import CLOSING_PUNCTUATION, OPENING_PUNCTUATION, STRIPPED_SUFFIX, normalize_text

if TYPE_CHECKING:
    from engine.answers.links.addresses import AllowedAddresses

PLAIN_NAME = re.compile(r"(?!www\.)[\w.+-]+(?:@[\w.-]+)?", re.IGNORECASE)  # only letters can extend it
PLAIN_END = re.compile(r"[^?:]*(?:\?|:[*_~]*)?")  # after a plain name, every platform ends the link here
WRITTEN_PREFIX = re.compile(
    r"[^.:@/\\&!\x80-\U0010ffff]*"
)  # part of a word that may be written before the word is complete
LINK_EXTENDING_PREFIX = re.compile(
    r"[\w.+@~`\u200b-]\Z|_[*~(\[{\"'‘“«]*\Z|[^\s(\[{|>*~]\"[*~]*\Z|[^\s|]\|+[*_~(\[{\"'‘“«]*\Z"
)  # before a name: some platforms start the link earlier


class BareName(NamedTuple):
    """A name to show, and whether the text after it could extend the link."""

    text: str
    is_open: bool


def match_bare_name(word: str, read: str, tail: str, allowed: AllowedAddresses) -> BareName | None:
    """An allowed name with its punctuation, spelled as in its source; None if it is not allowed.

    `read` is the decoded word, `tail` the text before it. The start of the word may be written already, so that its
    spelling cannot change.
    """
    read = normalize_text(read)
    core = read.lstrip(OPENING_PUNCTUATION).rstrip(CLOSING_PUNCTUATION)
    name = allowed.find_name(core) if core else ""
    if not name or "://" in name:
        return None
    lead, _, trail = read.partition(core)
    fixed = WRITTEN_PREFIX.match(word)
    if LINK_EXTENDING_PREFIX.search(tail + lead) or not f"{lead}{name}{trail}".startswith(fixed[0] if fixed else ""):
        return None
    plain = bool(PLAIN_NAME.fullmatch(name))
    emphasis = lead if not lead.strip("*~") else ""
    ends = PLAIN_END.fullmatch(trail) if plain else STRIPPED_SUFFIX.fullmatch(trail.removeprefix(emphasis))
    return BareName(lead + name + (trail if ends else f" {trail}"), not plain or "?" in trail or ":" in trail)
