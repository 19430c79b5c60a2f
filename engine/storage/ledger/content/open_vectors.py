"""Vectors of growing chunks: a new message in a conversation does not embed the earlier ones again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.records.projection import KeyKind, PartialVectors
from engine.storage.ledger.work.stale_keys import add_stale_keys, next_generation
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from engine.storage.sql.connection import Connection


async def load_partial_vectors(db: Connection, embedder: str, chunks: Collection[int]) -> dict[int, PartialVectors]:
    """The vectors of the embedded beginnings of these chunks."""
    rows = await db.execute_fetchall(
        "SELECT v.chunk, v.embedder, v.covered_chars, v.embedded_at_once, v.parts, v.data FROM json_each(?) j"
        " CROSS JOIN open_chunk_vector v ON v.chunk = j.value AND v.embedder = ?",
        (id_list(chunks), embedder),
    )
    return {row[0]: PartialVectors(*tuple(row)[1:]) for row in rows}


async def save_partial_vectors(db: Connection, partials: Mapping[int, PartialVectors]) -> None:
    """Save partial vectors of chunks that still exist."""
    await db.executemany(
        "INSERT INTO open_chunk_vector (chunk, embedder, covered_chars, embedded_at_once, parts, data)"
        " SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM chunk WHERE id = ?1)"
        " ON CONFLICT (chunk, embedder) DO UPDATE SET covered_chars = excluded.covered_chars,"
        " embedded_at_once = excluded.embedded_at_once, parts = excluded.parts, data = excluded.data",
        [
            (chunk, each.embedder, each.covered_chars, bool(each.embedded_at_once), each.parts, each.data)
            for chunk, each in partials.items()
        ],
    )


async def load_vectors_by_text(db: Connection, chunks: Collection[int]) -> dict[str, list[PartialVectors]]:
    """Vectors of chunks about to be deleted, by text: a longer text may start with one of these."""
    found: dict[str, list[PartialVectors]] = {}
    if not chunks:
        return found
    listed = (id_list(chunks),)
    for text, *row in (
        *await db.execute_fetchall(
            "SELECT c.text, v.embedder, LENGTH(c.text), true, v.parts, v.data FROM json_each(?) j"
            " CROSS JOIN chunk c ON c.id = j.value CROSS JOIN vector v ON v.text_hash = c.text_hash",
            listed,
        ),
        *await db.execute_fetchall(
            "SELECT c.text, v.embedder, v.covered_chars, v.embedded_at_once, v.parts, v.data FROM json_each(?) j"
            " CROSS JOIN chunk c ON c.id = j.value CROSS JOIN open_chunk_vector v ON v.chunk = c.id",
            listed,
        ),
    ):
        found.setdefault(text, []).append(PartialVectors(*row))
    return found


async def inherit_vectors(db: Connection, chunk: int, text: str, former: Mapping[str, list[PartialVectors]]) -> None:
    """Give a chunk the vectors of the former chunk whose text it continues."""
    begun = max((each for each in former if text.startswith(f"{each}\n")), key=len, default="")
    for partial in former.get(begun, ()):
        await save_partial_vectors(db, {chunk: partial})


async def finish_conversation(db: Connection, document: int) -> None:
    """Embed the chunks of a closed conversation as wholes, unless their vectors were made at once."""
    await db.execute(
        "INSERT INTO vector (embedder, text_hash, parts, data)"
        " SELECT v.embedder, c.text_hash, v.parts, v.data FROM chunk c"
        " CROSS JOIN open_chunk_vector v ON v.chunk = c.id WHERE c.document = ?"
        " AND v.embedded_at_once AND v.covered_chars = LENGTH(c.text) ON CONFLICT DO NOTHING",
        (document,),
    )
    pieces = await db.execute_fetchall(
        "SELECT c.id FROM chunk c CROSS JOIN open_chunk_vector v ON v.chunk = c.id"
        " WHERE c.document = ? AND NOT (v.embedded_at_once AND v.covered_chars = LENGTH(c.text))",
        (document,),
    )
    await db.execute(
        "DELETE FROM open_chunk_vector WHERE chunk IN (SELECT id FROM chunk WHERE document = ?)", (document,)
    )
    await add_stale_keys(db, KeyKind.CHUNK, [row[0] for row in pieces], await next_generation(db))
