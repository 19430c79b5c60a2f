"""Homonyms told apart by hand: the rules of a space, and the facts that follow them.

A fact is stored under the key that the rules give it (`engine/knowledge/splits.py`), so that nothing that reads facts
needs a rule. Whatever changes a rule moves the facts in the same transaction.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.knowledge.splits import (
    DOCUMENT_RULE,
    TYPE_RULE,
    Split,
    assigned_name,
    base_name,
    choose_chunk_keys,
    is_part_key,
    key_of_end,
    key_range,
    parse_rule,
)
from engine.storage.ledger.names.joins import Joins
from engine.storage.ledger.names.names import Invalidation, Names
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.database import Place_co, Topic
from engine.storage.sql.fragments import id_list, text_list

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from engine.knowledge.splits import ChosenKeys

    Rules = Mapping[str, Sequence[Split]]


class StoredMention(NamedTuple):
    """A mention of a chunk: its number, the id of its name, its key and its type."""

    chunk: int
    number: int
    id: int
    key: str
    type: str


class StoredLink(NamedTuple):
    """A link of a chunk: its number, the id of its pair, and the keys of its ends."""

    chunk: int
    number: int
    id: int
    a: str
    b: str


class StoredFacts(NamedTuple):
    """Mentions and links, and the keys of the documents of their chunks."""

    mentions: list[StoredMention]
    links: list[StoredLink]
    documents: dict[int, str]


class MovedFacts(NamedTuple):
    """The ids of names and pairs that facts left, and of those that they have now."""

    left_names: set[int]
    left_pairs: set[int]
    names: set[int]
    pairs: set[int]


class Splits(Topic[Place_co]):
    """The rules by which facts of names belong to parts, and the facts that follow them."""

    def load_rules(self, space: int, names: Collection[str]) -> dict[str, list[Split]]:
        """The rules for these names, as they are written, by name."""
        rows = self.db.execute_fetchall(
            "SELECT x.name, x.part, x.rule FROM @list(?, j) @then JOIN name_split x"
            " ON x.space = ? AND x.name = j.value ORDER BY x.name, x.rule",
            (text_list(names), space),
        )
        rules = defaultdict[str, list[Split]](list)
        for row in rows:
            split = Split(*row)
            rules[split.name].append(split)
        return dict(rules)

    def load_rules_later(self, chunks: Collection[int], names: Collection[str]) -> Callable[[], dict[int, Rules]]:
        """The rules for these names, as they are written, in the spaces of chunks, by space and name."""
        fetch = self.db.fetch_later(
            "SELECT x.space, x.name, x.part, x.rule FROM name_split x"
            " WHERE x.space IN (SELECT space FROM chunk WHERE id IN (SELECT value FROM @list(?)))"
            " AND x.name IN (SELECT value FROM @list(?)) ORDER BY x.space, x.name, x.rule",
            (id_list(chunks), text_list(names)),
        )

        def collect() -> dict[int, Rules]:
            rules = defaultdict[int, defaultdict[str, list[Split]]](lambda: defaultdict(list))
            for space, *row in fetch():
                split = Split(*row)
                rules[space][split.name].append(split)
            return {space: dict(splits) for space, splits in rules.items()}

        return collect

    def find_rules_of_part(self, space: int, part: str) -> list[Split]:
        """The rules whose facts belong to a part."""
        rows = self.db.execute_fetchall(
            "SELECT name, part, rule FROM name_split WHERE space = ? AND part = ? ORDER BY name, rule", (space, part)
        )
        return [Split(*row) for row in map(tuple, rows)]

    def find_written_names(self, space: int, name: str) -> set[str]:
        """The names, as they are written, of the entity to which a name leads; none if there is no such name.

        A name remains one if all of its facts belong to parts.
        """
        rows = self.db.execute_fetchall(
            "SELECT o.canonical FROM name n @then JOIN name o ON o.target = n.target"
            " WHERE n.space = ? AND n.canonical = ?",
            (space, name),
        )
        return {row[0] for row in rows if not is_part_key(row[0])} | self.load_rules(space, {name}).keys()

    def leads_to_same(self, space: int, name: str, other: str) -> bool:
        """Whether two names lead to the same entity."""
        led = Names(self.db).resolve_aliases(space, {name, other})
        return led[name] == led[other]

    def applies(self, space: int, name: str, rule: str) -> bool:
        """Whether any present fact about a name, as it is written, follows a rule."""
        kind, value = parse_rule(rule)
        condition = {TYPE_RULE: "m.type = ?", DOCUMENT_RULE: "d.key = ?"}[kind]
        rows = self.db.execute_fetchall(
            "SELECT 1 FROM @list(?, j) @then JOIN mention m ON m.name = j.value"
            " @then JOIN chunk c ON c.id = m.chunk @then JOIN document d ON d.id = c.document"
            f" WHERE {condition} LIMIT 1",
            (id_list(self._find_ids(space, {name})), value),
        )
        return bool(list(rows))

    def save_rules(self, space: int, splits: Collection[Split], shown: str, room: int) -> None:
        """Save rules for a part that is displayed as shown, and let the facts follow; a gone document has no rule."""
        for split in splits:
            kind, value = parse_rule(split.rule)
            found = [None] if kind == TYPE_RULE else self._find_document(space, value)
            for document in found:
                self.db.execute(
                    "INSERT INTO name_split (space, name, rule, part, shown, room, document)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (space, name, rule) DO UPDATE"
                    " SET part = excluded.part, shown = excluded.shown, room = excluded.room",
                    (space, split.name, split.rule, split.part, shown, room, document),
                )
        self.apply_rules(space, {split.name for split in splits})

    def _find_document(self, space: int, key: str) -> list[int]:
        rows = self.db.execute_fetchall("SELECT id FROM document WHERE key = ? AND space = ?", (key, space))
        return [row[0] for row in rows]

    def remove_rules(self, space: int, splits: Collection[Split]) -> None:
        """Remove rules; the facts go where the others lead."""
        self.db.executemany(
            "DELETE FROM name_split WHERE space = ? AND name = ? AND rule = ?",
            [(space, split.name, split.rule) for split in splits],
        )
        self.apply_rules(space, {split.name for split in splits})

    def leave_space(self, document: int, space: int) -> None:
        """Remove the rules for a document from other spaces than its new one, but for those that move with its room."""
        self.db.execute(
            "DELETE FROM name_split WHERE document = ? AND space <> ?"
            " AND (room = 0 OR room <> (SELECT d.room FROM document d WHERE d.id = name_split.document))",
            (document, space),
        )

    def move_rules(self, room: int, space: int | None) -> None:
        """Move the rules made in a room into a space, whose own win; None removes them."""
        rows = self.db.execute_fetchall(
            "DELETE FROM name_split WHERE room = ?1 AND room <> 0 AND space @differs ?2"
            " RETURNING space, name, part, rule, shown",
            (room, space),
        )
        former = defaultdict[int, set[str]](set)
        for old_space, name, part, rule, shown in list(rows):
            former[old_space].add(name)
            if space is not None and all(text.rule != rule for text in self.load_rules(space, {name}).get(name, ())):
                self.save_rules(space, [Split(name, part, rule)], shown, room)
        for old_space, names in former.items():
            self.apply_rules(old_space, names)

    def apply_rules(self, space: int, names: Collection[str]) -> None:
        """Move the facts about names, as they are written, to where the present rules lead."""
        moved = self.move_facts(space, self._load_name_facts(space, names))
        if not (moved.names or moved.pairs):
            return
        changed = {each for (each,) in self._load_canonicals(moved.left_names | moved.names)}
        Joins(self.db).refresh(space, {*names, *changed, *map(assigned_name, changed)})
        generation = Settings(self.db).next_generation()
        Invalidation(self.db).invalidate_keys(
            moved.left_names | moved.names, moved.left_pairs | moved.pairs, generation
        )

    def _load_canonicals(self, ids: Collection[int]) -> Iterable[tuple[str]]:
        return [
            (row[0],)
            for row in self.db.execute_fetchall(
                "SELECT canonical FROM name WHERE id IN (SELECT value FROM @list(?))", (id_list(ids),)
            )
        ]

    def _find_ids(self, space: int, names: Collection[str]) -> set[int]:
        """The ids of names and of their parts' keys."""
        ids = Joins(self.db).name_ids(space, names)
        for name in names:
            rows = self.db.execute_fetchall(
                "SELECT id FROM name WHERE space = ? AND canonical >= ? AND canonical < ?", (space, *key_range(name))
            )
            ids.update(row[0] for row in rows)
        return ids

    def _load_name_facts(self, space: int, names: Collection[str]) -> StoredFacts:
        """All facts about some names, whatever parts they belong to now."""
        ids = id_list(self._find_ids(space, names))
        links = (
            "SELECT f.chunk, f.number, f.pair, x.canonical, y.canonical FROM @list(?1, j)"
            " @then JOIN pair p ON p.{} = j.value @then JOIN link f ON f.pair = p.id"
            " @then JOIN name x ON x.id = p.a @then JOIN name y ON y.id = p.b"
        )
        return self._collect(
            self.db.execute_fetchall(
                "SELECT m.chunk, m.number, m.name, n.canonical, m.type, d.key FROM @list(?, j)"
                " @then JOIN name n ON n.id = j.value @then JOIN mention m ON m.name = n.id"
                " @then JOIN chunk c ON c.id = m.chunk @then JOIN document d ON d.id = c.document",
                (ids,),
            ),
            self.db.execute_fetchall(f"{links.format('a')} UNION {links.format('b')}", (ids,)),
        )

    def load_document_facts(self, document: int) -> StoredFacts:
        """The mentions and links that the chunks of a document state."""
        return self._collect(
            self.db.execute_fetchall(
                "SELECT m.chunk, m.number, m.name, n.canonical, m.type, d.key FROM document d"
                " JOIN chunk c ON c.document = d.id JOIN mention m ON m.chunk = c.id"
                " JOIN name n ON n.id = m.name WHERE d.id = ?",
                (document,),
            ),
            self.db.execute_fetchall(
                "SELECT f.chunk, f.number, f.pair, x.canonical, y.canonical FROM chunk c JOIN link f ON f.chunk = c.id"
                " JOIN pair p ON p.id = f.pair JOIN name x ON x.id = p.a JOIN name y ON y.id = p.b"
                " WHERE c.document = ?",
                (document,),
            ),
        )

    def _collect(self, mentions: Iterable[Iterable[Any]], links: Iterable[Iterable[Any]]) -> StoredFacts:
        rows = [tuple(row) for row in mentions]
        return StoredFacts(
            [StoredMention(*row[:-1]) for row in rows],
            [StoredLink(*row) for row in links],
            {row[0]: row[-1] for row in rows},
        )

    def move_facts(self, space: int, facts: StoredFacts) -> MovedFacts:
        """Store facts under the keys that the rules of a space give them; those that have them already remain.

        Of each chunk the facts have all mentions of a name, or none.
        """
        names = {base_name(mention.key) for mention in facts.mentions}
        chosen = self._choose_keys(space, facts, names)
        none: Mapping[str, ChosenKeys] = {}
        mentions = [(mention, _key_of(mention, chosen.get(mention.chunk, none))) for mention in facts.mentions]
        ends = [
            [_key_of_end(key, names, chosen.get(link.chunk, none)) for key in (link.a, link.b)] for link in facts.links
        ]
        ids = Names(self.db).intern_names(space, {key for _, key in mentions} | {key for pair in ends for key in pair})
        new_names = [(each, ids[key]) for each, key in mentions if ids[key] != each.id]
        new_ends = [(min(ids[a], ids[b]), max(ids[a], ids[b])) for a, b in ends]
        pairs = Names(self.db).intern_pairs(space, set(new_ends))
        new_pairs = [
            (each, pairs[pair]) for each, pair in zip(facts.links, new_ends, strict=True) if pairs[pair] != each.id
        ]
        self.db.executemany(
            "UPDATE mention SET name = ? WHERE chunk = ? AND number = ?",
            [(id_, each.chunk, each.number) for each, id_ in new_names],
        )
        self.db.executemany(
            "UPDATE link SET pair = ? WHERE chunk = ? AND number = ?",
            [(id_, each.chunk, each.number) for each, id_ in new_pairs],
        )
        return MovedFacts(
            {each.id for each, _ in new_names},
            {each.id for each, _ in new_pairs},
            {id_ for _, id_ in new_names},
            {id_ for _, id_ in new_pairs},
        )

    def _choose_keys(self, space: int, facts: StoredFacts, names: Collection[str]) -> dict[int, dict[str, ChosenKeys]]:
        """The keys of the facts of each chunk about split names."""
        rules = self.load_rules(space, names)
        mentions = defaultdict[int, list[tuple[str, str]]](list)
        for mention in facts.mentions if rules else ():
            mentions[mention.chunk].append((base_name(mention.key), mention.type))
        return {chunk: choose_chunk_keys(rules, found, facts.documents[chunk]) for chunk, found in mentions.items()}


def _key_of(mention: StoredMention, chosen: Mapping[str, ChosenKeys]) -> str:
    name = base_name(mention.key)
    return chosen[name].of_mention(mention.type) if name in chosen else name


def _key_of_end(key: str, names: Collection[str], chosen: Mapping[str, ChosenKeys]) -> str:
    """The key of an end of a link; it remains if the end is none of the names whose facts are moved."""
    name = base_name(key)
    return key_of_end(chosen, name) if name in names else key
