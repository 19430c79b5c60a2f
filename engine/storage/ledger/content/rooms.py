"""Rooms and their spaces, and moving a document to another space.

The space of a moved room holds for all its documents and corrections.
"""

from __future__ import annotations

from engine.storage.ledger.names.invalidation import Invalidation
from engine.storage.ledger.names.joins import Joins
from engine.storage.ledger.names.names import Names
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.settings import Settings
from engine.storage.ledger.work.stale_keys import StaleKeys
from engine.storage.sql.topic import Place_co, Topic, writing


class Rooms(Topic[Place_co]):
    """Spaces and rooms by id, and where documents belong."""

    @writing
    def get_or_create_id(self, table: str, name: str) -> int:
        """The id of a space or a room."""
        rows = self.db.execute_fetchall(f"SELECT id FROM {table} WHERE name = ?", (name,))
        if not rows:
            rows = self.db.execute_fetchall(f"INSERT INTO {table} (name) VALUES (?) RETURNING id", (name,))
        return int(rows[0][0])

    def resolve_location(self, room: str, space: str) -> tuple[int, int]:
        """The ids of a space and a room; a moved room overrides the caller's space, which may be outdated."""
        rows = self.db.execute_fetchall("SELECT id, space FROM room WHERE name = ?", (room,))
        for id_, settled in rows:
            return (self.get_or_create_id("space", space) if settled is None else int(settled)), int(id_)
        return self.get_or_create_id("space", space), self.get_or_create_id("room", room)

    def set_room_space(self, room: int, space: int | None) -> None:
        """Set the space of a room; None makes the callers' space count again."""
        self.db.execute("UPDATE room SET space = ? WHERE id = ?", (space, room))

    def move_to_space(self, document: int, space: int) -> None:
        """Move a document with its chunks, mentions and links; mark the keys of both spaces stale."""
        generation = Settings(self.db).next_generation()
        self.db.execute("UPDATE document SET space = ? WHERE id = ?", (space, document))
        chunks = self.db.execute_fetchall(
            "UPDATE chunk SET space = ? WHERE document = ? RETURNING id", (space, document)
        )
        ids = [row[0] for row in chunks]
        StaleKeys(self.db).add(KeyKind.CHUNK, ids, generation)
        Invalidation(self.db).delete_cached_answers(KeyKind.CHUNK, ids)
        mentions = self.db.execute_fetchall(
            "SELECT m.chunk, m.number, m.name, n.canonical FROM chunk c JOIN mention m ON m.chunk = c.id"
            " JOIN name n ON n.id = m.name WHERE c.document = ?",
            (document,),
        )
        links = self.db.execute_fetchall(
            "SELECT f.chunk, f.number, f.pair, x.canonical, y.canonical FROM chunk c JOIN link f ON f.chunk = c.id"
            " JOIN pair p ON p.id = f.pair JOIN name x ON x.id = p.a JOIN name y ON y.id = p.b WHERE c.document = ?",
            (document,),
        )
        names = Names(self.db).intern_names(space, {name for *_, name in mentions})
        ends = [(min(names[a], names[b]), max(names[a], names[b])) for *_, a, b in links]
        pairs = Names(self.db).intern_pairs(space, set(ends))
        self.db.executemany(
            "UPDATE mention SET name = ? WHERE chunk = ? AND number = ?",
            [(names[name], chunk, number) for chunk, number, _, name in mentions],
        )
        self.db.executemany(
            "UPDATE link SET pair = ? WHERE chunk = ? AND number = ?",
            [(pairs[pair], chunk, number) for pair, (chunk, number, *_) in zip(ends, links, strict=True)],
        )
        moved = {name for _, _, name, _ in mentions} | set(names.values())
        Joins(self.db).refresh_by_id(moved, Joins(self.db).move_definitions(ids, space))
        Invalidation(self.db).invalidate_keys(
            {name for _, _, name, _ in mentions}, {pair for _, _, pair, *_ in links}, generation
        )
        StaleKeys(self.db).add_targets(names.values(), pairs.values(), generation)
