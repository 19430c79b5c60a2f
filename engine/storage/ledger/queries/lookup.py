"""Look-ups within a scope: full text, names, profiles, evidence and texts. Every text leaves through a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.full_text.bm25 import rank_rows
from engine.storage.ledger.full_text.fts5 import score_texts
from engine.storage.ledger.full_text.index import CHUNK_INDEX, NAME_INDEX, TERM_INDEXES
from engine.storage.ledger.full_text.search_words import select_search_words, split_into_terms
from engine.storage.ledger.limited_joins import join_chunks, join_newest_facts
from engine.storage.ledger.queries.filters import fact_clause
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.records.query_results import ChunkText, EntityRecord, PieceText, RelationRecord, ScopeIds
from engine.storage.ledger.scope_clauses import join_ids, name_clause, row_clause
from engine.storage.sql.lists import id_list, text_list
from engine.storage.sql.timestamps import from_micros

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.models import Scope
    from engine.storage.ledger.records.query_results import ChunkFilter, ResolvedFilters
    from engine.storage.sql.connection import Connection


LAST_CHARACTER = "\U0010ffff"


async def resolve_scope(db: Connection, scope: Scope) -> ScopeIds:
    """The ids of a scope's spaces and rooms; unknown ones are left out."""
    spaces = await db.execute_fetchall(
        "SELECT id FROM space WHERE name IN (SELECT value FROM json_each(?))", (text_list(sorted(scope.spaces)),)
    )
    rooms = await db.execute_fetchall(
        "SELECT id FROM room WHERE name IN (SELECT value FROM json_each(?))", (text_list(sorted(scope.rooms)),)
    )
    return ScopeIds(frozenset(row[0] for row in spaces), frozenset(row[0] for row in rooms))


# Of the other spaces one is enough, and far fewer rows are read than there are spaces and channels.
_COUNT_OTHER = (
    "SELECT * FROM (SELECT kind, space, row_count FROM corpus_stats WHERE kind = {} AND row_count > 0"
    " AND space NOT IN (SELECT value FROM json_each(?1)) LIMIT 1) other{}"
)
_COUNT_BY_SPACE = " UNION ALL ".join(
    (
        (
            "SELECT kind, space, SUM(row_count) FROM corpus_stats"
            " WHERE kind IN (0, 1, 2) AND space IN (SELECT value FROM json_each(?1)) GROUP BY kind, space"
        ),
        *(_COUNT_OTHER.format(kind.value, kind.value) for kind in KeyKind),
    )
)


async def count_by_space(db: Connection, spaces: Collection[int]) -> dict[KeyKind, dict[int, int]]:
    """The numbers of chunks, names and pairs in each of these spaces.

    If others hold rows of a kind, one of them is there, too, with at least one row: so it shows that there are more.
    """
    rows = await db.execute_fetchall(_COUNT_BY_SPACE, (id_list(sorted(spaces)),))
    counts: dict[KeyKind, dict[int, int]] = {kind: {} for kind in KeyKind}
    for kind, space, count in rows:
        if count > 0:
            counts[KeyKind(kind)][space] = count
    return counts


async def search_chunks(
    db: Connection, text: str, k: int, scope_ids: ScopeIds, filters: ResolvedFilters | None = None
) -> dict[int, float]:
    """The k best chunks within the scope that match any word, with BM25 scores within the scope, best first."""
    return await rank_rows(
        db, CHUNK_INDEX, await select_search_words(db, CHUNK_INDEX, text, scope_ids), scope_ids, filters, k
    )


async def score_passages(db: Connection, question: str, texts: Sequence[str]) -> list[float]:
    """The BM25 score of each of these texts for a question, among these texts."""
    tokenizer = await TERM_INDEXES[db.dialect].find_tokenizer(db)
    return score_texts(tokenizer, split_into_terms(question, tokenizer), texts)


_CONVERSATION_CHUNKS = (
    "SELECT j.value, n.id FROM json_each(?1) j CROSS JOIN chunk c ON c.id = j.value AND c.time > 0"
    " CROSS JOIN document d ON d.id = c.document AND d.kind = 'conversation'"
)
_NEXT_IN_ROOM = (
    "SELECT x.id FROM chunk x INDEXED BY chunk_room_time CROSS JOIN document e ON e.id = x.document"
    " AND e.kind = 'conversation' WHERE x.room = c.room AND x.time > c.time ORDER BY x.time, x.key LIMIT ?2"
)


async def find_neighbor_messages(db: Connection, ids: Collection[int], span: int) -> list[tuple[int, int]]:
    """Pairs of a chunk among `ids` and one of the `span` next ones of its conversation or, by time, of its room.

    Only chunks of conversations, and in a room only those with a later time.
    """
    rows = await db.execute_fetchall(
        f"{_CONVERSATION_CHUNKS} CROSS JOIN chunk n ON n.document = c.document AND n.ordinal > c.ordinal"
        f" AND n.ordinal <= c.ordinal + ?2 UNION {_CONVERSATION_CHUNKS}{join_chunks(db.dialect, _NEXT_IN_ROOM)}",
        (id_list(ids), span),
    )
    return [(one, other) for one, other in rows]


async def find_entities_by_name(db: Connection, names: Collection[str], scope_ids: ScopeIds) -> list[int]:
    """Entities in the scope's spaces with one of these canonical names or an alias of it."""
    rows = await db.execute_fetchall(
        "SELECT DISTINCT n.target FROM json_each(?) j CROSS JOIN name n ON n.canonical = j.value"
        f" AND {name_clause(scope_ids, 'n')} CROSS JOIN entity e ON e.id = n.target",
        (text_list(sorted(names)),),
    )
    return [row[0] for row in rows]


async def search_entities(
    db: Connection, text: str, k: int, scope_ids: ScopeIds, filters: ResolvedFilters | None = None
) -> list[int]:
    """The k entities in the scope's spaces that match the filters and whose names match best (BM25), best first."""
    words = await select_search_words(db, NAME_INDEX, text, scope_ids)
    return list(await rank_rows(db, NAME_INDEX, words, scope_ids, filters, k))


async def find_names_by_prefix(db: Connection, prefix: str, scope_ids: ScopeIds, limit: int) -> list[str]:
    """Entity names in the scope's spaces that start with a canonical prefix, most mentioned first."""
    rows = await db.execute_fetchall(
        "SELECT e.name, SUM(e.mention_count) AS mentions FROM name n JOIN entity e ON e.id = n.target"
        f" WHERE n.space IN ({join_ids(scope_ids.spaces)})"
        " AND n.canonical >= ? AND n.canonical < ? GROUP BY e.name ORDER BY mentions DESC, e.name LIMIT ?",
        (prefix, prefix + LAST_CHARACTER, limit),
    )
    return [row[0] for row in rows]


async def load_entities(db: Connection, ids: Collection[int], scope_ids: ScopeIds) -> dict[int, EntityRecord]:
    """The profiles of these names in the scope's spaces."""
    rows = await db.execute_fetchall(
        "SELECT e.id, e.space, n.canonical, e.name, e.type, e.description, e.mention_count, e.degree,"
        " EXISTS (SELECT 1 FROM stale_key s WHERE s.kind = 1 AND s.id = e.id) FROM json_each(?) j"
        " CROSS JOIN entity e ON e.id = j.value CROSS JOIN name n ON n.id = e.id"
        f" WHERE e.space IN ({join_ids(scope_ids.spaces)})",
        (id_list(ids),),
    )
    return {
        id_: EntityRecord(id_, space, canonical, name, type_, text, mentions, degree, bool(stale))
        for id_, space, canonical, name, type_, text, mentions, degree, stale in rows
    }


async def load_relations(db: Connection, ids: Collection[int], scope_ids: ScopeIds) -> dict[int, RelationRecord]:
    """The profiles of these pairs in the scope's spaces."""
    rows = await db.execute_fetchall(
        "SELECT r.id, r.space, r.a, r.b, r.keywords, r.description, r.weight,"
        " EXISTS (SELECT 1 FROM stale_key s WHERE s.kind = 2 AND s.id = r.id) FROM json_each(?) j"
        f" CROSS JOIN relation r ON r.id = j.value WHERE r.space IN ({join_ids(scope_ids.spaces)})",
        (id_list(ids),),
    )
    return {
        id_: RelationRecord(id_, space, (a, b), keywords, text, weight, bool(stale))
        for id_, space, a, b, keywords, text, weight, stale in rows
    }


async def find_evidence_chunks(
    db: Connection, kind: KeyKind, ids: Sequence[int], newest: int, only: ChunkFilter | None
) -> dict[int, list[int]]:
    """The newest chunks that state each name or pair, newest first, among `only` if given."""
    keys, facts, column = ("name", "mention", "name") if kind == 1 else ("pair", "link", "pair")
    narrowed, parameters = ("true", []) if only is None else fact_clause(only, "g")
    rows = await db.execute_fetchall(
        f"SELECT j.value, f.chunk FROM json_each(?) j CROSS JOIN {keys} k ON k.target = j.value"
        f"{join_newest_facts(db.dialect, facts, column, narrowed)}"
        " ORDER BY f.time DESC, f.hash DESC, f.chunk",
        (id_list(ids), *parameters, newest),
    )
    found: dict[int, dict[int, None]] = {id_: {} for id_ in ids}
    for key, chunk in rows:
        found[key][chunk] = None
    return {key: list(chunks) for key, chunks in found.items()}


async def load_chunk_texts(db: Connection, ids: Sequence[int], scope_ids: ScopeIds) -> list[ChunkText]:
    """Chunks within the scope with their pieces, in the order of `ids`."""
    rows = await db.execute_fetchall(
        "SELECT c.id, c.key, c.text, d.key, d.title, d.link, d.time, s.name, r.name, i.start_offset, i.end_offset,"
        " p.key, p.label, p.link, p.author, p.time, p.text FROM json_each(?) j CROSS JOIN chunk c ON c.id = j.value"
        " CROSS JOIN document d ON d.id = c.document CROSS JOIN space s ON s.id = c.space"
        " CROSS JOIN room r ON r.id = c.room CROSS JOIN chunk_passage i ON i.chunk = c.id"
        f" CROSS JOIN passage p ON p.id = i.passage WHERE {row_clause(scope_ids, 'c')} ORDER BY i.ordinal",
        (id_list(ids),),
    )
    found: dict[int, ChunkText] = {}
    pieces: dict[int, list[PieceText]] = {}
    for row in rows:
        (id_, key, text, document, title, link, time, space, room, start, stop) = tuple(row)[:11]
        (passage, label, own_link, author, own_time, whole) = tuple(row)[11:]
        found.setdefault(id_, ChunkText(id_, key, document, text, ()))
        when = from_micros(own_time if own_time is not None else time)
        pieces.setdefault(id_, []).append(
            PieceText(passage, document, title, label, own_link or link, author, when, whole[start:stop], space, room)
        )
    ordered = [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]
    return [ChunkText(c.id, c.key, c.document, c.text, tuple(pieces[c.id])) for c in ordered]
