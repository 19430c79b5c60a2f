"""How well a sentence supports an answer: how like the question it is, and how much of the question it covers. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline import question as asked
from engine.llm.offline.text.words import is_common, is_generic, salient, stem, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.llm.offline.candidates import Quotable

# What a word weighs that says little, or that stands in brackets at the end of a question: a hint.
GENERIC_SHARE = 0.35
HINT_SHARE = 0.4
# How far a sentence speaks of what only its heading or the two before it tell.
IN_HEAD = 0.8
IN_ROOM = 0.5  # the name of a channel stands above everything that is said there
NEAR = 0.7
MOST_ALIKE = 0.8
# Cosine of two single words: at the first they have nothing to do with each other, at the second they are one word.
UNLIKE, LIKE = 0.55, 0.9
RIGHT_KIND, WRONG_KIND = 0.1, -0.15
ASKS, TITLE = -0.1, -0.15
NEWEST = 0.08
UNNAMED_FOCUS = 0.25
UNNAMED, UNNAMED_ID = 0.35, 0.5

_HINTS = re.compile(r"\(([^()]*)\)[\s?.!]*$")


@dataclass(frozen=True, slots=True)
class Term:
    """A word that a question is about; a `name` only says whom or which one."""

    stem: str
    word: str
    weight: float
    name: bool

    @property
    def is_id(self) -> bool:
        """Whether it names exactly one thing: 17-B, v2."""
        return any(map(str.isdigit, self.word)) and any(map(str.isalpha, self.word))


@dataclass(frozen=True, slots=True)
class Weighed:
    """One clause of a question against each sentence: `covers` has shape (sentences, terms), the others (sentences,).

    `score` orders them; `support` says whether one answers at all, `lost` what it lost by not speaking of the very
    thing that is asked for.
    """

    wanted: asked.Kind
    brief: bool
    terms: tuple[Term, ...]
    covers: np.ndarray
    similar: np.ndarray
    score: np.ndarray
    support: np.ndarray
    lost: np.ndarray
    counted: frozenset[str]


# For the stem of each term other words by their stems, with a share of its meaning.
Likes = Mapping[str, Mapping[str, float]]


def counts(quotables: Iterable[Quotable]) -> dict[str, int]:
    """In how many of them each stem stands."""
    found: dict[str, int] = {}
    for quotable in quotables:
        for word in quotable.words:
            found[word] = found.get(word, 0) + 1
    return found


def terms(question: str, counted: Mapping[str, int], total: int) -> tuple[Term, ...]:
    """The words a question is about, the rarer among the sentences the heavier."""
    hints = {stem(word) for word in tokens(found[1])} if (found := _HINTS.search(question)) else set()
    measured = asked.qualities(question)
    made = []
    for word in salient(question):
        key = stem(word)
        generic = is_generic(word) and key not in measured
        rarity = math.log(1 + (total + 20) / (counted.get(key, 0) + 0.5))
        share = (GENERIC_SHARE if generic else 1.0) * (HINT_SHARE if key in hints else 1.0)
        made.append(Term(key, word, rarity * share, _is_name(word, question)))
    return tuple(made)


def alike(similarity: float) -> float:
    """How far one word stands for another, by the cosine of the two alone."""
    return min(MOST_ALIKE, max(0.0, (similarity - UNLIKE) / (LIKE - UNLIKE)))


def weigh(
    clause: str, about: Sequence[Term], quotables: Sequence[Quotable], similar: np.ndarray, likes: Likes
) -> Weighed:
    """The clause against every sentence; `similar` holds the cosines."""
    likes = _measured(clause, likes)
    rows = [[_matched(term, quotable, likes) for term in about] for quotable in quotables]
    covers = np.array(rows, dtype=np.float64).reshape(len(quotables), len(about))
    whole = _share(covers, about)
    asked_for = [index for index, term in enumerate(about) if not term.name]
    rest = _share(covers[:, asked_for], [about[index] for index in asked_for]) if asked_for else whole
    brief, clause = bool(_HINTS.search(clause)), _HINTS.sub("", clause)
    wanted, counted = asked.kind(clause), asked.counted(clause)
    manner = np.array([_manner(quotable, wanted, counted) for quotable in quotables])
    lost = _without_focus(clause, about, covers)
    support = 0.5 * (whole + rest + similar + manner) - lost - _without_names(about, covers)
    score = whole + similar + manner + _newness(quotables)
    return Weighed(wanted, brief, tuple(about), covers, similar, score, support, lost, counted)


def _measured(clause: str, likes: Likes) -> Likes:
    """A quality is spoken of by what it is measured in, too."""
    units = {key: dict.fromkeys(names, MOST_ALIKE) for key, names in asked.qualities(clause).items()}
    return {**likes, **{key: {**likes.get(key, {}), **named} for key, named in units.items()}}


def _is_name(word: str, question: str) -> bool:
    """Whether it is an id, or capitalised without need."""
    if any(map(str.isdigit, word)):
        return True
    return word[:1].isupper() and not (question.lstrip("\"'“‘¿¡ ").startswith(word) and is_common(word))


def _matched(term: Term, quotable: Quotable, likes: Likes) -> float:
    """How far a sentence speaks of a term, 0 to 1."""
    if term.stem in quotable.words:
        return 1.0
    found = [share for word, share in likes.get(term.stem, {}).items() if word in quotable.words]
    above = (IN_ROOM if quotable.speaker else IN_HEAD) * (term.stem in quotable.head)
    return max(*found, above, NEAR * (term.stem in quotable.near))


def _share(covers: np.ndarray, about: Sequence[Term]) -> np.ndarray:
    """The share of the weight that is covered."""
    weights = np.array([term.weight for term in about])
    total = float(weights.sum())
    shares: np.ndarray = covers @ weights / total if total else np.zeros(len(covers))
    return shares


def _manner(quotable: Quotable, wanted: asked.Kind, counted: frozenset[str]) -> float:
    """What speaks for or against a sentence apart from its subject."""
    fits = asked.has_kind(quotable.text, wanted, counted)
    value = 0.0 if fits is None else RIGHT_KIND if fits else WRONG_KIND
    if quotable.asks:
        value += ASKS
    elif quotable.is_title:
        value += TITLE
    return value


def _without_focus(clause: str, about: Sequence[Term], covers: np.ndarray) -> np.ndarray:
    """What a sentence loses if it does not speak of the very thing that is asked for."""
    sought = asked.focus(clause)
    columns = [index for index, term in enumerate(about) if term.stem in sought]
    lost = np.zeros(len(covers))
    for column in columns:
        lost += UNNAMED_FOCUS * (1 - covers[:, column])
    return lost


def _without_names(about: Sequence[Term], covers: np.ndarray) -> np.ndarray:
    """What a sentence loses if it speaks of others than those whom the question names; permit 21-A is not 17-B."""
    names = [index for index, term in enumerate(about) if term.name]
    ids = [index for index in names if about[index].is_id]
    lost = np.zeros(len(covers))
    for indexes, loss in ((names, UNNAMED), (ids, UNNAMED_ID)):
        if indexes:
            lost += loss * (1 - _share(covers[:, indexes], [about[index] for index in indexes]))
    return lost


def _newness(quotables: Sequence[Quotable]) -> np.ndarray:
    """A little for newer sources, so that they win ties."""
    times = sorted({quotable.time for quotable in quotables if quotable.time is not None})
    rank = {time: NEWEST * (place + 1) / len(times) for place, time in enumerate(times)}
    return np.array([rank[quotable.time] if quotable.time is not None else 0.0 for quotable in quotables])
