"""Chunks of documents: content-compared upsert, so that what stays the same is neither embedded nor read again."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from engine.ledger.facts import drop_chunks, settle_keys
from engine.ledger.marks import Stale, mark, next_generation
from engine.ledger.times import stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.ledger.connection import Connection
    from engine.records import Chunk, Document


async def put_chunks(db: Connection, id_: int, document: Document, chunks: Sequence[Chunk]) -> bool:
    """Make a document's chunks these; says whether any came or went. What stays keeps its id, vectors and reading."""
    [(space, room)] = await db.execute_fetchall("SELECT space, room FROM document WHERE id = ?", (id_,))
    passages = {
        key: (passage, time)
        for passage, key, time in await db.execute_fetchall(
            "SELECT id, key, time FROM passage WHERE document = ?", (id_,)
        )
    }
    before = {
        key: (chunk, ordinal, time, first)
        for chunk, key, ordinal, time, first in await db.execute_fetchall(
            "SELECT id, key, ordinal, time, first FROM chunk WHERE document = ?", (id_,)
        )
    }
    after = keyed(document.key, chunks)
    gone = {chunk for key, (chunk, *_) in before.items() if key not in after}
    await drop_chunks(db, gone)
    base = stored(document.time) or 0
    ids: dict[str, int] = {}
    fresh = []
    for ordinal, (key, chunk) in enumerate(after.items()):
        time = max((passages[p.passage][1] or base for p in chunk.pieces), default=base)
        first = _first(document, [passages[p.passage][1] for p in chunk.pieces])
        if key in before:
            ids[key] = before[key][0]
            await _replace_in_time(db, before[key], ordinal, time, first)
            continue
        [[ids[key]]] = await db.execute_fetchall(
            "INSERT INTO chunk (key, document, space, room, ordinal, tokens, time, first, text, text_hash)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (key, id_, space, room, ordinal, chunk.tokens, time, first, chunk.text, _hash(chunk.text)),
        )
        fresh.append(ids[key])
    await mark(db, Stale.CHUNK, fresh, await next_generation(db))
    await _put_pieces(
        db,
        id_,
        [
            (ids[key], ordinal, passages[piece.passage][0], piece.start, piece.stop)
            for key, chunk in after.items()
            for ordinal, piece in enumerate(chunk.pieces)
        ],
    )
    return bool(gone or fresh)


def keyed(document: str, chunks: Sequence[Chunk]) -> dict[str, Chunk]:
    """Chunks by id: the hash of document, text and occurrence."""
    seen: dict[str, int] = {}
    result = {}
    for chunk in chunks:
        occurrence = seen[chunk.text] = seen.get(chunk.text, 0) + 1
        digest = sha256("\0".join((document, str(occurrence), chunk.text)).encode()).hexdigest()
        result[digest[:32]] = chunk
    return result


def _first(document: Document, times: Iterable[int | None]) -> int:
    """The time of the earliest dated passage; 0 if none is dated."""
    known = (stored(document.time) if time is None else time for time in times)
    return min((time for time in known if time is not None), default=0)


def _hash(text: str) -> bytes:
    return sha256(text.encode()).digest()


async def _replace_in_time(
    db: Connection, before: tuple[int, int, int, int], ordinal: int, time: int, first: int
) -> None:
    chunk, old_ordinal, old_time, old_first = before
    if first != old_first:
        await db.execute("UPDATE chunk SET first = ? WHERE id = ?", (first, chunk))
    if ordinal != old_ordinal:
        await db.execute("UPDATE chunk SET ordinal = ? WHERE id = ?", (ordinal, chunk))
    if time != old_time:
        await db.execute("UPDATE chunk SET time = ? WHERE id = ?", (time, chunk))
        names = await db.execute_fetchall("UPDATE mention SET time = ? WHERE chunk = ? RETURNING name", (time, chunk))
        pairs = await db.execute_fetchall("UPDATE link SET time = ? WHERE chunk = ? RETURNING pair", (time, chunk))
        generation = await next_generation(db)
        await settle_keys(db, {row[0] for row in names}, {row[0] for row in pairs}, generation)


async def _put_pieces(db: Connection, document: int, pieces: list[tuple[int, ...]]) -> None:
    before = set(
        await db.execute_fetchall(
            "SELECT p.chunk, p.ordinal, p.passage, p.start, p.stop FROM piece p"
            " JOIN chunk c ON c.id = p.chunk WHERE c.document = ?",
            (document,),
        )
    )
    after = set(pieces)
    await db.executemany("DELETE FROM piece WHERE chunk = ? AND ordinal = ?", [row[:2] for row in before - after])
    await db.executemany("INSERT INTO piece VALUES (?, ?, ?, ?, ?)", sorted(after - before))
