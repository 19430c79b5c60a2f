"""Decide whether another person, tool or place takes the place of a former one. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.llm.offline.supersession import cues
from engine.llm.offline.supersession.clauses import list_tokens
from engine.llm.offline.supersession.pairs import Pair, conflict, differ_in_head, only_describes

if TYPE_CHECKING:
    import re

    from engine.llm.offline.supersession.clauses import Clause

_DAYS = frozenset({"date", "time"})
MAX_OWN_WORDS = 3  # of a name that replaces another one


def is_new_holder(pair: Pair) -> bool:
    """Whether another person, tool or place takes the place of the former one."""
    has_both = bool(pair.only_old and pair.only_new) and len(pair.only_new) <= MAX_OWN_WORDS
    if not has_both or (len(pair.only_old) > MAX_OWN_WORDS and not pair.of.is_reply):
        return False
    if _differ_in_amounts(pair) or _differ_in_subject(pair) or _differ_in_act(pair):
        return False
    named = pair.of.is_reply and _is_bare_name(pair.new) and pair.old.words[-1].named
    return named or _is_succeeded(pair) or _takes_role(pair)


def _takes_role(pair: Pair) -> bool:
    """Whether somebody or something else has the role, the use or the place of the former one."""
    takes = cues.TAKEOVER.search(pair.new.text) or cues.CHOICE.search(pair.new.text)
    if takes and cues.TAKEOVER.search(pair.old.text):  # "Ann was elected treasurer", "Ben was elected treasurer"
        return pair.old.has_role and not conflict(pair.new, pair.old, frozenset())
    if pair.old.has_role and (pair.new.has_role or pair.of.is_reply or takes):
        return _shares_beyond(pair, cues.ROLE) and not _differs_in_object(pair, cues.ROLE)
    if pair.old.has_use and (pair.new.has_use or cues.COPULA.search(pair.new.text)):
        return _shares_beyond(pair, cues.USE) and not _differs_in_object(pair, cues.USE)
    return not only_describes(pair.new, pair.shared) and (_is_moved(pair) or _is_renamed(pair) or _is_from(pair))


def _is_succeeded(pair: Pair) -> bool:
    """Whether the later statement names the former holder, and says all else of another one."""
    lost = pair.only_old & pair.old.names
    kept = pair.old.stems - lost
    is_named = bool(lost) and lost <= pair.of.later.stems and bool(pair.only_new & pair.new.names)
    return is_named and len(kept) > 1 and bool(kept & pair.new.stems) and kept <= pair.of.later.stems


def _differ_in_act(pair: Pair) -> bool:
    ours, theirs = (list_tokens(" ".join(_matches(cues.ACT, one.text))) for one in (pair.new, pair.old))
    is_open = not ours and cues.TAKEOVER.search(pair.new.text)
    return ours != theirs and not (cues.CHOICE.search(pair.new.text) or pair.of.is_reply or is_open)


def is_of_another(pair: Pair) -> bool:
    """Whether the former holder is only named beside another subject or day: "coffee is sold by Ben, Ann is ill"."""
    if pair.of.changed or pair.of.is_reply or pair.new.changes or not (pair.new.words and pair.old.words):
        return False
    ours, theirs = ({value.form for value in one.values if value.kind in _DAYS} for one in (pair.new, pair.old))
    subject, former = pair.new.words[0], pair.old.words[0].stem
    holders = pair.only_new & pair.new.names
    is_new = subject.stem in pair.only_new and holders != {subject.stem}
    return bool(ours and theirs and not ours & theirs) or (is_new and former in pair.only_old - pair.of.later.stems)


def _is_bare_name(clause: Clause) -> bool:
    """Whether a clause has no more than a name: "no, Hotel Lindenhof"."""
    return all(word.named for word in clause.words) and len(clause.words) == len(clause.text.split())


def _differ_in_amounts(pair: Pair) -> bool:
    """Whether the clauses give different versions or numbers, other than those in the names that differ."""
    amounts = []
    for clause, own in ((pair.new, pair.only_new), (pair.old, pair.only_old)):
        ends = {word.start + len(word.stem) for word in clause.words if word.stem in own}
        free = {
            value.form
            for value in clause.values
            if value.kind in {"version", "number", "money"} and not any(0 <= value.start - end <= 4 for end in ends)
        }
        amounts.append(free)
    return bool(amounts[0] and amounts[1] and not amounts[0] & amounts[1])


def _differ_in_subject(pair: Pair) -> bool:
    """Whether the same person or thing has a role for something else now: Anna owns billing, Anna owns search."""
    first = [word for clause in (pair.new, pair.old) for word in clause.words[:1]]
    roles = [cues.ROLE.search(clause.text) for clause in (pair.new, pair.old)]
    if (
        not all(roles)
        or len(first) < 2
        or first[0].stem != first[1].stem
        or not all(word.named and not word.start for word in first)
    ):
        return False
    return all(role is not None and word.start < role.start() for role, word in zip(roles, first, strict=True))


def _is_renamed(pair: Pair) -> bool:
    """Whether the clauses differ only in a name that follows what they share."""
    if len(pair.shared) > 1 and pair.only_new <= pair.new.names and pair.only_old <= pair.old.names:
        return not conflict(pair.new, pair.old, pair.only_new | pair.only_old)  # "Ann guards it", "now Ben guards it"
    for clause, own in ((pair.new, pair.only_new), (pair.old, pair.only_old)):
        shared = [word.start for word in clause.words if word.stem in pair.shared]
        names = [word for word in clause.words if word.stem in own]
        if (
            not names
            or not shared
            or not all(word.named for word in names)
            or min(word.start for word in names) < min(shared)
        ):
            return False
    return not conflict(pair.new, pair.old, pair.only_new | pair.only_old)


def _shares_beyond(pair: Pair, relation: re.Pattern[str]) -> bool:
    """Whether both share more than the word for the relation itself."""
    elsewhere = pair.of.later.stems & pair.old.stems - pair.shared if pair.shared else frozenset[str]()
    named = elsewhere if len(elsewhere) > 1 else frozenset[str]()  # more than the name of the former holder
    return bool((pair.shared | named) - list_tokens(" ".join(_matches(relation, f"{pair.new.text} {pair.old.text}"))))


def _matches(relation: re.Pattern[str], text: str) -> list[str]:
    return [match[0] for match in relation.finditer(text)]


def _differs_in_object(pair: Pair, relation: re.Pattern[str]) -> bool:
    """Whether what differs stands within the name of what is shared: the staging server, the production server."""
    objects = pair.shared - list_tokens(" ".join(_matches(relation, f"{pair.new.text} {pair.old.text}")))
    for word in objects:
        ours = pair.new.find_modifiers(word) - pair.old.stems
        theirs = pair.old.find_modifiers(word) - pair.new.stems
        if ours and theirs:
            return True
    return differ_in_head(pair, objects)


def _is_moved(pair: Pair) -> bool:
    """Whether the same subject is said to be in another place: it comes first in both, the place after it."""
    places = [_place_words(clause) for clause in (pair.new, pair.old)]
    if (
        not all(places)
        or not _is_before(pair.new, pair.shared, places[0])
        or not _is_before(pair.old, pair.shared, places[1])
    ):
        return False
    return bool(places[0] - places[1] and places[1] - places[0]) and not conflict(
        pair.new, pair.old, places[0] | places[1]
    )


def _is_from(pair: Pair) -> bool:
    """Whether both end with a preposition and a name, of which only the name differs: bought from A, ordered at B."""
    ends = [_end_name(clause) for clause in (pair.new, pair.old)]
    if not all(ends) or ends[0] & ends[1] or not pair.shared - ends[0] - ends[1]:
        return False
    return not conflict(pair.new, pair.old, ends[0] | ends[1]) and not pair.old.values and not pair.new.values


def _end_name(clause: Clause) -> frozenset[str]:
    """The words of a name at the end of a clause, after a preposition."""
    names: set[str] = set()
    for word in reversed(clause.words):
        if not word.named:
            break
        names.add(word.stem)
        if cues.SOURCE.search(clause.text[: word.start]):
            return frozenset(names)
    return frozenset()


def _place_words(clause: Clause) -> frozenset[str]:
    """The words after the last preposition of place."""
    for at, word in enumerate(clause.words):
        if at and cues.PLACE.search(clause.text[: word.start]):
            return frozenset(later.stem for later in clause.words[at:])
    return frozenset()


def _is_before(clause: Clause, shared: frozenset[str], places: frozenset[str]) -> bool:
    return any(word.stem in shared and word.stem not in places for word in clause.words)
