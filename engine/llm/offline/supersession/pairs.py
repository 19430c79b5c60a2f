"""A later and an earlier clause, with the words that both or only one of them has. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.llm.offline.supersession.clauses import Clause, Parsed


@dataclass(frozen=True, slots=True)
class Meeting:
    """What two statements are to each other: `extra` are the words of the message that the later one contradicts."""

    later: Parsed
    earlier: Parsed
    extra: frozenset[str]
    changed: bool
    is_reply: bool
    elsewhere: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """A later and an earlier clause with the words of their subjects, those they share, and those only one has."""

    new: Clause
    old: Clause
    of: Meeting
    new_stems: frozenset[str]
    old_stems: frozenset[str]
    shared: frozenset[str]
    only_new: frozenset[str]
    only_old: frozenset[str]

    @property
    def changed(self) -> bool:
        """Whether the later statement says that something changed, or names the former holder beside the new one."""
        return self.of.changed or self.new.changes or bool(self.only_old & self.old.names & self.of.later.stems)


def pair_clauses(new: Clause, old: Clause, of: Meeting) -> Pair:
    """The pair, with the words of whole statements for clauses that have none."""
    new_stems = (new.stems or of.later.stems) | of.extra
    old_stems = old.stems or of.earlier.stems
    only_new = new.stems - old_stems - of.earlier.stems
    only_old = old_stems - new.stems
    return Pair(new, old, of, new_stems, old_stems, new_stems & old_stems, only_new, only_old)


def differ_in_head(pair: Pair, words: frozenset[str] | None = None) -> bool:
    """Whether a shared word only describes different things in the clauses: the church organ, the church clock."""
    for word in (pair.new.stems & pair.old.stems) if words is None else words & pair.new.stems & pair.old.stems:
        ours, theirs = pair.new.find_noun(word), pair.old.find_noun(word)
        if ours not in pair.old.stems and theirs not in pair.new.stems:
            return True
    return False


def only_describes(clause: Clause, shared: frozenset[str], known: frozenset[str] = frozenset()) -> bool:
    """Whether the shared words only describe something else in a clause: the shipping for the pump.

    `known`: words of the whole other statement, which are nothing else.
    """
    own = clause.stems & shared
    return bool(own) and all(clause.find_head(word) not in shared | known for word in own)


def conflict(new: Clause, old: Clause, former: frozenset[str]) -> bool:
    """Whether a word that both share means different things: the release of the app, and of the site."""
    for word in new.stems & old.stems:
        ours = new.find_modifiers(word) - former - old.stems
        theirs = old.find_modifiers(word) - former - new.stems
        if ours and theirs:
            return True
    return False
