"""Names and pairs of names by id, targets of aliases, and what their changes make outdated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import InvalidQuestion
from engine.knowledge.duplicates.name_keys import spelling_key
from engine.knowledge.splits import assigned_name, is_part_key, part_key
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.claims import StaleKeys
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.storage.sql.fragments import id_list, text_list

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    Pair = tuple[int, int]


_INSERT_PAIR = "INSERT INTO pair (space, a, b, target) VALUES (?, ?, ?, -1) ON CONFLICT DO NOTHING"
_STATED = "EXISTS (SELECT 1 FROM name n @then JOIN mention f ON f.name = n.id WHERE n.target = entity.id AND f.{} = {})"


class Names(Topic[Place_co]):
    """Names and pairs of names by id, and the targets of aliases."""

    @writing
    def intern_names(self, space: int, names: Collection[str]) -> dict[str, int]:
        """The ids of canonical names within a space; missing ones are created."""
        return self.intern_names_later(space, names)()

    def intern_names_later(self, space: int, names: Collection[str]) -> Callable[[], dict[str, int]]:
        """As `intern_names`, in two parts: the result must be called, and gives new aliases their targets, too.

        Nothing waits for the ids until then.
        """
        self._insert_names(space, names)
        fetch = self.db.fetch_later(
            "SELECT n.canonical, n.id, a.name IS NOT NULL FROM @list(?, j)"
            " @then JOIN name n ON n.space = ? AND n.canonical = j.value"
            " LEFT JOIN alias a ON a.space = n.space AND a.name = n.canonical",
            (text_list(names), space),
        )

        def finish() -> dict[str, int]:
            rows = fetch()
            if aliased := [name for name, _, is_alias in rows if is_alias or is_part_key(name)]:
                self.update_name_targets(space, aliased)
            return {name: id_ for name, id_, _ in rows}

        return finish

    def _insert_names(self, space: int, names: Collection[str]) -> None:
        """Create those of the names that are missing."""
        self.db.executemany(
            "INSERT INTO name (space, canonical, target, spelling_key) VALUES (?, ?, -1, ?) ON CONFLICT DO NOTHING",
            [(space, name, name if is_part_key(name) else spelling_key(name)) for name in sorted(names)],
        )

    def intern_pairs(self, space: int, pairs: Collection[Pair]) -> dict[Pair, int]:
        """The ids of pairs of names (lower id first); missing ones are created."""
        return self.intern_pairs_later(space, pairs)()

    def intern_pairs_later(self, space: int, pairs: Collection[Pair]) -> Callable[[], dict[Pair, int]]:
        """As `intern_pairs`, in two parts: the result must be called, and moves pairs to the targets of their names.

        Nothing waits for the ids until then.
        """
        if not pairs:
            return dict
        self.db.executemany(
            _INSERT_PAIR,
            [(space, a, b) for a, b in sorted(pairs)],
        )
        fetch = self.db.fetch_each_later(
            "SELECT p.a, p.b, p.id, x.target <> x.id OR y.target <> y.id FROM pair p"
            " @then JOIN name x ON x.id = p.a @then JOIN name y ON y.id = p.b WHERE p.a = ? AND p.b = ?",
            pairs,
        )

        def finish() -> dict[Pair, int]:
            rows = fetch()
            if moved_ids := [id_ for _, _, id_, moved in rows if moved]:
                self.update_pair_targets(moved_ids)
            return {(a, b): id_ for a, b, id_, _ in rows}

        return finish

    def find_targets(self, names: Iterable[int], pairs: Iterable[int]) -> tuple[set[int], set[int]]:
        """The keys whose profiles include these names and pairs."""
        targets = self.db.execute_fetchall(
            "SELECT DISTINCT n.target FROM @list(?, j) @then JOIN name n ON n.id = j.value", (id_list(names),)
        )
        target_pairs = self.db.execute_fetchall(
            "SELECT DISTINCT p.target FROM @list(?, j) @then JOIN pair p ON p.id = j.value WHERE p.target > 0",
            (id_list(pairs),),
        )
        return {row[0] for row in targets}, {row[0] for row in target_pairs}

    @reading
    def resolve_aliases(self, space: int, names: Collection[str]) -> dict[str, str]:
        """The final targets of these names, and of keys of parts. Raises InvalidQuestion for a circle of aliases."""
        assigned = {name: assigned_name(name) for name in names}
        rows = self.db.execute_fetchall(
            "WITH RECURSIVE walk (begun, at) AS"
            " (SELECT value @binary, value @binary FROM @list(?1)"
            " UNION SELECT w.begun, a.target FROM walk w @then JOIN alias a ON a.space = ?2 AND a.name = w.at)"
            " SELECT begun, at FROM walk"
            " WHERE NOT EXISTS (SELECT 1 FROM alias a WHERE a.space = ?2 AND a.name = walk.at)",
            (text_list(set(assigned.values())), space),
        )
        ends: dict[str, str] = dict(rows)
        for name in assigned.values():
            if name not in ends:
                raise InvalidQuestion(
                    f"The aliases of “{name}” form a circle.", hint="Remove one of them with unmerge."
                )
        return {name: ends[each] for name, each in assigned.items()}

    def resolve_manual_aliases(self, space: int, names: Collection[str]) -> dict[str, str]:
        """The final targets of those names that have an alias made by hand."""
        rows = self.db.execute_fetchall(
            "WITH RECURSIVE walk (begun, at) AS"
            " (SELECT value @binary, value @binary FROM @list(?1)"
            " UNION SELECT w.begun, a.target FROM walk w"
            " @then JOIN alias a ON a.space = ?2 AND a.name = w.at AND a.reason = '')"
            " SELECT begun, at FROM walk WHERE begun <> at"
            " AND NOT EXISTS (SELECT 1 FROM alias a WHERE a.space = ?2 AND a.name = walk.at AND a.reason = '')",
            (text_list(names), space),
        )
        return dict(map(tuple, rows))

    def find_aliased_names(self, space: int, names: Collection[str]) -> set[str]:
        """The names themselves, and all names and keys of parts that lead through them."""
        rows = self.db.execute_fetchall(
            "WITH RECURSIVE led (name) AS (SELECT value @binary FROM @list(?2)"
            " UNION SELECT a.name FROM led @then JOIN alias a ON a.space = ?1 AND a.target = led.name)"
            " SELECT name FROM led",
            (space, text_list(names)),
        )
        led = {row[0] for row in rows}
        splits = self.db.execute_fetchall(
            "SELECT x.name, x.part FROM @list(?, j) @then JOIN name_split x ON x.space = ? AND x.part = j.value",
            (text_list(led), space),
        )
        return led | {part_key(name, part) for name, part in splits}

    def update_name_targets(self, space: int, names: Collection[str]) -> None:
        """Point these names and their pairs at the current targets of the space's aliases."""
        ends = self.resolve_aliases(space, names)
        self._insert_names(space, {*ends, *ends.values()})
        self.db.executemany(
            "UPDATE name SET target = (SELECT t.id FROM name t WHERE t.space = ?1 AND t.canonical = ?2)"
            " WHERE space = ?1 AND canonical = ?3",
            [(space, end, name) for name, end in ends.items()],
        )
        touching = self.db.execute_fetchall(
            "SELECT p.id FROM @list(?2, j) @then JOIN name n ON n.space = ?1 AND n.canonical = j.value"
            " @then JOIN pair p ON p.a = n.id OR p.b = n.id",
            (space, text_list(ends)),
        )
        self.update_pair_targets({row[0] for row in touching})

    def update_pair_targets(self, pairs: Collection[int]) -> None:
        """Point pairs at the pair of their ends' targets; 0 if both ends have the same target."""
        rows = self.db.execute_fetchall(
            "SELECT p.id, p.space, x.target, y.target FROM @list(?, j) @then JOIN pair p ON p.id = j.value"
            " @then JOIN name x ON x.id = p.a @then JOIN name y ON y.id = p.b",
            (id_list(pairs),),
        )
        for id_, space, x, y in rows:
            a, b = min(x, y), max(x, y)
            if a == b:
                self.db.execute("UPDATE pair SET target = 0 WHERE id = ?", (id_,))
                continue
            self.db.execute(_INSERT_PAIR, (space, a, b))
            self.db.execute(
                "UPDATE pair SET target = (SELECT t.id FROM pair t WHERE t.a = ? AND t.b = ?) WHERE id = ?", (a, b, id_)
            )

    def delete_unused_names(self, names: Collection[int], pairs: Collection[int]) -> None:
        """Delete names without facts and aliases, and the profiles of names and pairs without facts.

        Pairs hold no text; they remain until the graph has dropped them (`delete_unused_pairs`).
        """
        has_facts = "EXISTS (SELECT 1 FROM pair p JOIN link f ON f.pair = p.id WHERE p.target = relation.id)"
        self.db.execute(
            f"DELETE FROM relation WHERE id IN (SELECT value FROM @list(?)) AND NOT {has_facts}",
            (id_list(pairs),),
        )
        gone = self._delete_unused_names(names)
        self._delete_unused_names({target for id_, target in gone if target != id_})  # parts without facts of their own

    def _delete_unused_names(self, names: Collection[int]) -> list[tuple[int, int]]:
        """Delete those of the names without facts and aliases; returns them with their targets."""
        if not names:
            return []
        deleted = self.db.execute_fetchall(
            "DELETE FROM name WHERE id IN (SELECT value FROM @list(?))"
            " AND NOT EXISTS (SELECT 1 FROM mention f WHERE f.name = name.id)"
            " AND NOT EXISTS (SELECT 1 FROM name n WHERE n.target = name.id AND n.id <> name.id)"
            " AND NOT EXISTS (SELECT 1 FROM alias x WHERE x.space = name.space"
            " AND name.canonical IN (x.name, x.target))"
            " RETURNING id, target",
            (id_list(names),),
        )
        self.db.executemany("DELETE FROM entity WHERE id = ?", [(row[0],) for row in deleted])
        return [(id_, target) for id_, target in deleted]

    def delete_unused_pairs(self, pairs: Collection[int]) -> None:
        """Delete pairs without facts that are no target of another pair."""
        self.db.execute(
            "DELETE FROM pair WHERE id IN (SELECT value FROM @list(?))"
            " AND NOT EXISTS (SELECT 1 FROM link f WHERE f.pair = pair.id)"
            " AND NOT EXISTS (SELECT 1 FROM pair p WHERE p.target = pair.id AND p.id <> pair.id)",
            (id_list(pairs),),
        )

    @reading
    def load_space_names(self, ids: Collection[int]) -> tuple[str, ...]:
        """The names of spaces, in order."""
        rows = self.db.execute_fetchall(
            "SELECT name FROM space WHERE id IN (SELECT value FROM @list(?)) ORDER BY name", (id_list(sorted(ids)),)
        )
        return tuple(row[0] for row in rows)


class Invalidation(Topic[Place_co]):
    """Marks what changed facts and aliases make outdated."""

    def invalidate_keys(self, names: Collection[int], pairs: Collection[int], generation: int) -> None:
        """Mark names and pairs with changed facts stale; delete cached answers that used them, and unused keys.

        Deleted text leaves the profiles in the same transaction.
        """
        target_names, target_pairs = Names(self.db).find_targets(names, pairs)
        every_name, every_pair = target_names | set(names), target_pairs | set(pairs)
        StaleKeys(self.db).add(KeyKind.NAME, every_name, generation)
        StaleKeys(self.db).add(KeyKind.PAIR, every_pair, generation)
        self.delete_cached_answers(KeyKind.NAME, every_name)
        self.delete_cached_answers(KeyKind.PAIR, every_pair)
        Names(self.db).delete_unused_names(every_name, every_pair)
        self.clear_profiles(every_name, every_pair)
        Settings(self.db).set("last_revision", generation)

    def delete_cached_answers(self, kind: KeyKind, ids: Collection[int]) -> None:
        """Delete cached answers that used any of these rows."""
        self.db.execute(
            "DELETE FROM answer_cache WHERE key IN (SELECT u.key FROM @list(?, j)"
            " @then JOIN answer_cache_source u ON u.kind = ? AND u.id = j.value)",
            (id_list(ids), kind),
        )

    def clear_profiles(self, names: Collection[int], pairs: Collection[int]) -> None:
        """Empty the profiles of stale keys; an entity keeps name and type only if remaining facts state them.

        Readers never see an empty profile: they merge the facts of a stale key when they need it.
        """
        self.db.execute(
            "UPDATE entity SET description = '', embedding_hash = NULL,"
            f" type = CASE WHEN {_STATED.format('type', 'entity.type')} THEN type ELSE '' END,"
            f" name = CASE WHEN {_STATED.format('surface', 'entity.name')} THEN name"
            " ELSE (SELECT canonical FROM name WHERE id = entity.id) END"
            " WHERE id IN (SELECT value FROM @list(?)) AND id IN (SELECT id FROM name)",
            (id_list(names),),
        )
        self.db.execute(
            "UPDATE relation SET description = '', keywords = '', embedding_hash = NULL"
            " WHERE id IN (SELECT value FROM @list(?))",
            (id_list(pairs),),
        )
