"""Decide which statement replaces which. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from engine.llm.offline.supersession import cues
from engine.llm.offline.supersession.clauses import list_tokens
from engine.llm.offline.supersession.holders import is_new_holder, is_of_another
from engine.llm.offline.supersession.pairs import Meeting, Pair, conflict, differ_in_head, only_describes, pair_clauses
from engine.llm.offline.words import stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.supersession.clauses import Clause, Parsed, Statement


MIN_COVERAGE = 0.5  # of the words of the shorter subject that the other one has
MIN_SAME_SUBJECT = 0.8  # of all words of both subjects, if nothing says that something changed
MAX_SUBJECT_OF_NUMBER = 2  # words up to the number of a thing: "the room 4"
RELEASE = "release"  # the stem of all words for it
_RETURNING = frozenset(map(stem, cues.RETURN_WORDS))
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
    news = {at for at, one in enumerate(statements) if one.time is not None and may_replace(one)}
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


def may_replace(statement: Statement) -> bool:
    """Whether a statement says something that can replace what others say."""
    parsed = statement.parsed
    several = len(parsed.clauses) > 1
    is_news = any(
        clause.values or clause.negates or clause.states or (several and (clause.has_role or clause.names))
        for clause in parsed.clauses
    )
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
    states = bool(new.states) and bool(old.states)
    if not (of.changed or new.changes or new.cancels or new.negates or named or states or new.kinds & old.kinds):
        return False
    return bool(of.extra) or not new.stems or not old.stems or not new.stems.isdisjoint(old.stems)


def _announces(clause: Clause, earlier: Parsed) -> bool:
    """Whether a clause says that something changed that another clause gives: nothing in particular, or the same."""
    return clause.changes and not clause.values and (not clause.stems or bool(clause.stems & earlier.stems))


def _is_of_others(new: Statement, old: Statement) -> bool:
    """Whether one of the two is about its speaker, and the other one by somebody else."""
    if new.speaker == old.speaker or new.parsed.contradicts or not (new.parsed.is_personal or old.parsed.is_personal):
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
    return not any(conflict(one, other, named) for one in later.clauses for other in earlier.clauses)


def _clause_replaces(pair: Pair) -> bool:
    if pair.shared <= {RELEASE} or (pair.of.elsewhere and len(pair.shared) < 2) or _are_numbered_apart(pair):
        return False
    if _differ_in_state(pair):
        return True
    if _differ_in_phase(pair):
        return False
    if pair.new.cancels:
        return _is_same_subject(pair) and bool(pair.old.values)
    if pair.new.negates != pair.old.negates and _is_opposite(pair):
        return True
    return _has_new_value(pair)


def _has_new_value(pair: Pair) -> bool:
    """Whether the later clause gives another value, or another holder, of the same."""
    kinds = _differing_kinds(pair)
    if not pair.changed:
        return len(kinds) == 1 and (_counts_same(pair) or _is_one_subject(pair))
    if is_of_another(pair):
        return False
    if kinds and _is_same_subject(pair):
        return not (
            pair.of.later.is_temporary
            and not pair.of.earlier.is_temporary
            and kinds <= _UNLASTING
            and "date" not in pair.old.kinds
        )
    return (not kinds or pair.old.has_role) and is_new_holder(pair)


def _differ_in_state(pair: Pair) -> bool:
    """Whether the clauses say opposite states of one thing: the gate is closed, the gate is open."""
    ours, theirs = dict(pair.new.states), dict(pair.old.states)
    differs = any(scale in theirs and theirs[scale] != side for scale, side in ours.items())
    differs = differs and pair.new.negates == pair.old.negates  # "is never open" is no opposite of "is closed"
    is_narrower = bool(pair.new.stems - pair.old.stems - _RETURNING) or _find_which(pair.new) != _find_which(pair.old)
    says = pair.changed or cues.RETURN.search(pair.new.text)
    lasts = says or not (pair.new.kinds & {"date", "time"} or pair.of.later.is_past)
    if not (differs and lasts) or (is_narrower and not pair.changed) or pair.of.elsewhere or _differ_in_number(pair):
        return False
    return bool(pair.shared) and _is_same_subject(pair) and not differ_in_head(pair)


def _find_which(clause: Clause) -> str:
    """The word that tells the subject from its counterpart: "back", of "the back door is closed"; "" for none."""
    found = cues.COUNTERPART.match(clause.text)
    return found[1].casefold() if found else ""


def _are_numbered_apart(pair: Pair) -> bool:
    """Whether two clauses that tell more have the numbers of different things: "room 4 has 8 seats"."""
    ours, theirs = map(_find_numbered, (pair.new, pair.old))
    if not ours or not theirs:
        return "" != _find_which(pair.new) != _find_which(pair.old) != ""
    return ours[0] == theirs[0] and ours[1] != theirs[1]


def _find_numbered(clause: Clause) -> tuple[str, str] | None:
    """The noun and the number at the beginning of a clause that has more values."""
    first = next((value for value in clause.values if value.kind == "number"), None)
    words = clause.text[: first.start].casefold().split() if first is not None else []
    if first is None or len(clause.values) < 2 or not 0 < len(words) <= MAX_SUBJECT_OF_NUMBER:
        return None
    return words[-1], first.form.strip()


def _differ_in_number(pair: Pair) -> bool:
    """Whether numbers or codes say that the clauses are about different things: floor 1, floor 2."""
    ours, theirs = (
        {value.form.strip() for value in one.values if value.kind in {"number", "code"}} for one in (pair.new, pair.old)
    )
    return bool(ours and theirs) and ours != theirs


def _is_opposite(pair: Pair) -> bool:
    """Whether one clause denies what the other one says, and no more."""
    if pair.of.later.is_past or pair.of.elsewhere or len(pair.shared) < 2 or pair.new.stems - pair.old.stems:
        return False
    if {value.form for value in pair.new.values} - {value.form for value in pair.old.values}:
        return False
    return (
        len(pair.shared) / len(pair.old_stems) >= MIN_COVERAGE
        and not conflict(pair.new, pair.old, frozenset())
        and not differ_in_head(pair)
    )


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
    if only_describes(pair.new, pair.shared) or only_describes(pair.old, pair.shared, pair.of.later.stems):
        return False
    return not conflict(pair.new, pair.old, frozenset())


def _is_one_subject(pair: Pair) -> bool:
    """Whether two clauses differ in a value alone, and each could hold only until the other."""
    if pair.of.later.is_past or pair.of.earlier.is_past or pair.of.elsewhere:
        return False
    if pair.of.later.is_temporary or "–" in "".join(value.form for value in (*pair.new.values, *pair.old.values)):
        return False
    together, held = pair.new.stems | pair.old.stems, pair.old_stems & pair.of.later.stems
    share = len(held) / len(together) if together and len(held) > 1 else 0.0
    return share >= MIN_SAME_SUBJECT and not conflict(pair.new, pair.old, frozenset())


def _counts_same(pair: Pair) -> bool:
    """Whether both say how many of something there are, or "we" have."""
    counted = all(cues.COUNT.search(one.text) and len(one.values) == 1 for one in (pair.new, pair.old))
    named = pair.new.values[0].unit == pair.old.values[0].unit != "" if counted else False
    return counted and named and pair.old.stems == pair.new.stems and not (pair.of.later.is_past or pair.of.elsewhere)


def _differing_kinds(pair: Pair) -> set[str]:
    """The kinds of values that both clauses have, with another value in the later one."""
    if (
        pair.changed
        and pair.new.kinds == {"number"}
        and pair.old.kinds == {"money"}
        and len(pair.shared) == len(pair.new_stems)
    ):
        return {"money"}  # the currency goes without saying
    if pair.of.is_reply and [len(one.values) for one in (pair.new, pair.old)] == [1, 1]:
        ours, theirs = pair.new.values[0], pair.old.values[0]
        if ours.kind == theirs.kind == "number" and not ours.unit and ours.form != theirs.form:
            return {"number"}  # so does what is counted
    return {kind for kind in pair.new.kinds & pair.old.kinds if _differ(kind, pair.new, pair.old)}


def _differ(kind: str, new: Clause, old: Clause) -> bool:
    ours = {(value.form, value.unit) for value in new.values if value.kind == kind}
    theirs = {(value.form, value.unit) for value in old.values if value.kind == kind}
    if kind == "number":
        units = {unit for _, unit in ours} & {unit for _, unit in theirs}
        if len(ours) == len(theirs) == 1 and "" in {unit for _, unit in ours} and len(new.stems & old.stems) > 1:
            return {form for form, _ in ours} != {form for form, _ in theirs}  # the unit goes without saying
        ours, theirs = ({value for value in side if value[1] in units} for side in (ours, theirs))
    return bool(ours and theirs and ours - theirs) and theirs - ours != set()


MIN_LABEL_WORDS = 2
_LABEL = re.compile(r"([^:.!?]{3,60}):\s{1,2}([^\s,;:]{1,40}(?: [^\s,;:]{1,40}){0,2}?)[.!]?")


def has_same_label(new: str, old: str) -> bool:
    """Whether both are short values of one thing: "On call in week 12: Ada"."""
    labels, values = zip(*(_split_label(text) for text in (new, old)), strict=True)
    return len(labels[0]) >= MIN_LABEL_WORDS and labels[0] == labels[1] and values[0] != values[1]


def _split_label(text: str) -> tuple[frozenset[str], str]:
    found = _LABEL.fullmatch(text.strip())
    return (list_tokens(found[1]), found[2].casefold()) if found else (frozenset(), "")
