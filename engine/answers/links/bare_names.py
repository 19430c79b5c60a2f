"""Known names without a scheme, which platforms make links of: `ok.com/d`, `ada@ok.com`, `notes.md`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from engine.answers.links.addresses import CLOSING_PUNCTUATION, OPENING_PUNCTUATION, STRIPPED_SUFFIX, normalize_text

if TYPE_CHECKING:
    from engine.answers.links.addresses import AllowedAddresses

PLAIN_NAME = re.compile(r"(?!www\.)[\w.+-]+(?:@[\w.-]+)?", re.IGNORECASE)  # nothing but letters can make it longer
PLAIN_END = re.compile(r"[^?:]*(?:\?|:[*_~]*)?")  # behind a plain name every platform ends the link here
WRITTEN_PREFIX = re.compile(r"[^.:@/\\&!\x80-\U0010ffff]*")  # what may be written of a word before it is whole
LINK_EXTENDING_PREFIX = re.compile(
    r"[\w.+@~`\u200b-]\Z|_[*~(\[{\"'‘“«]*\Z|[^\s(\[{|>*~]\"[*~]*\Z|[^\s|]\|+[*_~(\[{\"'‘“«]*\Z"
)  # before a name: some platform begins the link earlier


class BareName(NamedTuple):
    """A name as it may be shown, and whether what follows could make it longer."""

    text: str
    is_open: bool


def match_bare_name(word: str, read: str, tail: str, known: AllowedAddresses) -> BareName | None:
    """A known name and its punctuation, spelled as it is known; nothing if it is not known.

    `read` is the word decoded, `tail` what is written before it. The beginning of the word may be written already,
    so that it cannot be spelled otherwise.
    """
    read = normalize_text(read)
    core = read.lstrip(OPENING_PUNCTUATION).rstrip(CLOSING_PUNCTUATION)
    name = known.find_name(core) if core else ""
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
