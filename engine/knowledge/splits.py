"""Homonyms told apart by hand: which of a chunk's facts belong to a part that was split from a name. Pure.

A fact that is moved to a part has a key of its own, made of the name as written and the part: so it can be moved back,
whatever else the part means.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from engine.knowledge.merge import ExtractedFacts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

_MARK = " AS "  # canonical names are case-folded: none contains it
TYPE_RULE, DOCUMENT_RULE = "type", "document"


class Split(NamedTuple):
    """A rule for facts about a canonical name: they belong to the part, which is another canonical name.

    `rule`: "type person" for mentions of that type, "document KEY" for all facts from that document.
    """

    name: str
    part: str
    rule: str


class ChosenKeys(NamedTuple):
    """The keys of a chunk's facts about one name: of mentions by type, of other typed ones, and of all the rest."""

    by_type: Mapping[str, str]
    typed: str
    rest: str

    def of_mention(self, type_: str) -> str:
        """The key of a mention; an empty type marks an implied one."""
        return self.by_type.get(type_, self.typed) if type_ else self.rest


def build_rule(kind: str, value: str) -> str:
    """A rule of this kind: `TYPE_RULE` or `DOCUMENT_RULE`."""
    return f"{kind} {value}"


def parse_rule(rule: str) -> tuple[str, str]:
    """The kind of a rule and its value."""
    kind, _, value = rule.partition(" ")
    return kind, value


def part_key(name: str, part: str) -> str:
    """The key of facts about a canonical name that belong to a part."""
    return f"{name}{_MARK}{part}"


def is_part_key(key: str) -> bool:
    """Whether a key is one of facts that were moved to a part."""
    return _MARK in key


def base_name(key: str) -> str:
    """The canonical name as written of the facts with this key."""
    return key.partition(_MARK)[0]


def assigned_name(key: str) -> str:
    """The canonical name that facts with this key belong to: the part, else the name itself."""
    return key.rpartition(_MARK)[2]


def key_range(name: str) -> tuple[str, str]:
    """The first key of a name's parts, and what follows the last one, in the order of code points."""
    start = f"{name}{_MARK}"
    return start, f"{start[:-1]}!"


def choose_keys(splits: Iterable[Split], types: Collection[str], document: str) -> ChosenKeys | None:
    """The keys of a chunk's facts about a name that is split; None if none of them is moved.

    `types`: those that the chunk states for the name. A rule for the document counts before those for types. Links and
    implied mentions have no type: they follow the typed mentions if these all belong to one part.
    """
    splits = list(splits)
    for split in splits:
        if split.rule == build_rule(DOCUMENT_RULE, document):
            key = part_key(split.name, split.part)
            return ChosenKeys({}, key, key)
    by_rule = {split.rule: split for split in splits}
    found = {type_: by_rule[rule] for type_ in types if (rule := build_rule(TYPE_RULE, type_)) in by_rule}
    if not found:
        return None
    name = next(iter(found.values())).name
    by_type = {type_: part_key(*split[:2]) for type_, split in found.items()}
    parts = {by_type.get(type_, name) for type_ in types}
    return ChosenKeys(by_type, name, parts.pop() if len(parts) == 1 else name)


def choose_chunk_keys(
    splits: Mapping[str, Sequence[Split]], mentions: Iterable[tuple[str, str]], document: str
) -> dict[str, ChosenKeys]:
    """The keys of moved facts in a chunk by name. `mentions`: name and type of all mentions of the chunk."""
    types = defaultdict[str, set[str]](set)
    for name, type_ in mentions:
        if name in splits:
            types[name].update({type_} - {""})
    chosen = {name: choose_keys(splits[name], found, document) for name, found in types.items()}
    return {name: keys for name, keys in chosen.items() if keys is not None}


def key_of_end(keys: Mapping[str, ChosenKeys], name: str) -> str:
    """The key of a name at the end of a link, in a chunk with these keys."""
    return keys[name].rest if name in keys else name


def split_facts(facts: ExtractedFacts, splits: Mapping[str, Sequence[Split]], document: str) -> ExtractedFacts:
    """The facts of a chunk, those of split names under the keys of their parts."""
    keys = choose_chunk_keys(splits, ((name, mention.type) for name, mention in facts.mentions), document)
    return ExtractedFacts(
        [(keys[name].of_mention(each.type) if name in keys else name, each) for name, each in facts.mentions],
        [(key_of_end(keys, a), key_of_end(keys, b), link) for a, b, link in facts.links],
    )
