"""Aliases of names. The automatic ones of a space are what its present names, texts and corrections make of them.

They are kept up to date in the transaction that changed any of these, so they never depend on the order of changes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engine.knowledge.duplicates.joins import ManualAliases, NameEvidence, plan_joins
from engine.knowledge.duplicates.name_keys import find_definitions, parse_spelling, spelling_key
from engine.storage.ledger.names.names import Invalidation, Names
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.database import Place_co, Topic, writing
from engine.storage.sql.fragments import id_list, text_list
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping


class Alias(NamedTuple):
    """Where a name leads. `reason`: of an automatic alias, "" if it was made by hand. `room`: that it moves with.

    `shown`: the target as the person wrote it, "" if that is unknown.
    """

    target: str
    reason: str = ""
    room: int = 0
    shown: str = ""


class Expansion(NamedTuple):
    """The long form of an abbreviation: its spelling key, and its core with the last word as written."""

    long_key: str
    long_core: str


SETTING = "automatic_joins"
MAX_MENTIONS = 16  # of a name that show how it is written, the earliest ones
MAX_NAMES = 32  # with one key that are compared with each other, the longest ones
BATCH_SIZE = 1000


@dataclass(frozen=True, slots=True)
class _Spellings:
    """The names with facts of a space by their group, and the expansions of abbreviations by spelling key."""

    space: int
    groups: Mapping[str, list[str]]
    expansions: Mapping[str, Expansion]


class Joins(Topic[Place_co]):
    """Aliases of names, those that follow from the present names among them, and abbreviations."""

    def change_aliases(self, space: int, changes: Mapping[str, Alias | None]) -> None:
        """Set these aliases, or remove those that are None. Raises InvalidQuestion if they form a circle."""
        if not changes:
            return
        led = Names(self.db).find_aliased_names(space, changes)
        before = self.touching_keys(self.name_ids(space, led))
        Names(self.db).intern_names(
            space, {end for name, alias in changes.items() if alias for end in (name, alias.target)}
        )
        self.db.executemany("DELETE FROM alias WHERE space = ? AND name = ?", [(space, name) for name in changes])
        self.db.executemany(
            "INSERT INTO alias (space, name, target, reason, room, shown) VALUES (?, ?, ?, ?, ?, ?)",
            [(space, name, *alias) for name, alias in changes.items() if alias],
        )
        Names(self.db).update_name_targets(space, led)
        after = self.touching_keys(self.name_ids(space, led))
        generation = Settings(self.db).next_generation()
        Invalidation(self.db).invalidate_keys(before[0] | after[0], before[1] | after[1], generation)

    def load_automatic_aliases(self, space: int, names: Collection[str]) -> dict[str, Alias]:
        """The automatic aliases from or to any of these names."""
        return self._load_aliases_later(space, names)()

    def _load_aliases_later(self, space: int, names: Collection[str]) -> Callable[[], dict[str, Alias]]:
        fetch = self.db.fetch_later(
            "SELECT name, target, reason FROM alias WHERE space = ?1 AND reason <> '' AND name IN"
            " (SELECT value FROM @list(?2)) UNION SELECT name, target, reason FROM alias"
            " WHERE space = ?1 AND reason <> '' AND target IN (SELECT value FROM @list(?2))",
            (space, text_list(names)),
        )
        return lambda: {name: Alias(target, reason) for name, target, reason in fetch()}

    def name_ids(self, space: int, names: Collection[str]) -> set[int]:
        """The ids of those canonical names that exist."""
        rows = self.db.execute_fetchall(
            "SELECT id FROM name WHERE space = ? AND canonical IN (SELECT value FROM @list(?))",
            (space, text_list(names)),
        )
        return {row[0] for row in rows}

    def touching_keys(self, names: Collection[int]) -> tuple[set[int], set[int]]:
        """The ids of these names and of their pairs, each with its target."""
        listed = (id_list(names),)
        led = self.db.execute_fetchall("SELECT id, target FROM name WHERE id IN (SELECT value FROM @list(?))", listed)
        pairs = self.db.execute_fetchall(
            "SELECT id, target FROM pair WHERE a IN (SELECT value FROM @list(?1))"
            " OR b IN (SELECT value FROM @list(?1))",
            listed,
        )
        return {id_ for row in led for id_ in row}, {id_ for row in pairs for id_ in row if id_}

    def save_definitions(self, chunk: int, space: int, text: str) -> set[str]:
        """Save the abbreviations that a chunk defines; returns the spelling keys of both forms."""
        rows = set[tuple[str, str, str]]()
        for definition in find_definitions(text):
            short, long = normalize_name(definition.short), normalize_name(definition.long)
            if short and long:
                rows.add((spelling_key(short), spelling_key(long), parse_spelling(long).core))
        self.db.executemany(
            "INSERT INTO abbreviation (chunk, space, short_key, long_key, long_core) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            [(chunk, space, *row) for row in sorted(rows)],
        )
        return {key for row in rows for key in row[:2]}

    def find_defined_keys(self, chunks: Collection[int]) -> dict[int, set[str]]:
        """The spelling keys of the abbreviations that these chunks define and of their long forms, by space."""
        rows = self.db.execute_fetchall(
            "SELECT space, short_key, long_key FROM @list(?, j) @then JOIN abbreviation x ON x.chunk = j.value",
            (id_list(chunks),),
        )
        return _collect_keys(rows)

    def move_definitions(self, chunks: Collection[int], space: int) -> dict[int, set[str]]:
        """Move the definitions of chunks into a space; returns the affected spelling keys by space, old and new."""
        before = self.find_defined_keys(chunks)
        self.db.execute(
            "UPDATE abbreviation SET space = ? WHERE chunk IN (SELECT value FROM @list(?))",
            (space, id_list(chunks)),
        )
        return {space: {key for keys in before.values() for key in keys}} | before

    def load_linked_keys(self, space: int, keys: Collection[str]) -> set[str]:
        """The keys that a definition of the space links with any of these."""
        return self._load_linked_later(space, keys)()

    def _load_linked_later(self, space: int, keys: Collection[str]) -> Callable[[], set[str]]:
        fetch = self.db.fetch_later(
            "SELECT x.long_key FROM @list(?2, j) @then JOIN abbreviation x ON x.space = ?1 AND x.short_key = j.value"
            " UNION SELECT x.short_key FROM @list(?2, j)"
            " @then JOIN abbreviation x ON x.space = ?1 AND x.long_key = j.value",
            (space, text_list(keys)),
        )
        return lambda: {row[0] for row in fetch()}

    def load_expansions(self, space: int, keys: Collection[str]) -> dict[str, Expansion]:
        """The long forms of those keys for which the texts of the space give exactly one."""
        rows = self.db.execute_fetchall(
            "SELECT x.short_key, MIN(x.long_key), MIN(x.long_core) FROM @list(?, j)"
            " @then JOIN abbreviation x ON x.space = ? AND x.short_key = j.value"
            " GROUP BY x.short_key HAVING MIN(x.long_core) = MAX(x.long_core)",
            (text_list(keys), space),
        )
        return {short: Expansion(long_key, long_core) for short, long_key, long_core in rows}

    def refresh(self, space: int, names: Collection[str], definition_keys: Collection[str] = ()) -> None:
        """Update the automatic aliases of these canonical names, and of what they may be joined with.

        `definition_keys`: spelling keys of abbreviations whose definitions changed, and of their long forms.
        """
        self.begin_refresh(space, names, definition_keys)()

    def begin_refresh(
        self, space: int, names: Collection[str], definition_keys: Collection[str] = ()
    ) -> Callable[[], None]:
        """Ask for what `refresh` reads first; the result does the rest. No statement in between may change it."""
        if not (names or definition_keys):
            return lambda: None
        asked = {spelling_key(name) for name in names} | set(definition_keys)
        load_leading = self._load_aliases_later(space, names)
        load_linked = self._load_linked_later(space, asked)
        load_names = self._load_names_later(space, asked)

        def finish() -> None:
            leading = load_leading()
            keys = asked | {spelling_key(name) for name in leading}
            linked = load_linked() | (self.load_linked_keys(space, keys - asked) if keys - asked else set[str]())
            near = keys | linked
            wide = near | (self.load_linked_keys(space, near) if linked else linked)
            more = self._load_names_later(space, wide - asked)() if wide - asked else []
            expansions = self.load_expansions(space, wide) if linked else {}
            groups = _group_names([*load_names(), *more], near, expansions)
            others = {name for group in groups.values() for name in group}.difference(names)
            current = leading | (self.load_automatic_aliases(space, others) if others else {})
            current = {name: alias for name, alias in current.items() if _group_key(name, expansions) in near}
            self._update(_Spellings(space, groups, expansions), current)

        return finish

    def _update(self, spellings: _Spellings, current: Mapping[str, Alias]) -> None:
        """Replace the current automatic aliases of these names by those that follow from their spellings."""
        if not current and all(len(group) < 2 for group in spellings.groups.values()):
            return
        if not self._is_enabled():
            return
        wanted = self._plan(spellings)
        changes = {name: wanted.get(name) for name in current.keys() | wanted if wanted.get(name) != current.get(name)}
        self.change_aliases(spellings.space, changes)

    def refresh_by_id(self, names: Collection[int], definition_keys: Mapping[int, set[str]]) -> None:
        """`refresh` for names by id, of any space, and for spelling keys by space."""
        by_space: defaultdict[int, list[str]] = defaultdict(list)
        for space, name in self.db.execute_fetchall(
            "SELECT n.space, n.canonical FROM @list(?, j) @then JOIN name n ON n.id = j.value",
            (id_list(names),),
        ):
            by_space[space].append(name)
        for space in by_space.keys() | definition_keys:
            self.refresh(space, by_space[space], definition_keys.get(space, ()))

    def _is_enabled(self) -> bool:
        return Settings(self.db).get(SETTING) != "off"

    def _load_names_later(self, space: int, keys: Collection[str]) -> Callable[[], list[str]]:
        """The names with facts whose spelling keys are these."""
        fetch = self.db.fetch_later(
            "SELECT n.canonical FROM @list(?, j) @then JOIN name n ON n.space = ? AND n.spelling_key = j.value"
            " WHERE EXISTS (SELECT 1 FROM mention m WHERE m.name = n.id)",
            (text_list(keys), space),
        )
        return lambda: [row[0] for row in fetch()]

    def _plan(self, spellings: _Spellings) -> dict[str, Alias]:
        ordered = [sorted(group, key=lambda name: (-len(name), name)) for group in spellings.groups.values()]
        groups = [group[:MAX_NAMES] for group in ordered if len(group) > 1]
        names = {name for group in groups for name in group}
        manual = self._load_manual_aliases(spellings.space, names)
        evidence = self._load_evidence(spellings, names)
        return {
            join.name: Alias(join.target, join.reason.value)
            for group in groups
            for join in plan_joins([evidence[name] for name in group], manual)
        }

    def _load_evidence(self, spellings: _Spellings, names: Collection[str]) -> dict[str, NameEvidence]:
        evidence = {}
        for name in names:
            rows = self.db.execute_fetchall(
                "SELECT m.surface, m.type FROM name n @then JOIN mention m ON m.name = n.id"
                " WHERE n.space = ? AND n.canonical = ? ORDER BY m.time, m.hash, m.surface, m.type LIMIT ?",
                (spellings.space, name, MAX_MENTIONS),
            )
            surfaces, types = zip(*rows, strict=True)
            expansion = spellings.expansions.get(spelling_key(name))
            evidence[name] = NameEvidence(
                name, frozenset(surfaces), frozenset(types) - {""}, expansion.long_core if expansion else ""
            )
        return evidence

    def _load_manual_aliases(self, space: int, names: Collection[str]) -> ManualAliases:
        ends = Names(self.db).resolve_manual_aliases(space, names)
        candidates = text_list({*names, *ends.values()})
        roots = self.db.execute_fetchall(
            "SELECT DISTINCT target FROM alias WHERE space = ? AND reason = '' AND target IN"
            " (SELECT value FROM @list(?))",
            (space, candidates),
        )
        distinct = self.db.execute_fetchall(
            "SELECT a, b FROM distinct_names WHERE space = ?1 AND a IN (SELECT value FROM @list(?2))"
            " AND b IN (SELECT value FROM @list(?2))",
            (space, candidates),
        )
        return ManualAliases(ends, frozenset(row[0] for row in roots), frozenset(map(tuple, distinct)))

    @writing
    def set_automatic_joins(self, *, enabled: bool) -> None:
        """Turn automatic joins on or off; off removes the present ones, on makes them again."""
        if enabled == self._is_enabled():
            return
        rows = self.db.execute_fetchall("SELECT space, name FROM alias WHERE reason <> ''")
        for space in {row[0] for row in rows}:
            self.change_aliases(space, {name: None for where, name in rows if where == space})
        Settings(self.db).set(SETTING, "on" if enabled else "off")
        by_space: defaultdict[int, list[str]] = defaultdict(list)
        for space, name in self.db.execute_fetchall("SELECT space, canonical FROM name") if enabled else ():
            by_space[space].append(name)
        for space, names in by_space.items():
            for start in range(0, len(names), BATCH_SIZE):
                self.refresh(space, names[start : start + BATCH_SIZE])


def _collect_keys(rows: Iterable[tuple[int, str, str]]) -> dict[int, set[str]]:
    keys: defaultdict[int, set[str]] = defaultdict(set)
    for space, *forms in rows:
        keys[space].update(forms)
    return dict(keys)


def _group_names(
    names: Iterable[str], planned: Collection[str], expansions: Mapping[str, Expansion]
) -> dict[str, list[str]]:
    """The names by group key, for the groups `planned`."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        if (key := _group_key(name, expansions)) in planned:
            groups[key].append(name)
    return groups


def _group_key(name: str, expansions: Mapping[str, Expansion]) -> str:
    key = spelling_key(name)
    return expansions[key].long_key if key in expansions else key
