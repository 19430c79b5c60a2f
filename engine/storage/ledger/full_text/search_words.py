"""Which words of a question are searched: those that distinguish within the scope, with their stem terms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from engine.storage.ledger.full_text.fts5 import is_trigram
from engine.storage.ledger.full_text.index import (
    TERM_TABLES,
    SearchWord,
    find_term_index,
    measure_scope,
)
from engine.storage.ledger.records.projection import KeyKind
from engine.text.languages.detection import (
    detect_language,
    drop_function_words,
    find_languages,
    join_stem_terms,
    list_query_stems,
)
from engine.text.languages.unspaced import RUN, list_query_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.storage.ledger.full_text.index import FullTextIndex, ScopeClause
    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.storage.sql.connection import Connection


WORD = re.compile(r"\w+")
MAX_TERMS = 16
MAX_PAIRS = 32  # of neighbors in scripts without spaces, where a word is about two of them
# A word in this share of this many texts distinguishes little, and ranking all of them is slow.
COMMON_SHARE, MANY_TEXTS = 0.06, 1000
MAX_RANKED = 8_000
MIN_MARGIN = 1.5  # of the language of a question before the next one
STOP_WORDS = frozenset(
    WORD.findall(
        "a about after all also an and any are as at be been before but by can could did do does for from had has have"
        " he her him his how i if in into is it its just me more my no not of on one or our out she so some than that"
        " the their them then there they this to up us was we were what when where which who whom whose why will with"
        " would you your"
    )
)


class ChosenWords(NamedTuple):
    """The words of a question to search for.

    `common`: the terms of its words of which any form is very common, whether they are searched for or left out.
    """

    words: list[SearchWord]
    common: frozenset[tuple[str, ...]] = frozenset()


def list_forms(words: Iterable[SearchWord]) -> list[SearchWord]:
    """Words with their other forms, which an index holds as terms of their own."""
    return [form for word in words for form in (word, *word.list_stems())]


def extract_words(text: str) -> list[str]:
    """The words of a text without stop words of English and of its own language, each once, in order."""
    found = dict.fromkeys(word for word in WORD.findall(text.casefold()) if word not in STOP_WORDS)
    return drop_function_words(list(found), text)[:MAX_TERMS]


def select_search_words(db: Connection, index: FullTextIndex, text: str, scope_ids: ScopeIds) -> ChosenWords:
    """The words to search for: those of a text without very common ones, or else the rarest of these."""
    reader, scope = find_term_index(db), index.scope_clause(scope_ids, "x")
    tokenizer = reader.find_tokenizer(db)
    distinct = split_into_terms(text, tokenizer)
    terms = reader.tokenize_words(db, tokenizer, distinct)
    languages = _list_languages_of(db, text) if index.kind == KeyKind.CHUNK else []
    words = [
        SearchWord(word, term, tuple(list_query_stems(word, languages)))
        for word, term in zip(distinct, terms, strict=True)
        if term
    ]
    rows = measure_scope(db, index, scope_ids).rows
    limit = max(MANY_TEXTS, int(rows * COMMON_SHARE))
    if rows < limit or len(distinct) < 2:
        return ChosenWords(words)
    common = reader.find_common(db, index.kind, list_forms(words), scope, limit)
    names = {form.text for form in common}
    known = frozenset(word.term for word in words if names.intersection((word.text, *word.stems)))
    words = [word._replace(stems=tuple(stem for stem in word.stems if stem not in names)) for word in words]
    rarer = [word for word in words if word.text not in names]
    return ChosenWords(rarer or _select_rarest(db, index, words, scope), known)


def _list_languages_of(db: Connection, question: str) -> list[str]:
    """The languages in whose texts other forms of a question's words are sought: its own, or all if it is unknown."""
    found = detect_language(question)
    if found.language == "en" and found.margin >= MIN_MARGIN:
        return []
    known = list_stem_languages(db)
    return [found.language] if found.language in known and found.margin >= MIN_MARGIN else known


def list_stem_languages(db: Connection) -> list[str]:
    """The languages of which any chunk has stem terms."""
    return [row[0] for row in db.execute_fetchall("SELECT language FROM stem_language ORDER BY language")]


def split_into_terms(text: str, tokenizer: str) -> list[str]:
    """The words of a text, each once, as the tokenizer can find them; of scripts without spaces, pairs of neighbors.

    With trigrams: any three neighbors of a run without spaces. Shorter runs are left to the vectors, because the index
    holds nothing shorter than three characters.
    """
    if is_trigram(tokenizer):
        terms = extract_words(text)
        runs = ([word] if word.isascii() else [word[i : i + 3] for i in range(len(word) - 2)] for word in terms)
        terms = [term for run in runs for term in run if len(term) > 2]
    else:
        terms = [*extract_words(RUN.sub(" ", text)), *list_query_terms(text, MAX_PAIRS)]
    return list(dict.fromkeys(terms))


def _select_rarest(
    db: Connection, index: FullTextIndex, words: Sequence[SearchWord], scope: ScopeClause
) -> list[SearchWord]:
    """The rarest of common words, at least one, while few enough texts have to be ranked."""
    held = find_term_index(db).count_matches(db, index.kind, words, scope, MAX_RANKED)
    chosen, ranked = list[SearchWord](), 0
    for word in sorted(words, key=lambda word: held[word]):
        ranked += held[word]
        if chosen and ranked > MAX_RANKED:
            break
        chosen.append(word)
    return chosen


def make_stems(db: Connection, texts: Sequence[str], made: Sequence[str | None] = ()) -> list[str]:
    """The stem terms of each text between blanks; none for an index of trigrams. `made`: those that are there."""
    if made and not any(terms is None or terms for terms in made):
        return [""] * len(texts)
    if not texts or is_trigram(TERM_TABLES[db.dialect].find_tokenizer(db)):
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
