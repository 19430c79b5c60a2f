"""Addresses within code: some platforms make links of them there, too. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.answers.links.addresses import (
    CLOSERS,
    OPENERS,
    STRIPPED,
    alive,
    decoded,
    inert,
    normal,
    resolved,
    scheme_at,
)
from engine.answers.links.link_syntax import PIVOTS

if TYPE_CHECKING:
    from engine.answers.links.addresses import Known


def coded(word: str, known: Known, *, angled: bool) -> str:
    """A word of code: a name without a scheme is no link there, and brackets mean nothing.

    `angled`: a `<` stands before the code, and Discord would take what follows for the rest of a link.
    """
    if word.isascii() and not PIVOTS.search(word):
        return word
    read = resolved(word)
    if not alive(read, domains=False) or (not angled and _known(word, known)):
        return word
    return inert(read, domains=False)


def _known(word: str, known: Known) -> bool:
    """Whether nothing is alive in a word but an address that is spelled as it is known."""
    start = scheme_at(word)
    if start < 0:
        start = len(word) - len(word.lstrip(OPENERS))
    core = word[start:].rstrip(CLOSERS)
    return (
        bool(core)
        and core in (known.link(core), known.name(core))
        and bool(STRIPPED.fullmatch(word, start + len(core)))
        and not alive(normal(decoded(word[:start])), domains=False)
    )
