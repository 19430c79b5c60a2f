"""Tell whether a quotation says of another thing what was asked: of the billing service for the payroll service. Pure.

A question qualifies a word before it ("the payroll service") or after it ("the contract with Oslo Boats"). A sentence
contrasts if it, or what its pronoun stands for, qualifies that word otherwise, and has not what the question has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.llm.offline.questions.analysis import is_list_noun, is_number
from engine.llm.offline.words import count_words, has_parts, is_generic, is_stop_word, split_words, stem, word_family
from engine.text.word_lists import CALENDAR_WORDS, CONTRASTING_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.ranking import ClauseScores

SHORT_WORDS = 6
HEAD_SHARE = 0.1  # of the weight of what is qualified: of two sentences that say as much, one names it
MARGIN = 0.02  # of the weight of a question, by which what contrasts says more than what does not
_PREPOSITIONS = word_set("of in on for at with about von für mit de du des del do da dos das para con com pour avec")
_ARTICLES = word_set("the a an our my your his her its their der die das dem den le la les el los las o os as um uma")
_ASKING = word_set("which what whose how welche welcher welches quel quelle qué qual")
# Of "the field lies in Oswin" the field is qualified as in "the field in Oswin".
_LIES = re.compile(r" (?:lies|stands|sits|(?:is|are)(?: (?:located|held|kept))?) (in|at|on|for) ")
_DEFINITE = re.compile(
    r"(?:the|this|that|der|die|das|diese[rs]?|el|la|los|las|est[ea]|le|les|l['’]|ce|cette|o|os|as|ess[ea]) ?(\w{3,})\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?:and |but |so |then |also )?(?:he|she|it|its|they|his|her|their|this|that|these|those|er|sie|es|il|elle|él|ella"
    r"|ele|ela)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Qualifier:
    """A word that says which one of several things is meant; `link`: the preposition before it, or empty."""

    word: str
    head: str
    link: str


def find_contrasts(positions: Sequence[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> list[str]:
    """The qualifiers of a question in whose place what answers it has another one, as they are written."""
    asked = {word_family(stem(word)) for word in split_words(clause.text)}
    found = [
        qualifier
        for qualifier in list_qualifiers(clause.text)
        if _is_telling(qualifier.word) and _decides(qualifier, positions, clause, candidates, asked)
    ]
    return join_names(list(dict.fromkeys(qualifier.word for qualifier in found)), clause.text)


def join_names(words: Sequence[str], text: str) -> list[str]:
    """The words, with those that follow each other in a text as one."""
    joined: list[str] = []
    for word in words:
        if joined and f"{joined[-1]} {word}" in text:
            joined[-1] = f"{joined[-1]} {word}"
        else:
            joined.append(word)
    return joined


@lru_cache(maxsize=4096)
def list_qualifiers(text: str) -> tuple[Qualifier, ...]:
    """What qualifies another word in a text, before or after it."""
    text = _LIES.sub(r" \1 ", text)
    words = split_words(text)
    found = []
    for at, (word, after) in enumerate(pairwise(words)):
        is_asked = at > 0 and words[at - 1].casefold() in _ASKING  # "which team's service"
        is_plain = _is_content(word) and _is_content(after) and not is_number(word)
        if is_plain and not is_asked and f"{word} {after}" in text:
            found.append(Qualifier(word, stem(after), ""))
        if after.casefold() in _PREPOSITIONS and _is_content(word):
            found += [Qualifier(each, stem(word), after.casefold()) for each in _list_phrase(words[at + 2 : at + 5])]
    return tuple(found)


def _is_content(word: str) -> bool:
    return not (is_stop_word(word) or word.casefold() in _PREPOSITIONS | _ARTICLES | {"per"})


def _list_phrase(words: Sequence[str]) -> list[str]:
    """The content words at the beginning of a noun phrase of two, without its article."""
    rest = words[1:] if words and words[0].casefold() in _ARTICLES else words[:2]
    phrase: list[str] = []
    for word in rest:
        if not _is_content(word) or is_number(word):
            break
        phrase.append(word)
    return phrase


def _is_telling(word: str) -> bool:
    folded = word.casefold()
    if is_list_noun(word) or folded in CALENDAR_WORDS:
        return False
    return not is_generic(word) or folded in CONTRASTING_WORDS


def _decides(
    one: Qualifier,
    positions: Sequence[int],
    clause: ClauseScores,
    candidates: Sequence[Candidate],
    asked: set[str],
) -> bool:
    """Whether the sentences that say most of what else is asked contrast with a qualifier."""
    term = next((at for at, each in enumerate(clause.terms) if each.word == one.word), None)
    if term is None or (clause.terms[term].is_generic and one.word.casefold() not in CONTRASTING_WORDS):
        return False
    same = {
        qualifier.word
        for qualifier in list_qualifiers(clause.text)
        if (qualifier.head, qualifier.link) == (one.head, one.link)
    }
    others = [at for at, each in enumerate(clause.terms) if each.word not in same and each.stem != one.head]
    heads = [at for at, each in enumerate(clause.terms) if each.stem == one.head]
    others = others or heads
    contrasting, fitting = 0.0, 0.0
    for at in positions:
        said = float(clause.coverage[at][others] @ clause.weights[others])
        said += HEAD_SHARE * float(clause.own[at][heads] @ clause.weights[heads])
        if _contrasts(one, at, clause, candidates, asked):
            contrasting = max(contrasting, said)
        else:
            fitting = max(fitting, said)
    return contrasting > fitting + MARGIN


def _contrasts(one: Qualifier, at: int, clause: ClauseScores, candidates: Sequence[Candidate], asked: set[str]) -> bool:
    """Whether a sentence, or what its pronoun stands for, has another qualifier in the place of this one."""
    about = list_stated(at, candidates)
    key = stem(one.word)
    same = {key} | clause.alike.get(key, frozenset()) | clause.other_words.get(key, frozenset())
    families = set(map(word_family, same))
    said = frozenset[str]().union(*(candidate.stems for candidate in about))
    if has_parts(one.word, said) and not families.isdisjoint(map(word_family, said)):
        return False
    is_near = not families.isdisjoint(map(word_family, candidates[at].nearby_stems))
    return any(
        other.head == one.head
        and (other.link == one.link or (not (one.link and other.link) and not is_near))
        and _replaces(other.word, one.word, asked)
        for candidate in about
        for other in list_qualifiers(candidate.text)
    )


def list_stated(at: int, candidates: Sequence[Candidate]) -> list[Candidate]:
    """A sentence, with the one before it if that says what its pronoun, its subject or its few words are about."""
    one = candidates[at]
    depends = _PRONOUN.match(one.text) or count_words(one.text) <= SHORT_WORDS
    return [
        one,
        *(candidates[place] for place in one.preceding[-1:] if depends or _names_again(one, candidates[place])),
    ]


def _names_again(one: Candidate, before: Candidate) -> bool:
    """Whether a sentence begins with something that the one before it named: "the training", of a burn training."""
    found = _DEFINITE.match(one.text)
    return found is not None and stem(found[1]) in before.stems


def _replaces(said: str, wanted: str, asked: set[str]) -> bool:
    """Whether another word stands for a wanted one; a word that says little only for its opposite: small, large."""
    if word_family(stem(said)) in asked:
        return False
    pair = {said.casefold(), wanted.casefold()}
    return pair <= CONTRASTING_WORDS if any(map(is_generic, (said, wanted))) else True
