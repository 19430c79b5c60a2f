"""The stem terms of chunks: what the full-text indexes hold beside their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.full_text.fts5 import is_trigram
from engine.storage.ledger.full_text.index import TERM_INDEXES
from engine.storage.ledger.full_text.search_words import list_stem_languages
from engine.text.languages.stemming import find_languages, join_stem_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.storage.sql.connection import Connection


def make_stems(db: Connection, texts: Sequence[str], made: Sequence[str | None] = ()) -> list[str]:
    """The stem terms of each text between blanks; none for an index of trigrams. `made`: those that are there."""
    if not texts or is_trigram(TERM_INDEXES[db.dialect].find_tokenizer(db)):
        return [""] * len(texts)
    known = made or [None] * len(texts)
    return [join_stem_terms(text) if terms is None else terms for text, terms in zip(texts, known, strict=True)]


def save_languages(db: Connection, stems: Sequence[str]) -> None:
    """Record the languages of these stem terms, so that questions look for them."""
    found = find_languages(term for terms in stems for term in terms.split(" ") if term)
    missing = found.difference(list_stem_languages(db)) if found else ()
    db.executemany(
        "INSERT INTO stem_language (language) VALUES (?) ON CONFLICT DO NOTHING", [(name,) for name in sorted(missing)]
    )
