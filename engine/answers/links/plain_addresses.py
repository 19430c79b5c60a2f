"""Addresses that platforms link without markup: names such as `ok.com/d` and `notes.md`, and words of code. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from engine.answers.links.addresses import (
    CLOSING_PUNCTUATION,
    OPENING_PUNCTUATION,
    STRIPPED_SUFFIX,
    decode_and_normalize,
    decode_escapes,
    defang_word,
    find_scheme,
    is_linkable,
    normalize_text,
)
from engine.answers.links.link_syntax import ADDRESS_SIGNS

if TYPE_CHECKING:
    from engine.answers.links.allowed_addresses import AllowedAddresses

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


def filter_code_word(word: str, allowed: AllowedAddresses, *, angled: bool) -> str:
    """Filter a word of code, where names without a scheme are not linked and brackets have no meaning.

    `angled`: a `<` precedes the code, so that chat markup reads the code as part of a link.
    """
    if word.isascii() and not ADDRESS_SIGNS.search(word):
        return word
    read = decode_and_normalize(word)
    if not is_linkable(read, domains=False) or (not angled and _is_allowed(word, allowed)):
        return word
    return defang_word(read, domains=False)


def _is_allowed(word: str, allowed: AllowedAddresses) -> bool:
    """Whether the only linkable part of a word is an allowed address, spelled as in its source."""
    start = find_scheme(word)
    if start < 0:
        start = len(word) - len(word.lstrip(OPENING_PUNCTUATION))
    core = word[start:].rstrip(CLOSING_PUNCTUATION)
    return (
        bool(core)
        and core in (allowed.find_link(core), allowed.find_name(core))
        and bool(STRIPPED_SUFFIX.fullmatch(word, start + len(core)))
        and not is_linkable(normalize_text(decode_escapes(word[:start])), domains=False)
    )
