"""Which names of prose are kept: all that stand out, and few that stand in passing. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from engine.llm.offline.names.types import CONCEPT
from engine.text.names import normalize_name
from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.llm.offline.names.types import NamedEntity

MAX_UNTYPED = 16  # names of an excerpt that are no person, place, organization or event, with those in passing
_MAX_ITEM_LENGTH = 60  # characters of an item that is no sentence
_UNTYPED = frozenset({CONCEPT, "data", "artifact"})
_MODIFIED = re.compile(r"-[^\W\d_]| ([^\W\d_]+)")


class Prose(NamedTuple):
    """A sentence with its names; `is_item`: it belongs to a list or a table, whose names were put there on purpose."""

    text: str
    is_item: bool
    names: Sequence[NamedEntity]


def select_names(sentences: Sequence[Prose]) -> list[list[NamedEntity]]:
    """The names of each sentence that are kept.

    A single word that stands once, of which no type is known, is a name in passing: it is kept while there are few
    untyped names, first those that no noun follows and that are no abbreviation.
    """
    places: defaultdict[str, list[tuple[Prose, NamedEntity]]] = defaultdict(list)
    for sentence in sentences:
        for one in sentence.names:
            places[normalize_name(one.name)].append((sentence, one))
    dropped = frozenset(_list_passing(places))
    return [[one for one in sentence.names if normalize_name(one.name) not in dropped] for sentence in sentences]


def _list_passing(places: Mapping[str, Sequence[tuple[Prose, NamedEntity]]]) -> list[str]:
    """The names in passing that are too many."""
    untyped = {key: found for key, found in places.items() if found[0][1].type in _UNTYPED}
    passing = [key for key, found in untyped.items() if len(found) == 1 and _is_passing(*found[0])]
    ranked = sorted(passing, key=lambda key: _rank(*untyped[key][0]))
    return ranked[max(0, MAX_UNTYPED - len(untyped) + len(passing)) :]


def _is_passing(sentence: Prose, one: NamedEntity) -> bool:
    return (
        " " not in one.name
        and one.name[0] not in "@#"
        and not (sentence.is_item and len(sentence.text) <= _MAX_ITEM_LENGTH)
    )


def _rank(sentence: Prose, one: NamedEntity) -> int:
    """How little a single word stands out: whether a noun follows, and whether it is an abbreviation."""
    end = one.start + len(one.name)
    following = _MODIFIED.match(sentence.text, end) if sentence.text[one.start : end] == one.name else None
    word = (following[1] or "x") if following else ""
    return (word.islower() and word not in STOP_WORDS) + one.name.isupper()
