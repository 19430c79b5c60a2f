"""Rooms and their spaces, and moving a document to another space.

The space of a moved room holds for all its documents and corrections.
"""

from __future__ import annotations

from engine.storage.ledger.names.joins import Joins
from engine.storage.ledger.names.names import Invalidation
from engine.storage.ledger.names.splits import Splits
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.claims import StaleKeys
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.database import Place_co, Topic, writing


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
        found = self.find_location(room, space)
        return found or (self.get_or_create_id("space", space), self.get_or_create_id("room", room))

    def find_location(self, room: str, space: str) -> tuple[int, int] | None:
        """As `resolve_location`, without creating any; None if there is none."""
        rows = self.db.execute_fetchall(
            "SELECT COALESCE(r.space, s.id), r.id FROM room r LEFT JOIN space s ON s.name = ? WHERE r.name = ?",
            (space, room),
        )
        return next(((int(found), int(id_)) for found, id_ in rows if found is not None), None)

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
        Settings(self.db).count_chunk_move()
        ids = [row[0] for row in chunks]
        StaleKeys(self.db).add(KeyKind.CHUNK, ids, generation)
        Invalidation(self.db).delete_cached_answers(KeyKind.CHUNK, ids)
        Splits(self.db).leave_space(document, space)
        moved = Splits(self.db).move_facts(space, Splits(self.db).load_document_facts(document))
        Joins(self.db).refresh_by_id(moved.left_names | moved.names, Joins(self.db).move_definitions(ids, space))
        Invalidation(self.db).invalidate_keys(moved.left_names, moved.left_pairs, generation)
        StaleKeys(self.db).add_targets(moved.names, moved.pairs, generation)
