"""Decide which statement replaces which. Pure."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from engine.llm.offline.supersession import cues
from engine.llm.offline.supersession.clauses import list_tokens
from engine.llm.offline.supersession.labels import has_same_label
from engine.llm.offline.supersession.pairs import Meeting, Pair, pair_clauses

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from engine.llm.offline.supersession.clauses import Clause, Parsed, Statement

MIN_COVERAGE = 0.5  # of the words of the shorter subject that the other one has
MIN_SAME_SUBJECT = 0.8  # of all words of both subjects, if nothing says that something changed
MAX_OWN_WORDS = 3  # of a name that replaces another one
RELEASE = "release"  # the stem of all words for it
_UNLASTING = frozenset({"time", "number", "code", "money"})


def find_replacements(statements: Sequence[Statement]) -> dict[int, int]:
    """The positions of statements that no longer hold, each with that of the newest one that replaces it."""
    found: dict[int, int] = {}
    for old, candidates in _list_pairs(statements).items():
        for new in candidates:
            context = _find_context(new, statements)
            if replaces(statements[new], statements[old], context, is_reply=_is_reply(new, old, statements)):
                found[old] = new
                break
    return found


def _list_pairs(statements: Sequence[Statement]) -> dict[int, list[int]]:
    """For each statement the later ones that share a word with it, or reply to it; the newest first."""
    by_stem: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(statements):
        if one.time is not None:
            for word in one.parsed.stems | _context_stems(at, statements):
                by_stem[word].append(at)
    pairs: dict[int, set[int]] = defaultdict(set)
    news = {at for at, one in enumerate(statements) if _may_replace(one)}
    for same in by_stem.values():
        later = [at for at in same if at in news]
        for old in same:
            pairs[old].update(new for new in later if _is_later(new, old, statements))
    order = {at: str(one.time) for at, one in enumerate(statements)}
    return {old: sorted(news, key=lambda at: (order[at], at), reverse=True) for old, news in pairs.items()}


def says_change(parsed: Parsed) -> bool:
    """Whether a statement says that something is not as it was."""
    if parsed.is_question or parsed.is_tentative:
        return False
    return parsed.contradicts or any(clause.changes or clause.cancels for clause in parsed.clauses)


def _may_replace(statement: Statement) -> bool:
    parsed = statement.parsed
    several = len(parsed.clauses) > 1
    is_news = any(clause.values or clause.negates or (several and clause.has_role) for clause in parsed.clauses)
    return says_change(parsed) or (is_news and not (parsed.is_question or parsed.is_tentative))


def _is_later(new: int, old: int, statements: Sequence[Statement]) -> bool:
    one, other = statements[new].time, statements[old].time
    return one is not None and other is not None and one > other


def _find_context(at: int, statements: Sequence[Statement]) -> Statement | None:
    """The message before a short contradiction, which gives its subject."""
    one = statements[at]
    return statements[one.previous] if one.previous >= 0 and one.parsed.contradicts else None


def _context_stems(at: int, statements: Sequence[Statement]) -> frozenset[str]:
    context = _find_context(at, statements)
    return context.parsed.stems if context is not None else frozenset()


def _is_reply(new: int, old: int, statements: Sequence[Statement]) -> bool:
    return statements[new].previous == old and statements[new].parsed.contradicts


def replaces(new: Statement, old: Statement, context: Statement | None = None, *, is_reply: bool = False) -> bool:
    """Whether a later statement replaces an earlier one.

    `context`: the message that the later one contradicts; `is_reply`: this is the earlier one.
    """
    later, earlier = new.parsed, old.parsed
    if later.is_question or earlier.is_question or later.is_tentative or earlier.is_tentative:
        return False
    if _is_of_others(new, old) or (later.is_temporary and earlier.is_recurring):
        return False
    extra = context.parsed.stems if context is not None else frozenset[str]()
    elsewhere = new.room != old.room and bool(new.speaker) and bool(old.speaker)
    if not elsewhere and has_same_label(new.text, old.text):
        return True
    if not elsewhere and _names_former(later, earlier, old, extra):
        return True
    changed = context is not None or any(_announces(clause, earlier) for clause in later.clauses)
    of = Meeting(later, earlier, extra, changed, is_reply, elsewhere)
    able = [one for one in later.clauses if not one.adds]
    return any(
        _clause_replaces(pair_clauses(one, other, of))
        for one in able
        for other in earlier.clauses
        if _are_comparable(one, other, of)
    )


def _are_comparable(new: Clause, old: Clause, of: Meeting) -> bool:
    """Whether two clauses share a word of their subjects and a kind of value, by a check that takes little time."""
    named = old.names & of.later.stems
    if not (of.changed or new.changes or new.cancels or new.negates or named or new.kinds & old.kinds):
        return False
    return bool(of.extra) or not new.stems or not old.stems or not new.stems.isdisjoint(old.stems)


def _announces(clause: Clause, earlier: Parsed) -> bool:
    """Whether a clause says that something changed that another clause gives: nothing in particular, or the same."""
    return clause.changes and not clause.values and (not clause.stems or bool(clause.stems & earlier.stems))


def _is_of_others(new: Statement, old: Statement) -> bool:
    """Whether one of the two is about its speaker, and the other one by somebody else."""
    if new.speaker == old.speaker or not (new.parsed.is_personal or old.parsed.is_personal):
        return False
    return not (new.parsed.changes and any(clause.has_role for clause in new.parsed.clauses))


def _names_former(later: Parsed, earlier: Parsed, old: Statement, extra: frozenset[str]) -> bool:
    """Whether the later statement says that a value of the earlier one holds no longer, on the same subject."""
    if not later.former or not (later.changes or later.contradicts):
        return False
    if any(clause.adds and clause.changes for clause in later.clauses):
        return False
    named = later.former & list_tokens(old.text)
    shared = ((later.stems | extra) & earlier.stems) - named
    if not named or not shared:
        return False
    return not any(_conflict(one, other, named) for one in later.clauses for other in earlier.clauses)


def _clause_replaces(pair: Pair) -> bool:
    if pair.shared <= {RELEASE} or (pair.of.elsewhere and len(pair.shared) < 2) or _differ_in_phase(pair):
        return False
    if pair.new.cancels:
        return _is_same_subject(pair) and bool(pair.old.values)
    if pair.new.negates != pair.old.negates and _is_opposite(pair):
        return True
    if not pair.changed:
        return _is_one_subject(pair) and len(_differing_kinds(pair)) == 1
    kinds = _differing_kinds(pair)
    if kinds and _is_same_subject(pair):
        return not (
            pair.of.later.is_temporary
            and not pair.of.earlier.is_temporary
            and kinds <= _UNLASTING
            and "date" not in pair.old.kinds
        )
    return (not kinds or pair.old.has_role) and _is_new_holder(pair)


def _is_opposite(pair: Pair) -> bool:
    """Whether one clause denies what the other one says, and no more."""
    if pair.of.later.is_past or pair.of.elsewhere or len(pair.shared) < 2 or pair.new.stems - pair.old.stems:
        return False
    if {value.form for value in pair.new.values} - {value.form for value in pair.old.values}:
        return False
    return (
        len(pair.shared) / len(pair.old_stems) >= MIN_COVERAGE
        and not _conflict(pair.new, pair.old, frozenset())
        and not _differ_in_head(pair)
    )


def _differ_in_head(pair: Pair, words: frozenset[str] | None = None) -> bool:
    """Whether a shared word only describes different things in the clauses: the church organ, the church clock."""
    for word in (pair.new.stems & pair.old.stems) if words is None else words & pair.new.stems & pair.old.stems:
        ours, theirs = pair.new.find_noun(word), pair.old.find_noun(word)
        if ours not in pair.old.stems and theirs not in pair.new.stems:
            return True
    return False


def _differ_in_phase(pair: Pair) -> bool:
    """Whether one clause is about the beginning of something and the other one about its end."""
    new, old = pair.new, pair.old
    return (new.begins and old.ends and not old.begins) or (old.begins and new.ends and not new.begins)


def _is_same_subject(pair: Pair) -> bool:
    """Whether two clauses, of which one says that something changed, are about the same thing."""
    least = min(len(pair.new_stems), len(pair.old_stems))
    if len(pair.shared) / least < MIN_COVERAGE:
        return False
    if len(pair.shared) == 1 and pair.only_new and pair.only_old - pair.shared - pair.of.later.stems:
        return False
    if pair.only_new & pair.new.names and (pair.only_old - pair.shared - pair.of.later.stems) & pair.old.names:
        return False
    if _only_describes(pair.new, pair.shared) or _only_describes(pair.old, pair.shared):
        return False
    return not _conflict(pair.new, pair.old, frozenset())


def _only_describes(clause: Clause, shared: frozenset[str]) -> bool:
    """Whether the shared words only describe something else in a clause: the shipping for the pump."""
    own = clause.stems & shared
    return bool(own) and all(clause.find_head(word) not in shared for word in own)


def _is_one_subject(pair: Pair) -> bool:
    """Whether two clauses differ in a value alone, and each could hold only until the other."""
    if pair.of.later.is_past or pair.of.earlier.is_past or pair.of.elsewhere:
        return False
    if pair.of.later.is_temporary or "–" in "".join(value.form for value in (*pair.new.values, *pair.old.values)):
        return False
    together, held = pair.new.stems | pair.old.stems, pair.old_stems & pair.of.later.stems
    share = len(held) / len(together) if together and len(held) > 1 else 0.0
    return share >= MIN_SAME_SUBJECT and not _conflict(pair.new, pair.old, frozenset())


def _differing_kinds(pair: Pair) -> set[str]:
    """The kinds of values that both clauses have, with another value in the later one."""
    if (
        pair.changed
        and pair.new.kinds == {"number"}
        and pair.old.kinds == {"money"}
        and len(pair.shared) == len(pair.new_stems)
    ):
        return {"money"}  # the currency goes without saying
    return {kind for kind in pair.new.kinds & pair.old.kinds if _differ(kind, pair.new, pair.old)}


def _differ(kind: str, new: Clause, old: Clause) -> bool:
    ours = {(value.form, value.unit) for value in new.values if value.kind == kind}
    theirs = {(value.form, value.unit) for value in old.values if value.kind == kind}
    if kind == "number":
        units = {unit for _, unit in ours} & {unit for _, unit in theirs}
        if len(ours) == len(theirs) == 1 and "" in {unit for _, unit in ours} and len(new.stems & old.stems) > 1:
            return {form for form, _ in ours} != {form for form, _ in theirs}  # the unit goes without saying
        ours, theirs = ({each for each in side if each[1] in units} for side in (ours, theirs))
    return bool(ours and theirs and ours - theirs) and theirs - ours != set()


def _conflict(new: Clause, old: Clause, former: frozenset[str]) -> bool:
    """Whether a word that both share means different things: the release of the app, and of the site."""
    for word in new.stems & old.stems:
        ours = new.find_modifiers(word) - former - old.stems
        theirs = old.find_modifiers(word) - former - new.stems
        if ours and theirs:
            return True
    return False


def _is_new_holder(pair: Pair) -> bool:
    """Whether another person, tool or place takes the place of the former one."""
    has_both = bool(pair.only_old and pair.only_new) and len(pair.only_new) <= MAX_OWN_WORDS
    if not has_both or (len(pair.only_old) > MAX_OWN_WORDS and not pair.of.is_reply):
        return False
    if _differ_in_amounts(pair) or _differ_in_subject(pair) or _differ_in_act(pair):
        return False
    if pair.of.is_reply and _is_bare_name(pair.new) and pair.old.words[-1].named:
        return True
    if pair.old.has_role and (pair.new.has_role or pair.of.is_reply or cues.CHOICE.search(pair.new.text)):
        return _shares_beyond(pair, cues.ROLE) and not _differs_in_object(pair, cues.ROLE)
    if pair.old.has_use and (pair.new.has_use or cues.COPULA.search(pair.new.text)):
        return _shares_beyond(pair, cues.USE) and not _differs_in_object(pair, cues.USE)
    return not _only_describes(pair.new, pair.shared) and (_is_moved(pair) or _is_renamed(pair))


def _differ_in_act(pair: Pair) -> bool:
    ours, theirs = (list_tokens(" ".join(_matches(cues.ACT, one.text))) for one in (pair.new, pair.old))
    return ours != theirs and not (cues.CHOICE.search(pair.new.text) or pair.of.is_reply)


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
    if not all(roles) or len(first) < 2 or first[0].stem != first[1].stem or not all(word.named for word in first):
        return False
    return all(role is not None and word.start < role.start() for role, word in zip(roles, first, strict=True))


def _is_renamed(pair: Pair) -> bool:
    """Whether the clauses differ only in a name that follows what they share."""
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
    return not _conflict(pair.new, pair.old, pair.only_new | pair.only_old)


def _shares_beyond(pair: Pair, relation: re.Pattern[str]) -> bool:
    """Whether both share more than the word for the relation itself."""
    return bool(pair.shared - list_tokens(" ".join(_matches(relation, f"{pair.new.text} {pair.old.text}"))))


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
    return _differ_in_head(pair, objects)


def _is_moved(pair: Pair) -> bool:
    """Whether the same subject is said to be in another place: it comes first in both, the place after it."""
    places = [_place_words(clause) for clause in (pair.new, pair.old)]
    if (
        not all(places)
        or not _is_before(pair.new, pair.shared, places[0])
        or not _is_before(pair.old, pair.shared, places[1])
    ):
        return False
    return not (places[0] & places[1]) and not _conflict(pair.new, pair.old, places[0] | places[1])


def _place_words(clause: Clause) -> frozenset[str]:
    """The words after the last preposition of place."""
    for at, word in enumerate(clause.words):
        if at and cues.PLACE.search(clause.text[: word.start]):
            return frozenset(each.stem for each in clause.words[at:])
    return frozenset()


def _is_before(clause: Clause, shared: frozenset[str], places: frozenset[str]) -> bool:
    return any(word.stem in shared and word.stem not in places for word in clause.words)
