"""Addresses in code: some platforms link them even there. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from engine.answers.links.addresses import AllowedAddresses


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
