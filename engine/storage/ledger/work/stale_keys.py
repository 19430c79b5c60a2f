"""Stale keys: what must be projected again, and since which generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.records.projection import KeyKind, StaleKey
from engine.storage.sql.lists import id_list
from engine.storage.sql.topic import Place_co, Topic, reading, writing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


_MARK_AGAIN = (
    "ON CONFLICT (kind, id) DO UPDATE SET generation = excluded.generation, attempts = 0, retry_at = 0,"
    " space = excluded.space"
)


class StaleKeys(Topic[Place_co]):
    """Marks of what must be projected again."""

    @writing
    def add(self, kind: KeyKind, ids: Iterable[int], generation: int) -> None:
        """Mark these keys stale; one that a process has claimed stays claimed."""
        if listed := sorted(set(ids)):
            self.db.execute(
                "INSERT INTO stale_key (kind, id, space, first_generation, generation)"
                " SELECT ?1, j.value, COALESCE(k.space, 0), ?2, ?2 FROM @list(?3, j)"
                f" LEFT JOIN {kind.name.lower()} k ON k.id = j.value WHERE true"
                f" {_MARK_AGAIN}",
                (kind, generation, id_list(listed)),
            )

    def add_targets(self, names: Iterable[int], pairs: Iterable[int], generation: int) -> None:
        """Mark the keys stale whose profiles include these names and pairs; a target is in the space of its names."""
        for kind, ids in ((KeyKind.NAME, names), (KeyKind.PAIR, pairs)):
            if listed := sorted(set(ids)):
                self.db.execute(
                    "INSERT INTO stale_key (kind, id, space, first_generation, generation)"
                    f" SELECT ?1, k.target, MIN(k.space), ?2, ?2 FROM @list(?3, j)"
                    f" @then JOIN {kind.name.lower()} k ON k.id = j.value WHERE k.target > 0 GROUP BY k.target"
                    f" {_MARK_AGAIN}",
                    (kind, generation, id_list(listed)),
                )

    @writing
    def remove(self, marks: Collection[StaleKey]) -> None:
        """Remove these stale keys; those that a newer change has marked again remain, and are free."""
        self.db.executemany(
            "DELETE FROM stale_key WHERE kind = ? AND id = ? AND generation = ?",
            [(mark.kind, mark.id, mark.generation) for mark in marks],
        )
        self.db.executemany(
            "UPDATE stale_key SET first_generation = @greatest(first_generation, ?), claimed_by = NULL"
            " WHERE kind = ? AND id = ?",
            [(mark.generation + 1, mark.kind, mark.id) for mark in marks],
        )

    @reading
    def find(self, kind: KeyKind, ids: Iterable[int]) -> list[StaleKey]:
        """The stale ones among these keys."""
        rows = self.db.execute_fetchall(
            "SELECT s.id, s.generation FROM @list(?, j) @then JOIN stale_key s ON s.kind = ? AND s.id = j.value",
            (id_list(ids), kind),
        )
        return [StaleKey(kind, id_, generation) for id_, generation in rows]

    def find_changed(self, marks: Collection[StaleKey]) -> list[StaleKey]:
        """Those of the stale keys that changed again since they were loaded."""
        known = {(mark.kind, mark.id): mark.generation for mark in marks}
        found = [key for kind in KeyKind for key in self.find(kind, [mark.id for mark in marks if mark.kind == kind])]
        return [key for key in found if key.generation > known[key.kind, key.id]]

    @writing
    def hold(self, marks: Collection[StaleKey]) -> None:
        """Hold keys that change often until the end of their quiet period."""
        self.db.executemany(
            "UPDATE stale_key SET on_cooldown = 1, claimed_by = NULL WHERE kind = ? AND id = ?",
            [(mark.kind, mark.id) for mark in marks],
        )

    @writing
    def release_held(self) -> None:
        """Make the keys held for a quiet period due."""
        self.db.execute("UPDATE stale_key SET on_cooldown = 0 WHERE on_cooldown = 1")

    @reading
    def list_all(self) -> list[tuple[KeyKind, int]]:
        """Every stale key."""
        return [(KeyKind(kind), id_) for kind, id_ in self.db.execute_fetchall("SELECT kind, id FROM stale_key")]

    @reading
    def count(self) -> int:
        """The number of stale keys."""
        [[number]] = self.db.execute_fetchall("SELECT COUNT(*) FROM stale_key")
        return int(number)

    @reading
    def find_first(self, *, held: bool = True) -> int | None:
        """The generation of the oldest change that is not projected; without held keys if `held` is False."""
        which = "" if held else " WHERE on_cooldown = 0"
        [[first]] = self.db.execute_fetchall(f"SELECT MIN(first_generation) FROM stale_key{which}")
        return None if first is None else int(first)
