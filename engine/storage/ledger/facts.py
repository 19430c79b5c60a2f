"""Mentions and links: facts extracted from chunks, saved and deleted with them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from engine.knowledge.extraction_cleanup import clean_extraction
from engine.knowledge.merge import description_hash
from engine.models import Extraction, Link, Mention
from engine.storage.ledger.invalidation import delete_cached_answers, invalidate_keys
from engine.storage.ledger.joins.definitions import find_defined_keys, save_definitions
from engine.storage.ledger.joins.refresh import refresh_joins, refresh_joins_by_id
from engine.storage.ledger.names import intern_names, intern_pairs
from engine.storage.ledger.records.content import UnextractedChunk
from engine.storage.ledger.records.projection import KeyKind, SpaceTurn
from engine.storage.ledger.work.extraction_claims import free_text_clause, release_chunks
from engine.storage.ledger.work.stale_keys import add_stale_keys, add_stale_targets, next_generation
from engine.storage.ledger.work.turns import list_due_spaces, share_out
from engine.storage.ledger.work.work_queue import set_setting
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engine.knowledge.extraction_cleanup import ExtractedFacts
    from engine.storage.sql.connection import Connection

FIRST_TURN = SpaceTurn()
MAX_EXTRACTED_SPACES = 16  # whose chunks are listed at once, with their texts


async def save_extraction(db: Connection, chunk: int, key: bytes, extraction: Extraction) -> bool:
    """Save the facts of a chunk; returns False if the chunk is gone or was extracted before."""
    return chunk in await save_extractions(db, {chunk: (key, extraction)})


async def save_extractions(db: Connection, found: Mapping[int, tuple[bytes, Extraction]]) -> set[int]:
    """Save the facts of chunks, with their keys; returns the chunks that still exist and were not extracted before."""
    rows = list(
        await db.execute_fetchall(
            "SELECT c.id, c.document, c.space, c.time, c.text FROM json_each(?) j CROSS JOIN chunk c ON c.id = j.value"
            " WHERE c.extraction IS NULL",
            (id_list(sorted(found)),),
        )
    )
    if not rows:
        return set()
    generation = await next_generation(db)
    by_space = defaultdict[int, list[_ExtractedChunk]](list)
    for id_, _, space, time, text in rows:
        by_space[space].append(_ExtractedChunk(id_, time, text, clean_extraction(found[id_][1])))
    saved = [row[0] for row in rows]
    # A chunk given up by the embedder keeps its error.
    await db.executemany(
        "UPDATE chunk SET extraction = ?, error = CASE WHEN retry_at < 9e999 THEN '' ELSE error END,"
        " hint = CASE WHEN retry_at < 9e999 THEN '' ELSE hint END,"
        " retry_at = CASE WHEN retry_at < 9e999 THEN 0 ELSE retry_at END WHERE id = ?",
        [(found[id_][0], id_) for id_ in saved],
    )
    await release_chunks(db, saved)
    for space, chunks in by_space.items():
        await _save_facts(db, space, chunks, generation)
    await db.executemany(
        "UPDATE document SET generation = ? WHERE id = ?", [(generation, id_) for id_ in {row[1] for row in rows}]
    )
    return set(saved)


class _ExtractedChunk(NamedTuple):
    """A chunk of a space: its id, time and text, and its facts."""

    id: int
    time: int
    text: str
    facts: ExtractedFacts


async def _save_facts(db: Connection, space: int, chunks: Sequence[_ExtractedChunk], generation: int) -> None:
    """Save the facts of chunks of one space."""
    names = await intern_names(db, space, {name for chunk in chunks for name, _ in chunk.facts.mentions})
    links = [
        (chunk, number, (min(names[a], names[b]), max(names[a], names[b])), link)
        for chunk in chunks
        for number, (a, b, link) in enumerate(chunk.facts.links)
    ]
    pairs = await intern_pairs(db, space, {ends for _, _, ends, _ in links})
    await db.executemany(
        "INSERT INTO mention (chunk, number, name, time, hash, surface, type, description)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (chunk.id, number, names[name], chunk.time, description_hash(m.description), m.name, m.type, m.description)
            for chunk in chunks
            for number, (name, m) in enumerate(chunk.facts.mentions)
        ],
    )
    await db.executemany(
        "INSERT INTO link (chunk, number, pair, time, hash, keywords, description) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (chunk.id, number, pairs[ends], chunk.time, description_hash(x.description), x.keywords, x.description)
            for chunk, number, ends, x in links
        ],
    )
    defined = {key for chunk in chunks for key in await save_definitions(db, chunk.id, space, chunk.text)}
    await refresh_joins(db, space, names, defined)
    await add_stale_targets(db, names.values(), pairs.values(), generation)


async def find_extraction(db: Connection, keys: tuple[bytes, bytes], chunk: int) -> tuple[bytes, Extraction] | None:
    """Facts extracted from the same text by the same extractor, in the space of the chunk, with their key.

    Other spaces are left out: a saved extraction would reveal that they contain the text.
    """
    first = "SELECT id, extraction FROM chunk WHERE extraction = ? AND +space = (SELECT space FROM chunk WHERE id = ?)"
    rows = await db.execute_fetchall(
        f"SELECT * FROM ({first} LIMIT 1) x UNION ALL SELECT * FROM ({first} LIMIT 1) y",
        [each for key in keys for each in (key, chunk)],
    )
    by_key = {bytes(key): id_ for id_, key in rows}
    for key in keys:
        if key in by_key:
            return key, await _load_facts(db, by_key[key])
    return None


async def _load_facts(db: Connection, chunk: int) -> Extraction:
    mentions = await db.execute_fetchall(
        "SELECT surface, type, description FROM mention WHERE chunk = ? AND type <> '' ORDER BY number", (chunk,)
    )
    links = await db.execute_fetchall(
        "SELECT x.canonical, y.canonical, f.keywords, f.description FROM link f JOIN pair p ON p.id = f.pair"
        " JOIN name x ON x.id = p.a JOIN name y ON y.id = p.b WHERE f.chunk = ? ORDER BY f.number",
        (chunk,),
    )
    surfaces = await db.execute_fetchall(
        "SELECT n.canonical, m.surface FROM mention m JOIN name n ON n.id = m.name WHERE m.chunk = ?", (chunk,)
    )
    shown = {row[0]: row[1] for row in surfaces}
    return Extraction(
        tuple(Mention(*row) for row in mentions),
        tuple(Link(shown.get(a, a), shown.get(b, b), keywords, text) for a, b, keywords, text in links),
    )


async def delete_facts(db: Connection, chunks: Collection[int]) -> tuple[set[int], set[int]]:
    """Delete the facts of these chunks; returns the affected names and pairs. The chunks remain."""
    listed = (id_list(chunks),)
    names = {
        row[0]
        for row in await db.execute_fetchall(
            "DELETE FROM mention WHERE chunk IN (SELECT value FROM json_each(?)) RETURNING name", listed
        )
    }
    pairs = {
        row[0]
        for row in await db.execute_fetchall(
            "DELETE FROM link WHERE chunk IN (SELECT value FROM json_each(?)) RETURNING pair", listed
        )
    }
    return names, pairs


async def delete_chunks(db: Connection, chunks: Collection[int], *, removed: bool) -> None:
    """Delete chunks with their facts, and every cached vector and answer that depends on them.

    `removed`: text was deleted and must leave the files; otherwise other chunks of the document contain it.
    """
    if not chunks:
        return
    listed = (id_list(chunks),)
    generation = await next_generation(db)
    for key in ("last_rechunk", "last_removal") if removed else ("last_rechunk",):
        await set_setting(db, key, generation)
    names, pairs = await delete_facts(db, chunks)
    defined = await find_defined_keys(db, chunks)
    await delete_cached_answers(db, KeyKind.CHUNK, chunks)
    gone = await db.execute_fetchall(
        "DELETE FROM chunk WHERE id IN (SELECT value FROM json_each(?)) RETURNING text_hash", listed
    )
    await db.executemany(
        "DELETE FROM vector WHERE text_hash = ?1 AND NOT EXISTS (SELECT 1 FROM chunk WHERE text_hash = ?1)",
        [tuple(row) for row in gone],
    )
    await add_stale_keys(db, KeyKind.CHUNK, chunks, generation)
    await refresh_joins_by_id(db, names, defined)
    await invalidate_keys(db, names, pairs, generation)


async def list_unextracted(
    db: Connection, limit: int, now: float, skip: Collection[int], turn: SpaceTurn = FIRST_TURN, least: int = 1
) -> list[UnextractedChunk]:
    """Chunks of closed documents that may be extracted at the time `now`, the oldest of each space.

    About `limit` ones, of some spaces in turn; each may have `least`. Those that other processes extract are left out.
    """
    free = "c.extraction IS NULL AND NOT d.open AND c.retry_at <= ? AND " + free_text_clause(db, turn.process)
    find_next = (
        "(SELECT c.space FROM chunk c CROSS JOIN document d ON d.id = c.document"
        f" WHERE {free} AND c.space > due.space ORDER BY c.space LIMIT 1)"
    )
    spaces = await list_due_spaces(db, find_next, (now,), turn.after, MAX_EXTRACTED_SPACES)

    async def load(space: int, count: int) -> list[UnextractedChunk]:
        rows = await db.execute_fetchall(
            "SELECT c.id, c.document, c.text, d.title, d.kind, c.attempts, c.space, c.tokens,"
            " (SELECT p.label FROM chunk_passage i JOIN passage p ON p.id = i.passage WHERE i.chunk = c.id"
            "  ORDER BY i.ordinal LIMIT 1)"
            f" FROM chunk c JOIN document d ON d.id = c.document WHERE {free} AND c.space = ?"
            " AND c.id NOT IN (SELECT value FROM json_each(?)) ORDER BY c.id LIMIT ?",
            (now, space, id_list(skip), count),
        )
        return [
            UnextractedChunk(
                id_, document, text, excerpt_section(kind, title, label or ""), attempts, space, tokens, kind
            )
            for id_, document, text, title, kind, attempts, _, tokens, label in rows
        ]

    return await share_out(spaces, limit, load, least)


def excerpt_section(kind: str, title: str, label: str) -> str:
    """The headings above a chunk, for the prompt, each once; "" for conversations."""
    place = label.removeprefix(title).lstrip(" ›")
    return "" if kind == "conversation" else " › ".join(part for part in (title, place) if part)
