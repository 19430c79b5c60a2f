"""Full-text scores within one scope: BM25 (Robertson and Zaragoza 2009), the words that distinguish, stem terms.

The term index of the database is read, and counted within the scope.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from functools import partial
from heapq import nlargest
from typing import TYPE_CHECKING

from engine.storage.ledger.clauses import load_sort_keys
from engine.storage.ledger.full_text.fts5 import is_trigram
from engine.storage.ledger.full_text.index import (
    TERM_INDEXES,
    RowScores,
    ScoringIndex,
    SearchWord,
    find_term_index,
    measure_rows,
    measure_scope,
)
from engine.storage.ledger.queries.filters import filter_ids
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.records.query_results import EMPTY_SORT_KEY
from engine.text.languages.detection import (
    detect_language,
    drop_function_words,
    find_languages,
    join_stem_terms,
    list_query_stems,
)
from engine.text.languages.unspaced import RUN, list_query_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from engine.storage.ledger.full_text.index import FullTextIndex, Postings, ScopeSize, TermIndex
    from engine.storage.ledger.records.query_results import ResolvedFilters, ScopeIds
    from engine.storage.sql.connection import Connection


K1, B = 1.2, 0.75
FILTER_BATCH = 256  # rows checked against the filters at once
STEM_SHARE = 0.6  # of a place of a word that a place of another form of it counts
SCORE_DIGITS, SCORE_TOLERANCE = 9, 1e-9  # digits of a score; further ones depend on the order of additions
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


def rank_rows(
    db: Connection,
    index: FullTextIndex,
    words: Sequence[SearchWord],
    scope_ids: ScopeIds,
    filters: ResolvedFilters | None,
    k: int,
) -> RowScores:
    """The k best rows within the scope that match the filters and any of the words, with scores, best first."""
    reader, scope = find_term_index(db), index.scope_clause(scope_ids, "x")
    distinct = list({word.term: word for word in words}.values())
    if filters is not None and (past := filters.list_past_ids(index.kind)) is not None:
        size = measure_rows(db, index, past)
        load = partial(_load_among, reader, db, index, scope, past)
        found = score_words(distinct, load, size)
        return found._replace(scores=_select_best(db, index, found.scores, k))
    whole = measure_scope(db, index, scope_ids)
    if isinstance(reader, ScoringIndex):
        found = reader.score_rows(db, index.kind, distinct, scope, whole)
    else:
        found = score_words(distinct, lambda forms: reader.load_postings(db, index.kind, forms, scope), whole)
    scores = found.scores if filters is None else _filter_scores(db, index, found.scores, filters, k)
    return found._replace(scores=_select_best(db, index, scores, k))


def _load_among(
    reader: TermIndex,
    db: Connection,
    index: FullTextIndex,
    scope: str,
    ids: frozenset[int],
    forms: Sequence[SearchWord],
) -> list[Postings]:
    """The rows among these ids that contain each form."""
    found = reader.load_postings(db, index.kind, forms, scope)
    return [{row: times for row, times in held.items() if row[0] in ids} for held in found]


def list_forms(words: Iterable[SearchWord]) -> list[SearchWord]:
    """Words with their other forms, which an index holds as terms of their own."""
    return [form for word in words for form in (word, *word.list_stems())]


def score_words(
    words: Sequence[SearchWord], load: Callable[[Sequence[SearchWord]], Sequence[Postings]], whole: ScopeSize
) -> RowScores:
    """BM25 scores of the rows that contain any of the words or another form of it. `load`: the rows of each form."""
    forms = list_forms(words)
    postings = dict(zip(forms, load(forms), strict=True))
    joined = [_join_forms(word, postings) for word in words]
    return RowScores(score_rows(joined, whole), sum(not held for held in joined))


def _join_forms(word: SearchWord, postings: Mapping[SearchWord, Postings]) -> Postings:
    """The rows that contain a word or another form of it, which counts less."""
    exact = postings[word]
    joined = dict(exact)
    for stem in word.list_stems():
        for row, times in postings[stem].items():
            own = exact.get(row, 0)
            joined[row] = max(joined.get(row, 0), own + STEM_SHARE * max(0, times - own))
    return joined


def _filter_scores(
    db: Connection, index: FullTextIndex, scores: Mapping[int, float], filters: ResolvedFilters, k: int
) -> dict[int, float]:
    """The k best rows that match the filters, and those with the same score as the last."""
    left, kept = sorted(scores, key=lambda row: -scores[row]), dict[int, float]()
    while left and not (len(kept) >= k and scores[left[0]] < min(kept.values()) - SCORE_TOLERANCE):
        some, left = left[:FILTER_BATCH], left[FILTER_BATCH:]
        inside = filter_ids(db, filters, index.kind, some)
        kept |= {row: scores[row] for row in some if row in inside}
    return kept


def weigh_word(count: int, whole: ScopeSize) -> float:
    """The weight of a word that so many rows contain: its rarity squared, since it weighs the question's words, too.

    Else several common words outweigh the rare one that a question is about. Salton and Buckley 1988.
    """
    return math.log1p((whole.rows - count + 0.5) / (count + 0.5)) ** 2


def score_rows(postings: Iterable[Postings], whole: ScopeSize) -> dict[int, float]:
    """BM25 scores of rows from the frequencies of each term: {(row, length): times}."""
    average = whole.length / whole.rows if whole.rows and whole.length else 1.0
    fixed, by_length = K1 * (1 - B), K1 * B / average
    scores: defaultdict[int, float] = defaultdict(float)
    for held in postings:
        weight = weigh_word(len(held), whole) * (K1 + 1)
        for (row, length), times in held.items():
            scores[row] += weight * times / (times + fixed + by_length * length)
    return scores


def _select_best(db: Connection, index: FullTextIndex, scores: Mapping[int, float], k: int) -> dict[int, float]:
    """The k best rows with rounded scores; content decides between equal scores, not the order of insertion."""
    least = nlargest(max(0, k), scores.values())[-1:]
    reach = {
        row: round(score, SCORE_DIGITS)
        for row, score in scores.items()
        if least and score >= least[0] - SCORE_TOLERANCE
    }
    count = Counter(reach.values())
    tied = [row for row, score in reach.items() if count[score] > 1]
    known = load_sort_keys(db, index.kind, tied) if tied else {}
    best = sorted(reach, key=lambda row: (-reach[row], known.get(row, EMPTY_SORT_KEY)))[:k]
    return {row: reach[row] for row in best}


def extract_words(text: str) -> list[str]:
    """The words of a text without stop words of English and of its own language, each once, in order."""
    found = dict.fromkeys(word for word in WORD.findall(text.casefold()) if word not in STOP_WORDS)
    return drop_function_words(list(found), text)[:MAX_TERMS]


def select_search_words(db: Connection, index: FullTextIndex, text: str, scope_ids: ScopeIds) -> list[SearchWord]:
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
        return words
    forms = [form for word in words for form in (word, *word.list_stems())]
    common = reader.find_common(db, index.kind, forms, scope, limit)
    names = {form.text for form in common}
    words = [word._replace(stems=tuple(stem for stem in word.stems if stem not in names)) for word in words]
    return [word for word in words if word.text not in names] or _select_rarest(db, index, words, scope)


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


def _select_rarest(db: Connection, index: FullTextIndex, words: Sequence[SearchWord], scope: str) -> list[SearchWord]:
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
