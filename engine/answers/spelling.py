"""Correct misspelled words of a question by the words of the scope alone.

A word is misspelled if nothing in the scope has it, if it is no common word of any language, and if the scope has a
word that differs by one letter, or two in a long one. What others wrote outside of the scope changes nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Sequence
    from typing import Any

    from engine.models import Question, SearchQuery
    from engine.runtime import Runtime
    from engine.storage.ledger.records import ScopeIds
    from engine.text.tokenizer import Tokenizer

MIN_LENGTH, MAX_LENGTH = 4, 30  # of a word that is corrected
LONG_WORD = 7  # from which two letters may differ
MAX_CORRECTIONS = 4
MAX_TEXTS = 60  # searched for words with one beginning
_WORD = re.compile(r"[^\W\d_]+")


async def correct_spelling(
    runtime: Runtime, question: Question, rewriting: Coroutine[Any, Any, SearchQuery]
) -> SearchQuery:
    """The query with corrected words, and with what was corrected."""
    query = await rewriting
    scope_ids = await runtime.ledger.search.resolve_scope(question.scope)
    unknown = await runtime.ledger.search.find_unknown_words(query.question, scope_ids)
    corrections: list[tuple[str, str]] = []
    for word in unknown:
        if len(corrections) < MAX_CORRECTIONS and is_correctable(word, runtime.tokenizer):
            found = await _find_correction(runtime, word, scope_ids)
            corrections += [(_find_written(word, query.question), found)] if found else []
    return apply_corrections(query, corrections) if corrections else query


def _find_written(word: str, text: str) -> str:
    """A word as it stands in a text."""
    return next((written for written in _WORD.findall(text) if written.casefold() == word), word)


async def _find_correction(runtime: Runtime, word: str, scope_ids: ScopeIds) -> str:
    """The word of the scope that a misspelled one stands for; empty if there is none."""
    for start in list_starts(word):
        texts = await runtime.ledger.search.find_texts_by_start(start, scope_ids, MAX_TEXTS)
        if found := await asyncio.to_thread(choose_correction, word, texts):
            return found
    return ""


def is_correctable(word: str, tokenizer: Tokenizer) -> bool:
    """Whether a word may be misspelled: it has letters alone, and the tokenizer has no token for it."""
    folded = word.casefold()
    return (
        MIN_LENGTH <= len(word) <= MAX_LENGTH
        and bool(_WORD.fullmatch(word))
        and all(tokenizer.count(spelling) > 1 for spelling in (f" {folded}", f" {folded.title()}", folded))
    )


def list_starts(word: str) -> list[str]:
    """The beginnings of words that may be meant, the most telling first."""
    folded = word.casefold()
    swapped = [folded[:at] + folded[at + 1] + folded[at] + folded[at + 2 :] for at in range(min(3, len(word) - 1))]
    dropped = [folded[:at] + folded[at + 1 :] for at in range(3)]
    starts = [
        folded[:5],
        folded[:4],
        folded[:3],
        *(spelling[:4] for spelling in swapped),
        *(spelling[:4] for spelling in dropped),
    ]
    return list(dict.fromkeys([*starts, *([folded[:2]] if len(folded) < LONG_WORD else [])]))


def choose_correction(word: str, texts: Iterable[str]) -> str:
    """The word of these texts that differs least from a misspelled one, of equals the most frequent; else empty."""
    if len(word) > MAX_LENGTH:
        return ""
    folded = word.casefold()
    most = 2 if len(folded) >= LONG_WORD else 1
    counts: dict[str, Counter[str]] = {}
    for text in texts:
        for written in _WORD.findall(text):
            if abs(len(written) - len(folded)) <= most:
                counts.setdefault(written.casefold(), Counter())[written] += 1
    distances = {key: measure_distance(folded, key, most) for key in counts}
    near = [key for key, distance in distances.items() if 0 < distance <= most and len(key) >= MIN_LENGTH]
    near = [key for key in near if key not in STOP_WORDS]  # "mown" is no misspelled "down"
    near = [key for key in near if key[0] == folded[0] or (distances[key] == 1 and not _is_other_word(folded, key))]
    if not near:
        return ""
    best = min(near, key=lambda key: (distances[key], -counts[key].total(), key))
    return min(counts[best], key=lambda form: (-counts[best][form], form))


def _is_other_word(one: str, other: str) -> bool:
    """Whether only the first letter differs: that one is seldom mistaken, and "lorry" is no misspelled "sorry"."""
    return one[1:] == other[1:]


def measure_distance(one: str, other: str, most: int) -> int:
    """The number of letters to change, add, leave out or swap with a neighbor; `most` + 1 if there are more.

    Takes time in the product of both lengths.
    """
    if abs(len(one) - len(other)) > most or len(set(one) ^ set(other)) > 2 * most:
        return most + 1
    before, row = list[int](), list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        last, before, row = before, row, [at]
        for place, found in enumerate(other, 1):
            cost = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (letter != found))
            if at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == found:
                cost = min(cost, last[place - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def apply_corrections(query: SearchQuery, corrections: Sequence[tuple[str, str]]) -> SearchQuery:
    """The query with each misspelled word replaced, in its keywords as well."""
    found = {written.casefold(): meant for written, meant in corrections}

    def correct(text: str) -> str:
        return _WORD.sub(lambda word: found.get(word[0].casefold(), word[0]), text)

    return replace(
        query,
        question=correct(query.question),
        high=tuple(map(correct, query.high)),
        low=tuple(map(correct, query.low)),
        corrections=tuple(corrections),
    )


def drop_unshown(query: SearchQuery, texts: Iterable[str]) -> SearchQuery:
    """The query without corrections by words that none of the retrieved texts has.

    An answer that cites only these texts may be shared with people who cannot read where else such a word stands.
    """
    if not query.corrections:
        return query
    shown = {word.casefold(): word for text in texts for word in _WORD.findall(text)}
    unshown = [(found, written) for written, found in query.corrections if found.casefold() not in shown]
    kept = [(written, shown[found.casefold()]) for written, found in query.corrections if found.casefold() in shown]
    return replace(apply_corrections(query, unshown), corrections=tuple(kept))
