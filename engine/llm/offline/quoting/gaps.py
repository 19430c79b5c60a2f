"""Find what a question names and its answer does not: then it is about something else. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from engine.llm.offline.question import is_list_noun
from engine.llm.offline.words import is_generic, is_stop_word, split_words, stem, word_family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.ranking import ClauseScores, Term

MAX_BEFORE = 4  # sentences that say what a sentence is about
MIN_BEGINNING = 4  # letters that two forms of a name share


def find_gaps(positions: Sequence[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> list[str]:
    """The words of a question that its answer should have and has not, as they are written.

    These are names, ids and numbers, and words before a word that the answer has after another one: for "the winter
    party" an answer about the summer party lacks "winter".
    """
    if not positions:
        return []
    quoted = [candidates[at] for at in positions]
    known = set[str]().union(*(each.nearby_stems for each in quoted))
    known = known.union(*(each.stems for at in positions for each in _list_before(at, candidates)))
    families = set(map(word_family, known))
    missing = [term for term in clause.terms if not _is_known(term, clause, known, families)]
    named = join_names([term.word for term in missing if term.is_name and not is_generic(term.word)], clause.text)
    text = " ".join(each.text for each in quoted)
    others = [term.word for term in missing if not term.is_name and _qualifies_another(term, clause, text)]
    return named + others


def _list_before(at: int, candidates: Sequence[Candidate]) -> list[Candidate]:
    """A sentence after those before it in the same source."""
    source = candidates[at].source
    return [each for each in candidates[max(0, at - MAX_BEFORE) : at + 1] if each.source is source]


def join_names(words: Sequence[str], text: str) -> list[str]:
    """The words, with those that follow each other in a text as one."""
    joined: list[str] = []
    for word in words:
        if joined and f"{joined[-1]} {word}" in text:
            joined[-1] = f"{joined[-1]} {word}"
        else:
            joined.append(word)
    return joined


def _is_known(term: Term, clause: ClauseScores, known: set[str], families: set[str]) -> bool:
    if term.stem in known or (not term.is_name and word_family(term.stem) in families):
        return True
    others = clause.alike.get(term.stem, frozenset()) | clause.other_words.get(term.stem, frozenset())
    return not others.isdisjoint(known) or (term.is_name and _has_form(term.stem, known))


def _has_form(key: str, known: set[str]) -> bool:
    """Whether another form of a name is known, with another ending: German writes all nouns like names."""
    beginning = key[: max(MIN_BEGINNING, len(key) - 2)]
    return key.isalpha() and len(key) >= MIN_BEGINNING and any(each.startswith(beginning) for each in known)


def _qualifies_another(term: Term, clause: ClauseScores, quoted: str) -> bool:
    """Whether the word after it in the question stands after another word in the answer, or heads its cell."""
    if is_generic(term.word) or is_list_noun(term.word):
        return False
    words = split_words(clause.text)
    stems = [stem(word) for word in words]
    heads = {stems[at + 1] for at, word in enumerate(words[:-1]) if stem(word) == term.stem}
    heads = {head for at, head in enumerate(stems) if head in heads and not is_stop_word(words[at])}
    said = split_words(quoted)
    for before, word in pairwise(said):
        if stem(word) in heads and not is_stop_word(before) and stem(before) not in stems:
            return True
    return any(f"{word}:" in quoted for word in said if stem(word) in heads)
