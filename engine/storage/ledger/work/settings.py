"""Settings of the data directory, the numbers of changes, and which embedders its vectors are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.records.projection import KeyKind, VectorPlaces
from engine.storage.sql.database import Place_co, Topic, reading, writing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.storage.sql.connection import Connection


# Settings of the data directory.
EMBEDDER, PLACE, LANGUAGES = "embedder", "vectors_place", "languages"
CHUNK_MOVES = "chunk_moves"  # how often chunks were moved to another space or room
CHUNKS_REINDEXED = "chunks_reindexed"  # how often the words of chunks were indexed again
FORMER_EMBEDDER, FORMER_PLACE, CHANGED_AT = "former_embedder", "former_vectors_place", "embedder_changed_at"


class KnownSettings:
    """All settings, read at once in a transaction during which no other one changes any."""

    def __init__(self, db: Connection) -> None:
        self._load = db.fetch_later("SELECT key, value FROM meta")
        self._loaded: dict[str, str] | None = None
        self._changed = dict[str, str]()

    def get(self, key: str) -> str:
        """The present value, "" if there is none."""
        if key in self._changed:
            return self._changed[key]
        if self._loaded is None:
            self._loaded = {name: str(value) for name, value in self._load()}
        return self._loaded.get(key, "")

    def set(self, key: str, value: str) -> None:
        """Take note of a value that is written; "" for none."""
        self._changed[key] = value


def _find_known(db: Connection) -> KnownSettings | None:
    """All settings, if a connection has read them: inside a transaction of PostgreSQL that writes."""
    found: KnownSettings | None = getattr(db, "settings", None)
    return found


class Settings(Topic[Place_co]):
    """Settings of the data directory by key, and numbers of changes."""

    @writing
    def next_generation(self) -> int:
        """The number of this change, greater than all before it."""
        if _find_known(self.db) is not None:
            self.set("generation", following := self.current_generation() + 1)
            return following
        [[value]] = self.db.execute_fetchall(
            "INSERT INTO meta (key, value) VALUES ('generation', '1')"
            " ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(meta.value AS BIGINT) + 1 AS TEXT) RETURNING value"
        )
        return int(value)

    def count_chunk_move(self) -> None:
        """Note that chunks are in another space or room than before: see `full_text.fts5_index`."""
        self.set(CHUNK_MOVES, self.get_int(CHUNK_MOVES) + 1)

    def count_chunk_reindexing(self) -> None:
        """Note that chunks may be found by other words than before: see `full_text.word_counts`."""
        self.set(CHUNKS_REINDEXED, self.get_int(CHUNKS_REINDEXED) + 1)

    @reading
    def get(self, key: str) -> str:
        """A setting of the data directory, "" if there is none."""
        if (known := _find_known(self.db)) is not None:
            return known.get(key)
        rows = self.db.execute_fetchall("SELECT value FROM meta WHERE key = ?", (key,))
        return next((str(row[0]) for row in rows), "")

    @writing
    def set(self, key: str, value: str | int) -> None:
        """Save a setting of the data directory."""
        self.db.execute(
            "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, str(value)),
        )
        self._note(key, str(value))

    def delete(self, keys: Iterable[str]) -> None:
        """Delete settings of the data directory."""
        for key in keys:
            self.db.execute("DELETE FROM meta WHERE key = ?", (key,))
            self._note(key, "")

    def _note(self, key: str, value: str) -> None:
        if (known := _find_known(self.db)) is not None:
            known.set(key, value)

    def get_int(self, key: str) -> int:
        """A numeric setting of the data directory, 0 if there is none."""
        return int(self.get(key) or 0)

    @reading
    def current_generation(self) -> int:
        """The number of the last change."""
        return self.get_int("generation")


class Embedders(Topic[Place_co]):
    """The embedder of the data, and the change to another one."""

    @reading
    def load_places(self) -> VectorPlaces:
        """Where the vectors are."""
        settings = Settings(self.db)
        former = settings.get(FORMER_PLACE)
        return VectorPlaces(
            settings.get_int(PLACE),
            int(former) if former else None,
            settings.get(FORMER_EMBEDDER),
            settings.get_int(CHANGED_AT),
        )

    @writing
    def replace(self, name: str, *, reindex: bool) -> None:
        """Save the embedder's name and drop vectors of another one; `reindex` requests new vectors of everything."""
        self._save(name)
        if reindex:
            Settings(self.db).set("reindexing", 1)
            self.finish_change()

    @writing
    def record_languages(self, languages: Sequence[str]) -> None:
        """Save the languages that chose the embedder."""
        if Settings(self.db).get(LANGUAGES) != (listed := ",".join(languages)):
            Settings(self.db).set(LANGUAGES, listed)

    @writing
    def begin_change(self, name: str) -> None:
        """Have another embedder make all vectors in a new place; those of the present one stay until they are made.

        A change that is under way is begun again: what its embedder made is dropped.
        """
        settings, places = Settings(self.db), self.load_places()
        if places.former is None:
            settings.set(FORMER_PLACE, places.present)
            settings.set(FORMER_EMBEDDER, settings.get(EMBEDDER))
        settings.set(PLACE, places.present + 1)
        self._save(name)
        generation = settings.next_generation()
        settings.set(CHANGED_AT, generation)
        self.mark_all(generation)

    @writing
    def finish_change(self) -> None:
        """Record that no former vectors are left."""
        Settings(self.db).delete((FORMER_PLACE, FORMER_EMBEDDER, CHANGED_AT))

    @writing
    def drop_former(self) -> None:
        """Record that no former vectors can be searched, though the change is under way."""
        Settings(self.db).delete((FORMER_PLACE, FORMER_EMBEDDER))

    def mark_all(self, generation: int) -> None:
        """Mark every chunk, name and pair stale, without vectors."""
        self.db.execute("UPDATE entity SET embedding_hash = NULL")
        self.db.execute("UPDATE relation SET embedding_hash = NULL")
        for kind, table in ((KeyKind.CHUNK, "chunk"), (KeyKind.NAME, "name"), (KeyKind.PAIR, "pair")):
            self.db.execute(
                "INSERT INTO stale_key (kind, id, space, first_generation, generation)"
                f" SELECT ?1, id, space, ?2, ?2 FROM {table} WHERE true"
                " ON CONFLICT (kind, id) DO UPDATE SET generation = excluded.generation",
                (kind, generation),
            )

    def _save(self, name: str) -> None:
        settings = Settings(self.db)
        settings.set(EMBEDDER, name)
        if self.db.execute_fetchall("DELETE FROM vector WHERE embedder <> ? RETURNING parts", (name,)):
            settings.set("last_removal", settings.next_generation())
