"""Chunks of documents, compared by content: unchanged chunks are neither embedded nor extracted again.

A new message in a conversation does not embed the earlier ones of its chunk again.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from engine.storage.ledger.content.facts import Facts
from engine.storage.ledger.full_text.search_words import make_stems, save_languages
from engine.storage.ledger.names.joins import Joins
from engine.storage.ledger.names.names import Invalidation
from engine.storage.ledger.records.projection import KeyKind, PartialVectors
from engine.storage.ledger.work.claims import StaleKeys
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.storage.sql.fragments import id_list, text_list
from engine.storage.sql.ids import draw_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from engine.models import Chunk

    Passages = Mapping[str, tuple[int, int | None]]
    DrawIds = Callable[[], Sequence[int]]


class ChunkRange(NamedTuple):
    """Ordinals of chunks of a document, the stop excluded."""

    first: int
    stop: int


ALL_CHUNKS = ChunkRange(0, 2**62)


class DocumentPlace(NamedTuple):
    """A document: its id, key, time, space and room."""

    id: int
    key: str
    time: int | None
    space: int
    room: int


class _PlacedChunk(NamedTuple):
    """A chunk with its key and its position in the document, and the times of its latest and earliest passage."""

    key: str
    chunk: Chunk
    ordinal: int
    time: int
    first_time: int


class Chunks(Topic[Place_co]):
    """Chunks of documents, and vectors of growing ones."""

    def insert(
        self, document: DocumentPlace, chunks: Sequence[Chunk], passages: Passages, draw: DrawIds, generation: int
    ) -> None:
        """Insert the chunks of a new document with these passages, and mark them stale."""
        placed = _place_chunks(document.key, document.time, chunks, passages)
        ids = self._insert_rows(document, placed, draw)
        StaleKeys(self.db).add(KeyKind.CHUNK, ids.values(), generation)
        self._insert_pieces(_list_pieces(placed, ids, passages))

    def replace(
        self,
        document: tuple[int, str, int | None],
        chunks: Sequence[Chunk],
        span: ChunkRange = ALL_CHUNKS,
        *,
        removed: bool,
    ) -> bool:
        """Replace a range of chunks of a document (id, key, time); returns whether any was added or removed.

        Unchanged chunks keep id, vectors and extraction. `removed`: text was deleted, and not only split differently.
        """
        id_, name, dated = document
        [(space, room)] = self.db.execute_fetchall("SELECT space, room FROM document WHERE id = ?", (id_,))
        passages = self._load_passages(id_, chunks)
        before = {
            key: (chunk, ordinal, time, first)
            for chunk, key, ordinal, time, first in self.db.execute_fetchall(
                "SELECT id, key, ordinal, time, first_time FROM chunk"
                " WHERE document = ? AND ordinal >= ? AND ordinal < ?",
                (id_, *span),
            )
        }
        placed = _place_chunks(name, dated, chunks, passages, span.first)
        removed_ids = {before[key][0] for key in before.keys() - {chunk.key for chunk in placed}}
        former = self.load_vectors_by_text(removed_ids)
        Facts(self.db).delete_chunks(removed_ids, removed=removed)
        if span is not ALL_CHUNKS and len(placed) != span.stop - span.first:
            self.db.execute(
                "UPDATE chunk SET ordinal = ordinal + ? WHERE document = ? AND ordinal >= ?",
                (len(placed) - (span.stop - span.first), id_, span.stop),
            )
        for chunk in placed:
            if chunk.key in before:
                self._update_position(before[chunk.key], chunk.ordinal, chunk.time, chunk.first_time)
        fresh = [chunk for chunk in placed if chunk.key not in before]
        place = DocumentPlace(id_, name, dated, space, room)
        ids = self._insert_rows(place, fresh, draw_ids(self.db, "chunk", len(fresh)))
        for chunk in fresh if former else ():
            self.inherit_vectors(ids[chunk.key], chunk.chunk.text, former)
        if fresh:
            StaleKeys(self.db).add(KeyKind.CHUNK, ids.values(), Settings(self.db).next_generation())
        ids |= {chunk.key: before[chunk.key][0] for chunk in placed if chunk.key in before}
        self._replace_pieces(list(ids.values()), _list_pieces(placed, ids, passages))
        return bool(removed_ids or fresh)

    def _insert_rows(self, document: DocumentPlace, placed: Sequence[_PlacedChunk], draw: DrawIds) -> dict[str, int]:
        """Insert chunks; returns their ids by key."""
        chunks = [row.chunk for row in placed]
        stems = make_stems(self.db, [chunk.text for chunk in chunks], [chunk.stems for chunk in chunks])
        save_languages(self.db, stems)
        ids = {row.key: id_ for row, id_ in zip(placed, draw(), strict=True)}
        place = document.id, document.space, document.room
        self.db.executemany(
            "INSERT INTO chunk"
            " (id, key, document, space, room, ordinal, tokens, time, first_time, text, text_hash, stems)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (ids[key], key, *place, ordinal, chunk.tokens, time, first, chunk.text, _text_hash(chunk.text), terms)
                for (key, chunk, ordinal, time, first), terms in zip(placed, stems, strict=True)
            ],
        )
        return ids

    def has_repeated_text(self, document: int, chunks: Sequence[Chunk], span: ChunkRange) -> bool:
        """Whether another chunk of the document has a text of the range, old or new, so that keys must change."""
        before = self.db.execute_fetchall(
            "SELECT text_hash FROM chunk WHERE document = ? AND ordinal >= ? AND ordinal < ?", (document, *span)
        )
        for text_hash in {*(row[0] for row in before), *(_text_hash(chunk.text) for chunk in chunks)}:
            others = self.db.execute_fetchall(
                "SELECT 1 FROM chunk WHERE text_hash = ? AND document = ? AND (ordinal < ? OR ordinal >= ?) LIMIT 1",
                (text_hash, document, *span),
            )
            if list(others):
                return True
        return False

    def _load_passages(self, document: int, chunks: Sequence[Chunk]) -> Passages:
        """Id and time of these chunks' passages, by key."""
        keys = list({piece.passage for chunk in chunks for piece in chunk.pieces})
        rows = self.db.execute_fetchall(
            "SELECT p.key, p.id, p.time FROM @list(?, j) @then JOIN passage p ON p.document = ? AND p.key = j.value",
            (text_list(keys), document),
        )
        return {key: (id_, time) for key, id_, time in rows}

    def _update_position(self, before: tuple[int, int, int, int], ordinal: int, time: int, first: int) -> None:
        chunk, old_ordinal, old_time, old_first = before
        if first != old_first:
            self.db.execute("UPDATE chunk SET first_time = ? WHERE id = ?", (first, chunk))
        if ordinal != old_ordinal:
            self.db.execute("UPDATE chunk SET ordinal = ? WHERE id = ?", (ordinal, chunk))
        if time != old_time:
            self.db.execute("UPDATE chunk SET time = ? WHERE id = ?", (time, chunk))
            rows = self.db.execute_fetchall("UPDATE mention SET time = ? WHERE chunk = ? RETURNING name", (time, chunk))
            pairs = self.db.execute_fetchall("UPDATE link SET time = ? WHERE chunk = ? RETURNING pair", (time, chunk))
            generation, names = Settings(self.db).next_generation(), {row[0] for row in rows}
            Joins(self.db).refresh_by_id(names, {})
            Invalidation(self.db).invalidate_keys(names, {row[0] for row in pairs}, generation)

    def _replace_pieces(self, chunks: Sequence[int], after: set[tuple[int, ...]]) -> None:
        listed = (id_list(chunks),)
        before = set(
            map(
                tuple,
                self.db.execute_fetchall(
                    "SELECT p.chunk, p.ordinal, p.passage, p.start_offset, p.end_offset FROM @list(?, j)"
                    " @then JOIN chunk_passage p ON p.chunk = j.value",
                    listed,
                ),
            )
        )
        self.db.executemany(
            "DELETE FROM chunk_passage WHERE chunk = ? AND ordinal = ?", [row[:2] for row in before - after]
        )
        self._insert_pieces(after - before)

    def _insert_pieces(self, pieces: Iterable[tuple[int, ...]]) -> None:
        self.db.executemany("INSERT INTO chunk_passage VALUES (?, ?, ?, ?, ?)", sorted(pieces))

    @reading
    def load_partial_vectors(self, embedder: str, chunks: Collection[int]) -> dict[int, PartialVectors]:
        """The vectors of the embedded beginnings of these chunks."""
        rows = self.db.execute_fetchall(
            "SELECT v.chunk, v.embedder, v.covered_chars, v.embedded_at_once, v.parts, v.data FROM @list(?, j)"
            " @then JOIN open_chunk_vector v ON v.chunk = j.value AND v.embedder = ?",
            (id_list(chunks), embedder),
        )
        return {row[0]: PartialVectors(*tuple(row)[1:]) for row in rows}

    @writing
    def save_partial_vectors(self, partials: Mapping[int, PartialVectors]) -> None:
        """Save partial vectors of chunks that still exist."""
        self.db.executemany(
            "INSERT INTO open_chunk_vector (chunk, embedder, covered_chars, embedded_at_once, parts, data)"
            " SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM chunk WHERE id = ?1)"
            " ON CONFLICT (chunk, embedder) DO UPDATE SET covered_chars = excluded.covered_chars,"
            " embedded_at_once = excluded.embedded_at_once, parts = excluded.parts, data = excluded.data",
            [
                (chunk, each.embedder, each.covered_chars, bool(each.embedded_at_once), each.parts, each.data)
                for chunk, each in partials.items()
            ],
        )

    def load_vectors_by_text(self, chunks: Collection[int]) -> dict[str, list[PartialVectors]]:
        """Vectors of chunks about to be deleted, by text: a longer text may start with one of these."""
        found: dict[str, list[PartialVectors]] = {}
        if not chunks:
            return found
        listed = (id_list(chunks),)
        for text, *row in (
            *self.db.execute_fetchall(
                "SELECT c.text, v.embedder, LENGTH(c.text), true, v.parts, v.data FROM @list(?, j)"
                " @then JOIN chunk c ON c.id = j.value @then JOIN vector v ON v.text_hash = c.text_hash",
                listed,
            ),
            *self.db.execute_fetchall(
                "SELECT c.text, v.embedder, v.covered_chars, v.embedded_at_once, v.parts, v.data FROM @list(?, j)"
                " @then JOIN chunk c ON c.id = j.value @then JOIN open_chunk_vector v ON v.chunk = c.id",
                listed,
            ),
        ):
            found.setdefault(text, []).append(PartialVectors(*row))
        return found

    def inherit_vectors(self, chunk: int, text: str, former: Mapping[str, list[PartialVectors]]) -> None:
        """Give a chunk the vectors of the former chunk whose text it continues."""
        begun = max((former_text for former_text in former if text.startswith(f"{former_text}\n")), key=len, default="")
        for partial in former.get(begun, ()):
            self.save_partial_vectors({chunk: partial})

    def finish_conversation(self, document: int) -> None:
        """Embed the chunks of a closed conversation as wholes, unless their vectors were made at once."""
        self.db.execute(
            "INSERT INTO vector (embedder, text_hash, parts, data)"
            " SELECT v.embedder, c.text_hash, v.parts, v.data FROM chunk c"
            " @then JOIN open_chunk_vector v ON v.chunk = c.id WHERE c.document = ?"
            " AND v.embedded_at_once AND v.covered_chars = LENGTH(c.text) ON CONFLICT DO NOTHING",
            (document,),
        )
        pieces = self.db.execute_fetchall(
            "SELECT c.id FROM chunk c @then JOIN open_chunk_vector v ON v.chunk = c.id"
            " WHERE c.document = ? AND NOT (v.embedded_at_once AND v.covered_chars = LENGTH(c.text))",
            (document,),
        )
        self.db.execute(
            "DELETE FROM open_chunk_vector WHERE chunk IN (SELECT id FROM chunk WHERE document = ?)", (document,)
        )
        StaleKeys(self.db).add(KeyKind.CHUNK, [row[0] for row in pieces], Settings(self.db).next_generation())


def _place_chunks(
    document: str, dated: int | None, chunks: Sequence[Chunk], passages: Passages, first: int = 0
) -> list[_PlacedChunk]:
    """The chunks of a document with its key and time, from the ordinal `first` on."""
    placed = []
    for ordinal, (key, chunk) in enumerate(chunks_by_key(document, chunks).items(), first):
        times = [passages[piece.passage][1] for piece in chunk.pieces]
        latest = max((time or dated or 0 for time in times), default=dated or 0)
        placed.append(_PlacedChunk(key, chunk, ordinal, latest, _earliest_time(dated, times)))
    return placed


def _list_pieces(placed: Iterable[_PlacedChunk], ids: Mapping[str, int], passages: Passages) -> set[tuple[int, ...]]:
    """The rows of `chunk_passage`."""
    return {
        (ids[chunk.key], ordinal, passages[piece.passage][0], piece.start, piece.stop)
        for chunk in placed
        for ordinal, piece in enumerate(chunk.chunk.pieces)
    }


def chunks_by_key(document: str, chunks: Sequence[Chunk]) -> dict[str, Chunk]:
    """Chunks by key: the hash of document, text and occurrence."""
    seen: dict[str, int] = {}
    result = {}
    for chunk in chunks:
        occurrence = seen[chunk.text] = seen.get(chunk.text, 0) + 1
        digest = sha256("\0".join((document, str(occurrence), chunk.text)).encode()).hexdigest()
        result[digest[:32]] = chunk
    return result


def _earliest_time(dated: int | None, times: Iterable[int | None]) -> int:
    """The time of the earliest dated passage; 0 if none has a date."""
    known = (dated if time is None else time for time in times)
    return min((time for time in known if time is not None), default=0)


def _text_hash(text: str) -> bytes:
    return sha256(text.encode()).digest()
