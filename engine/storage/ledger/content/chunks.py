"""Chunks of documents, compared by content: unchanged chunks are neither embedded nor extracted again."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from engine.storage.ledger.content.open_vectors import inherit_vectors, load_vectors_by_text
from engine.storage.ledger.facts import delete_chunks
from engine.storage.ledger.invalidation import invalidate_keys
from engine.storage.ledger.joins.refresh import refresh_joins_by_id
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.stale_keys import add_stale_keys, next_generation
from engine.storage.sql.lists import id_list, text_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.models import Chunk
    from engine.storage.sql.connection import Connection

    Passages = Mapping[str, tuple[int, int | None]]  # id and time of passages, by key


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


async def insert_chunks(
    db: Connection, document: DocumentPlace, chunks: Sequence[Chunk], passages: Passages, generation: int
) -> None:
    """Insert the chunks of a new document with these passages, and mark them stale."""
    placed = _place_chunks(document.key, document.time, chunks, passages)
    ids = await _insert_rows(db, document, placed)
    await add_stale_keys(db, KeyKind.CHUNK, ids.values(), generation)
    await _insert_pieces(db, _list_pieces(placed, ids, passages))


async def replace_chunks(
    db: Connection,
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
    [(space, room)] = await db.execute_fetchall("SELECT space, room FROM document WHERE id = ?", (id_,))
    passages = await _load_passages(db, id_, chunks)
    before = {
        key: (chunk, ordinal, time, first)
        for chunk, key, ordinal, time, first in await db.execute_fetchall(
            "SELECT id, key, ordinal, time, first_time FROM chunk WHERE document = ? AND ordinal >= ? AND ordinal < ?",
            (id_, *span),
        )
    }
    placed = _place_chunks(name, dated, chunks, passages, span.first)
    removed_ids = {before[key][0] for key in before.keys() - {each.key for each in placed}}
    former = await load_vectors_by_text(db, removed_ids)
    await delete_chunks(db, removed_ids, removed=removed)
    if span is not ALL_CHUNKS and len(placed) != span.stop - span.first:
        await db.execute(
            "UPDATE chunk SET ordinal = ordinal + ? WHERE document = ? AND ordinal >= ?",
            (len(placed) - (span.stop - span.first), id_, span.stop),
        )
    for each in placed:
        if each.key in before:
            await _update_position(db, before[each.key], each.ordinal, each.time, each.first_time)
    fresh = [each for each in placed if each.key not in before]
    ids = await _insert_rows(db, DocumentPlace(id_, name, dated, space, room), fresh)
    for each in fresh if former else ():
        await inherit_vectors(db, ids[each.key], each.chunk.text, former)
    if fresh:
        await add_stale_keys(db, KeyKind.CHUNK, ids.values(), await next_generation(db))
    ids |= {each.key: before[each.key][0] for each in placed if each.key in before}
    await _replace_pieces(db, list(ids.values()), _list_pieces(placed, ids, passages))
    return bool(removed_ids or fresh)


def _place_chunks(
    document: str, dated: int | None, chunks: Sequence[Chunk], passages: Passages, first: int = 0
) -> list[_PlacedChunk]:
    """The chunks of a document with its key and time, from the ordinal `first` on."""
    placed = []
    for ordinal, (key, chunk) in enumerate(chunks_by_key(document, chunks).items(), first):
        times = [passages[piece.passage][1] for piece in chunk.pieces]
        latest = max((each or dated or 0 for each in times), default=dated or 0)
        placed.append(_PlacedChunk(key, chunk, ordinal, latest, _earliest_time(dated, times)))
    return placed


async def _insert_rows(db: Connection, document: DocumentPlace, placed: Sequence[_PlacedChunk]) -> dict[str, int]:
    """Insert chunks; returns their ids by key."""
    rows = await db.fetch_each(
        "INSERT INTO chunk (key, document, space, room, ordinal, tokens, time, first_time, text, text_hash)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key, id",
        [
            (key, document.id, document.space, document.room, ordinal, *content, _text_hash(chunk.text))
            for key, chunk, ordinal, time, first in placed
            for content in [(chunk.tokens, time, first, chunk.text)]
        ],
    )
    return dict(map(tuple, rows))


def _list_pieces(placed: Iterable[_PlacedChunk], ids: Mapping[str, int], passages: Passages) -> set[tuple[int, ...]]:
    """The rows of `chunk_passage`."""
    return {
        (ids[each.key], ordinal, passages[piece.passage][0], piece.start, piece.stop)
        for each in placed
        for ordinal, piece in enumerate(each.chunk.pieces)
    }


async def has_repeated_text(db: Connection, document: int, chunks: Sequence[Chunk], span: ChunkRange) -> bool:
    """Whether another chunk of the document has a text of the range, old or new, so that keys must change."""
    before = await db.execute_fetchall(
        "SELECT text_hash FROM chunk WHERE document = ? AND ordinal >= ? AND ordinal < ?", (document, *span)
    )
    for text_hash in {*(row[0] for row in before), *(_text_hash(chunk.text) for chunk in chunks)}:
        others = await db.execute_fetchall(
            "SELECT 1 FROM chunk WHERE text_hash = ? AND document = ? AND (ordinal < ? OR ordinal >= ?) LIMIT 1",
            (text_hash, document, *span),
        )
        if list(others):
            return True
    return False


async def _load_passages(db: Connection, document: int, chunks: Sequence[Chunk]) -> Passages:
    """Id and time of these chunks' passages, by key."""
    keys = list({piece.passage for chunk in chunks for piece in chunk.pieces})
    rows = await db.execute_fetchall(
        "SELECT p.key, p.id, p.time FROM json_each(?) j CROSS JOIN passage p ON p.document = ? AND p.key = j.value",
        (text_list(keys), document),
    )
    return {key: (id_, time) for key, id_, time in rows}


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


async def _update_position(
    db: Connection, before: tuple[int, int, int, int], ordinal: int, time: int, first: int
) -> None:
    chunk, old_ordinal, old_time, old_first = before
    if first != old_first:
        await db.execute("UPDATE chunk SET first_time = ? WHERE id = ?", (first, chunk))
    if ordinal != old_ordinal:
        await db.execute("UPDATE chunk SET ordinal = ? WHERE id = ?", (ordinal, chunk))
    if time != old_time:
        await db.execute("UPDATE chunk SET time = ? WHERE id = ?", (time, chunk))
        rows = await db.execute_fetchall("UPDATE mention SET time = ? WHERE chunk = ? RETURNING name", (time, chunk))
        pairs = await db.execute_fetchall("UPDATE link SET time = ? WHERE chunk = ? RETURNING pair", (time, chunk))
        generation, names = await next_generation(db), {row[0] for row in rows}
        await refresh_joins_by_id(db, names, {})
        await invalidate_keys(db, names, {row[0] for row in pairs}, generation)


async def _replace_pieces(db: Connection, chunks: Sequence[int], after: set[tuple[int, ...]]) -> None:
    listed = (id_list(chunks),)
    before = set(
        map(
            tuple,
            await db.execute_fetchall(
                "SELECT p.chunk, p.ordinal, p.passage, p.start_offset, p.end_offset FROM json_each(?) j"
                " CROSS JOIN chunk_passage p ON p.chunk = j.value",
                listed,
            ),
        )
    )
    await db.executemany(
        "DELETE FROM chunk_passage WHERE chunk = ? AND ordinal = ?", [row[:2] for row in before - after]
    )
    await _insert_pieces(db, after - before)


async def _insert_pieces(db: Connection, pieces: Iterable[tuple[int, ...]]) -> None:
    await db.executemany("INSERT INTO chunk_passage VALUES (?, ?, ?, ?, ?)", sorted(pieces))
