"""Stale keys, which must be projected again, and claims: which process works on which of them, in fair turns.

The only process on files claims without a trace: nobody else could take its work. Work is taken from all spaces that
have some, so that the backlog of one holds up no other.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeVar

from engine.storage.ledger.records.projection import ClaimedKeys, KeyKind, SpaceTurn, StaleKey
from engine.storage.ledger.work.settings import CHANGED_AT, Settings
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.storage.sql.fragments import id_list

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from engine.storage.sql.connection import Connection


_MARK_AGAIN = (
    "ON CONFLICT (kind, id) DO UPDATE SET generation = excluded.generation, attempts = 0, retry_at = 0,"
    " space = excluded.space"
)
MAX_SPACES = 64  # that a batch of keys comes from
_FREE = "on_cooldown = 0 AND retry_at <= ? AND (claimed_by IS NULL OR claimed_by = ?)"
_CHUNKS, _PROFILES = "kind = 0", "kind > 0"
_INDEXES = {_CHUNKS: "stale_key_chunk", _PROFILES: "stale_key_profile"}
Item = TypeVar("Item")
ALL_SPACES = -1  # before the first space


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
        return self._find_together({kind: ids})

    def _find_together(self, ids: Mapping[KeyKind, Iterable[int]]) -> list[StaleKey]:
        sql = "SELECT s.id, s.generation FROM @list(?, j) @then JOIN stale_key s ON s.kind = ? AND s.id = j.value"
        sent = {
            kind: self.db.fetch_later(sql, (id_list(asked), kind)) for kind, each in ids.items() if (asked := [*each])
        }
        return [StaleKey(kind, id_, generation) for kind, fetch in sent.items() for id_, generation in fetch()]

    def find_changed(self, marks: Collection[StaleKey]) -> list[StaleKey]:
        """Those of the stale keys that changed again since they were loaded."""
        known = {(mark.kind, mark.id): mark.generation for mark in marks}
        found = self._find_together({kind: [mark.id for mark in marks if mark.kind == kind] for kind in KeyKind})
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


class Claims(Topic[Place_co]):
    """Which process works on which stale keys."""

    @reading
    def has_due_keys(self, kind: KeyKind, now: float, process: int) -> bool:
        """Whether chunks, or else names or pairs, are due that no other process has claimed."""
        queue = _CHUNKS if kind == KeyKind.CHUNK else _PROFILES
        sql = f"SELECT 1 FROM stale_key WHERE {queue} AND {_FREE} LIMIT 1"
        rows = self.db.execute_fetchall(sql, (now, process))
        return bool(rows)

    @writing
    def claim_chunks(self, limit: int, now: float, turn: SpaceTurn, skip: Collection[StaleKey] = ()) -> ClaimedKeys:
        """Claim stale chunks that are due except `skip`, the oldest of each space."""
        chosen = self._choose_keys(_CHUNKS, limit, now, turn, skip)
        self._claim(chosen.keys, turn.process)
        return chosen

    @writing
    def claim_profiles(self, limit: int, now: float, turn: SpaceTurn, skip: Collection[StaleKey] = ()) -> ClaimedKeys:
        """Claim stale names and pairs that are due except `skip`, the oldest of each space; names come first.

        Names at the ends of these pairs that have no profile are claimed, too. A pair is left for later if another
        process has one of them.
        """
        keys, last_space = self._choose_keys(_PROFILES, limit, now, turn, skip)
        lacking = self._find_lacking_ends([key.id for key in keys if key.kind == KeyKind.PAIR])
        ends = self._mark_stale({end for _, end in lacking}, turn.process)
        taken = {end for _, end in lacking} - {key.id for key in ends}
        left = {pair for pair, end in lacking if end in taken}
        kept = dict.fromkeys(key for key in keys if key.kind != KeyKind.PAIR or key.id not in left)
        self._claim(kept | dict.fromkeys(ends), turn.process)
        return ClaimedKeys((*kept, *(key for key in ends if key not in kept)), last_space)

    @writing
    def release_keys(self, kind: KeyKind, process: int) -> None:
        """Free the chunks, or else the names and pairs, that this process has claimed."""
        queue = _CHUNKS if kind == KeyKind.CHUNK else _PROFILES
        self.db.execute(f"UPDATE stale_key SET claimed_by = NULL WHERE {queue} AND claimed_by = ?", (process,))

    def _choose_keys(
        self, queue: str, limit: int, now: float, turn: SpaceTurn, skip: Collection[StaleKey]
    ) -> ClaimedKeys:
        """Due keys of a queue, the oldest of each space; last what a change of the embedder has made stale."""
        free: list[Any] = [now, turn.process]
        index = _INDEXES[queue]
        find_next = f"(SELECT MIN(space) FROM stale_key @use({index}) WHERE {queue} AND {_FREE} AND space > due.space)"
        spaces = list_due_spaces(self.db, find_next, free, turn.after, min(limit, MAX_SPACES))
        parts: list[tuple[str, str, tuple[int, ...]]] = [(index, "", ())]
        if changed_at := Settings(self.db).get_int(CHANGED_AT):
            parts = [("stale_key_first_generation", "AND first_generation > ?", (changed_at,)), *parts]

        def load(space: int, count: int) -> list[tuple[int, StaleKey]]:
            keys = list[StaleKey]()
            for part_index, condition, values in parts:
                taken = id_list(4 * key.id + key.kind for key in (*skip, *keys))
                rows = self.db.execute_fetchall(
                    f"SELECT kind, id, generation FROM stale_key @use({part_index}) WHERE {queue} AND {_FREE}"
                    f" AND space = ? {condition} AND 4 * id + kind NOT IN (SELECT value FROM @list(?))"
                    " ORDER BY kind, first_generation LIMIT ?",
                    (*free, space, *values, taken, count - len(keys)),
                )
                keys += (StaleKey(KeyKind(kind), id_, generation) for kind, id_, generation in rows)
            return [(space, key) for key in keys]

        found = share_out(spaces, limit, load)
        return ClaimedKeys(tuple(key for _, key in found), found[-1][0] if found else 0)

    def _claim(self, keys: Iterable[StaleKey], process: int) -> None:
        if not process:
            return
        by_kind = defaultdict[KeyKind, list[int]](list)
        for key in keys:
            by_kind[key.kind].append(key.id)
        for kind, ids in by_kind.items():
            self.db.execute(
                "UPDATE stale_key SET claimed_by = ? WHERE kind = ? AND id IN (SELECT value FROM @list(?))",
                (process, kind, id_list(ids)),
            )

    def _find_lacking_ends(self, pairs: Sequence[int]) -> list[tuple[int, int]]:
        """(pair, name at its end) of names without a profile."""
        if not pairs:
            return []
        rows = self.db.execute_fetchall(
            "SELECT p.id, n.id FROM @list(?, j) @then JOIN pair p ON p.id = j.value"
            " @then JOIN name n ON n.id IN (p.a, p.b) WHERE NOT EXISTS (SELECT 1 FROM entity e WHERE e.id = n.id)",
            (id_list(pairs),),
        )
        return [(pair, name) for pair, name in rows]

    def _mark_stale(self, names: Collection[int], process: int) -> list[StaleKey]:
        """Mark names stale that are not; returns those that no other process has claimed."""
        if not names:
            return []
        listed = id_list(sorted(names))
        self.db.execute(
            "INSERT INTO stale_key (kind, id, space, first_generation, generation)"
            " SELECT 1, n.id, n.space, ?2, ?2 FROM @list(?1, j) @then JOIN name n ON n.id = j.value WHERE true"
            " ON CONFLICT DO NOTHING",
            (listed, Settings(self.db).current_generation()),
        )
        rows = self.db.execute_fetchall(
            "SELECT s.id, s.generation FROM @list(?, j) @then JOIN stale_key s ON s.kind = 1 AND s.id = j.value"
            " WHERE s.claimed_by IS NULL OR s.claimed_by = ?",
            (listed, process),
        )
        return [StaleKey(KeyKind.NAME, id_, generation) for id_, generation in rows]


def list_due_spaces(db: Connection, find_next: str, parameters: Sequence[object], after: int, limit: int) -> list[int]:
    """At most `limit` spaces with work, in the order of their numbers: those after the space `after` come first.

    `find_next`: an SQL expression, the first space with work after the space `due.space`; it uses the `parameters`.
    """
    sql = (
        f"WITH RECURSIVE due (space, number) AS (SELECT CAST(? AS BIGINT), 0 UNION ALL SELECT {find_next},"
        " number + 1 FROM due WHERE due.space IS NOT NULL AND number < ?)"
        " SELECT space FROM due WHERE number > 0 AND space IS NOT NULL"
    )
    sent = [db.fetch_later(sql, (start, *parameters, limit)) for start in {after: None, ALL_SPACES: None}]
    later, *first = [[row[0] for row in fetch()] for fetch in sent]
    return [*later, *(space for spaces in first for space in spaces if space <= after)][:limit]


def share_out(spaces: Sequence[int], limit: int, load: Callable[[int, int], list[Item]], least: int = 1) -> list[Item]:
    """About `limit` items, the same number of each space as far as it has so many; a space may have `least` ones.

    `load` gives the first items of a space, as many as asked for.
    """
    taken, shares, left = dict[int, list[Item]](), dict[int, int](), limit
    for place, space in enumerate(spaces):
        if left > 0:
            shares[space] = max(-(-left // (len(spaces) - place)), min(limit, least))
            taken[space] = load(space, shares[space])
            left -= len(taken[space])
    for space, share in shares.items():
        if left > 0 and len(taken[space]) == share:
            taken[space] = load(space, share + left)
            left -= len(taken[space]) - share
    return [item for items in taken.values() for item in items]
