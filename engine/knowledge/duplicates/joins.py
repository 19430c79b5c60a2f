"""Decide which names of a space are joined automatically: certain pairs only, each with its reason.

The result depends on nothing but the present names, how they are written, the definitions in the texts and the
corrections by hand. So it is the same after any order of documents, and a deleted document takes its joins along.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from engine.knowledge.duplicates.name_keys import MIN_ACCENTED_LETTERS, MIN_JOINED_LETTERS, parse_spelling
from engine.text.word_lists import COMMON_WORDS, GENERIC_WORDS, STOP_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from engine.knowledge.duplicates.name_keys import Spelling

    _Rank = Callable[[str], tuple[bool, int, str]]

# Types of entities whose plural means the same. Names of persons, places and organizations are not among them.
COMMON_NOUN_TYPES = word_set(
    "artifact category concept content creature data disease drug method naturalobject object product technology "
    "vaccine"
)
# Plurals that mean something else than their singular.
MEANINGFUL_PLURALS = word_set(
    "arms brains contents customs directions earnings forces glasses goods grounds irons manners means minutes news "
    "odds pants papers premises proceeds quarters rates remains rights savings scales spirits terms times troops "
    "values waters woods works"
)
PERSON_TYPE = "person"
_DOTTED = re.compile(r"(?:[^\W\d_]\.){2,}")


class JoinReason(StrEnum):
    """Why two names are certainly one."""

    SPELLING = "spelling"
    ARTICLE = "article"
    HONORIFIC = "honorific"
    PLURAL = "plural"
    ABBREVIATION = "abbreviation"


@dataclass(frozen=True, slots=True)
class NameEvidence:
    """A canonical name with the ways it is written and its types.

    `expansion`: the core of the only long form that the texts of the space give for it, "" if there is none.
    """

    name: str
    surfaces: frozenset[str]
    types: frozenset[str] = frozenset()
    expansion: str = ""


@dataclass(frozen=True, slots=True)
class ManualAliases:
    """Corrections by hand: where names finally lead, which names are targets, and ordered pairs that were separated."""

    ends: Mapping[str, str]
    targets: AbstractSet[str]
    distinct: AbstractSet[tuple[str, str]]

    def are_distinct(self, a: str, b: str) -> bool:
        """Whether a person separated the two names."""
        return (min(a, b), max(a, b)) in self.distinct


@dataclass(frozen=True, slots=True)
class Join:
    """An automatic alias."""

    name: str
    target: str
    reason: JoinReason


def find_join_reason(a: NameEvidence, b: NameEvidence) -> JoinReason | None:
    """Why two different names are certainly one; None if they may be two."""
    x, y = parse_spelling(a.name), parse_spelling(b.name)
    if x.core != y.core:
        if _abbreviates(a, y) or _abbreviates(b, x):
            return JoinReason.ABBREVIATION
        return JoinReason.PLURAL if _is_plural_pair(a, b) else None
    if (x.honorific and y.honorific and x.honorific != y.honorific) or not _are_same_word(x, y):
        return None
    differences = {
        JoinReason.HONORIFIC: x.honorific != y.honorific,
        JoinReason.ABBREVIATION: x.abbreviation != y.abbreviation,
        JoinReason.ARTICLE: x.article != y.article,
    }
    return next((reason for reason, differs in differences.items() if differs), JoinReason.SPELLING)


def _abbreviates(short: NameEvidence, long: Spelling) -> bool:
    return bool(short.expansion) and short.expansion == long.core and all(map(_is_written_in_capitals, short.surfaces))


def _is_written_in_capitals(surface: str) -> bool:
    """Whether a name looks like an abbreviation: "WHO", "R&D", "VOIs"."""
    return sum(map(str.isupper, surface)) > 1 and surface.removesuffix("s").isupper() and len(surface.split()) == 1


def _are_same_word(x: Spelling, y: Spelling) -> bool:
    """Whether names that differ in signs, blanks and accents are long enough to be no two words."""
    if x.core in STOP_WORDS or (x.accentless != y.accentless and len(x.core) < MIN_ACCENTED_LETTERS):
        return False
    if len(x.core) >= MIN_JOINED_LETTERS or _DOTTED.fullmatch(x.name) or _DOTTED.fullmatch(y.name):
        return True
    return x.core[-1:].isdigit() and _strip_hyphens(x.name) == _strip_hyphens(y.name)


def _strip_hyphens(name: str) -> str:
    return name.replace("-", "").replace(" ", "")


def _is_plural_pair(a: NameEvidence, b: NameEvidence) -> bool:
    """Whether one name is the plural of the other, and both are common nouns."""
    x, y = parse_spelling(a.name), parse_spelling(b.name)
    if x.plural_core != y.plural_core or (x.honorific, x.abbreviation) != (y.honorific, y.abbreviation):
        return False
    words = {x.last_word, y.last_word}
    if words & MEANINGFUL_PLURALS or PERSON_TYPE in a.types | b.types or any(map(_is_possessive, (a.name, b.name))):
        return False
    if a.types & b.types & COMMON_NOUN_TYPES and not words & (STOP_WORDS | GENERIC_WORDS | COMMON_WORDS):
        return True
    # Single words in lower case, such as "farm" and "farms", are seldom the same.
    return all(" " in name.name and any(map(_ends_in_lower_case, name.surfaces)) for name in (a, b))


def _is_possessive(name: str) -> bool:
    return name.endswith(("'s", "’s"))


def _ends_in_lower_case(surface: str) -> bool:
    return surface.split()[-1:] != [] and surface.rsplit(maxsplit=1)[-1].islower()


def plan_joins(members: Collection[NameEvidence], manual: ManualAliases) -> list[Join]:
    """The automatic aliases among names that share a key, by name.

    Every two names of a cluster have a reason and were not separated by hand. A cluster is joined into the target of
    an alias by hand, else into its longest name. Each target precedes its name in one order of all names, and has no
    alias by hand: so aliases form no circle, also across clusters.
    """

    def rank(name: str) -> tuple[bool, int, str]:
        return name not in manual.targets, -len(name), name

    ranked = sorted(members, key=lambda each: rank(each.name))
    joins = [join for cluster in _cluster(ranked, manual) for join in _join_cluster(cluster, manual, rank)]
    return sorted(joins, key=lambda join: join.name)


def _cluster(ranked: Iterable[NameEvidence], manual: ManualAliases) -> list[list[NameEvidence]]:
    clusters: list[list[NameEvidence]] = []
    for member in ranked:
        for cluster in clusters:
            if all(_may_join(member, other, manual) for other in cluster):
                cluster.append(member)
                break
        else:
            clusters.append([member])
    return clusters


def _may_join(a: NameEvidence, b: NameEvidence, manual: ManualAliases) -> bool:
    end_a, end_b = manual.ends.get(a.name, a.name), manual.ends.get(b.name, b.name)
    distinct = manual.are_distinct(a.name, b.name) or manual.are_distinct(end_a, end_b)
    return not distinct and find_join_reason(a, b) is not None


def _join_cluster(cluster: list[NameEvidence], manual: ManualAliases, rank: _Rank) -> Iterable[Join]:
    target = min((manual.ends.get(evidence.name, evidence.name) for evidence in cluster), key=rank)
    source = next(evidence for evidence in cluster if manual.ends.get(evidence.name, evidence.name) == target)
    for evidence in cluster:
        if (
            evidence.name not in manual.ends
            and evidence.name != target
            and not manual.are_distinct(evidence.name, target)
        ):
            reason = find_join_reason(evidence, source)
            assert reason is not None  # noqa: S101  - every two of a cluster have one
            yield Join(evidence.name, target, reason)
