"""Profiles: load the facts of stale keys, and save the merged results."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from engine.knowledge.merge import FactCounts, FactRow, Fragment, count_facts
from engine.storage.ledger.correction_sql import NAME_DESCRIPTION, NAME_HIDDEN, PAIR_DESCRIPTION, PAIR_HIDDEN
from engine.storage.ledger.limited_joins import join_newest_facts
from engine.storage.ledger.queries.filters import fact_clause
from engine.storage.ledger.records.projection import KeyFacts, KeyKind, Profile, ProfileKind
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from engine.storage.ledger.records.query_results import ChunkFilter
    from engine.storage.sql.connection import Connection
HOT_KEY_ROWS = 256  # from this many rows on, a key is counted in SQL instead of being loaded


async def load_names(db: Connection, ids: Collection[int], newest: int) -> list[KeyFacts]:
    """The facts of these names; missing ids are left out. `newest` limits the descriptions of frequent names."""
    rows = list(
        await db.execute_fetchall(
            "SELECT n.id, n.space, n.canonical, n.target, e.in_graph, e.id IS NOT NULL, e.embedding_hash,"
            f" {NAME_DESCRIPTION}, {NAME_HIDDEN}"
            " FROM json_each(?) j CROSS JOIN name n ON n.id = j.value LEFT JOIN entity e ON e.id = n.id",
            (id_list(ids),),
        )
    )
    facts_by_key = await _count_facts(db, KeyKind.NAME, [row[0] for row in rows], newest)
    return [
        KeyFacts(
            id_,
            space,
            title,
            None if hidden or target != id_ else facts_by_key.get(id_),
            pinned_description=override,
            exists_in_graph=bool(graphed),
            has_profile=bool(described),
            embedding_hash=embedded,
        )
        for id_, space, title, target, graphed, described, embedded, override, hidden in rows
    ]


async def load_pairs(db: Connection, ids: Collection[int], newest: int) -> list[KeyFacts]:
    """The facts of these pairs, like `load_names`."""
    rows = list(
        await db.execute_fetchall(
            "SELECT p.id, p.space, COALESCE(x.canonical, ''), COALESCE(y.canonical, ''), p.a, p.b, p.target,"
            f" r.in_graph, r.id IS NOT NULL, r.embedding_hash, {PAIR_DESCRIPTION}, {PAIR_HIDDEN}"
            " FROM json_each(?) j CROSS JOIN pair p ON p.id = j.value"
            " LEFT JOIN name x ON x.id = p.a LEFT JOIN name y ON y.id = p.b LEFT JOIN relation r ON r.id = p.id",
            (id_list(ids),),
        )
    )
    facts_by_key = await _count_facts(db, KeyKind.PAIR, [row[0] for row in rows], newest)
    return [
        KeyFacts(
            id_,
            space,
            " ~ ".join(sorted((x, y))),
            None if hidden or target != id_ else facts_by_key.get(id_),
            (a, b),
            override,
            bool(graphed),
            bool(described),
            embedded,
        )
        for id_, space, x, y, a, b, target, graphed, described, embedded, override, hidden in rows
    ]


_FACT_TABLES = {
    KeyKind.NAME: ("name", "mention", "name", "surface", "f.type"),
    KeyKind.PAIR: ("pair", "link", "pair", "keywords", "'stated'"),
}


async def _count_facts(db: Connection, kind: ProfileKind, ids: Sequence[int], newest: int) -> dict[int, FactCounts]:
    keys, facts, column, label, type_ = _FACT_TABLES[kind]
    counted = await db.execute_fetchall(
        f"SELECT k.target, COUNT(*) FROM json_each(?) j CROSS JOIN {keys} k ON k.target = j.value"
        f" CROSS JOIN {facts} f ON f.{column} = k.id GROUP BY k.target",
        (id_list(ids),),
    )
    sizes: dict[int, int] = dict(counted)
    few = [id_ for id_, size in sizes.items() if size < HOT_KEY_ROWS]
    facts_by_key: defaultdict[int, list[FactRow]] = defaultdict(list)
    for target, *row in await db.execute_fetchall(
        f"SELECT k.target, f.chunk, f.time, f.hash, f.{label}, {type_}, f.description FROM json_each(?) j"
        f" CROSS JOIN {keys} k ON k.target = j.value CROSS JOIN {facts} f ON f.{column} = k.id",
        (id_list(few),),
    ):
        facts_by_key[target].append(FactRow(*row))
    result = {id_: count_facts(rows) for id_, rows in facts_by_key.items()}
    for id_ in sizes.keys() - result.keys():
        result[id_] = await _count_hot_facts(db, kind, id_, newest)
    return result


async def _count_hot_facts(db: Connection, kind: ProfileKind, id_: int, newest: int) -> FactCounts:
    """The same as `count_facts` of all rows, with the newest descriptions only."""
    keys, facts, column, label, type_ = _FACT_TABLES[kind]
    rows = f"{keys} k CROSS JOIN {facts} f ON f.{column} = k.id WHERE k.target = ?"
    [[chunks, stated]] = await db.execute_fetchall(
        f"SELECT COUNT(DISTINCT f.chunk), COUNT(*) FILTER (WHERE {type_} <> '') FROM {rows}",
        (id_,),
    )
    kept = f"{rows} AND ({type_} <> '' OR {'false' if stated else 'true'})"
    labels = await db.execute_fetchall(f"SELECT f.{label}, COUNT(*) FROM {kept} GROUP BY 1", (id_,))
    types = await db.execute_fetchall(
        f"SELECT {type_}, COUNT(*) FROM {rows} AND {type_} <> '' GROUP BY 1",
        (id_,),
    )
    fragments = await db.execute_fetchall(
        f"SELECT MIN(f.time) AS first, f.hash, f.description FROM {kept}"
        " GROUP BY f.hash, f.description ORDER BY first DESC, f.hash DESC LIMIT ?",
        (id_, newest),
    )
    found = tuple(sorted(Fragment(*row) for row in fragments))
    return FactCounts(chunks, Counter(dict(labels)), Counter(dict(types)), found)


async def load_recent_facts(
    db: Connection, kind: ProfileKind, ids: Collection[int], newest: int, only: ChunkFilter | None = None
) -> dict[int, list[FactRow]]:
    """The newest facts of each key, at most `newest` of each raw name, from the chunks `only` if given."""
    keys, facts, column, label, type_ = _FACT_TABLES[kind]
    condition, parameters = ("true", []) if only is None else fact_clause(only, "g")
    rows = await db.execute_fetchall(
        f"SELECT k.target, f.chunk, f.time, f.hash, f.{label}, {type_}, f.description FROM json_each(?) j"
        f" CROSS JOIN {keys} k ON k.target = j.value{join_newest_facts(db.dialect, facts, column, condition)}",
        (id_list(ids), *parameters, newest),
    )
    facts_by_key: dict[int, list[FactRow]] = {}
    for target, *row in rows:
        facts_by_key.setdefault(target, []).append(FactRow(*row))
    return facts_by_key


async def upsert_entities(db: Connection, rows: Iterable[Profile]) -> None:
    """Save profiles of existing names. Their embedded text is unknown until `record_embedded`.

    A crash between the two may leave the vector of another text.
    """
    rows = list(rows)
    await db.executemany(
        "INSERT INTO entity (id, space, name, type, description, mention_count, retry_at)"
        " SELECT id, ?, ?, ?, ?, ?, ? FROM name WHERE id = ?"
        " ON CONFLICT (id) DO UPDATE SET name = excluded.name, type = excluded.type,"
        " description = excluded.description, mention_count = excluded.mention_count, embedding_hash = NULL,"
        " retry_at = excluded.retry_at",
        [(p.space, p.label, p.type, p.description, p.count, p.retry_at, p.id) for p in rows],
    )
    await _update_summary_use(db, KeyKind.NAME, rows)


async def upsert_relations(db: Connection, rows: Iterable[Profile]) -> None:
    """Save profiles of existing pairs whose ends have profiles."""
    rows = list(rows)
    await db.executemany(
        "INSERT INTO relation (id, space, a, b, keywords, description, weight, retry_at)"
        " SELECT id, ?, a, b, ?, ?, ?, ? FROM pair WHERE id = ? AND EXISTS (SELECT 1 FROM entity WHERE id = pair.a)"
        " AND EXISTS (SELECT 1 FROM entity WHERE id = pair.b)"
        " ON CONFLICT (id) DO UPDATE SET keywords = excluded.keywords, description = excluded.description,"
        " weight = excluded.weight, embedding_hash = NULL, retry_at = excluded.retry_at",
        [(p.space, p.label, p.description, p.count, p.retry_at, p.id) for p in rows],
    )
    await _update_summary_use(db, KeyKind.PAIR, rows)


async def record_embedded(db: Connection, kind: ProfileKind, rows: Iterable[tuple[bytes | None, int]]) -> None:
    """Record the hashes of the texts whose vectors are stored."""
    table = "entity" if kind == KeyKind.NAME else "relation"
    await db.executemany(f"UPDATE {table} SET embedding_hash = ? WHERE id = ?", rows)


async def load_display_names(db: Connection, ids: Collection[int]) -> dict[int, str]:
    """The displayed names."""
    rows = await db.execute_fetchall(
        "SELECT n.id, COALESCE(e.name, n.canonical) FROM json_each(?) j"
        " CROSS JOIN name n ON n.id = j.value LEFT JOIN entity e ON e.id = n.id",
        (id_list(ids),),
    )
    return dict(rows)


async def load_graph_nodes(db: Connection, ids: Collection[int]) -> list[tuple[int, int, bool]]:
    """(id, space, is in the graph) of these entities."""
    rows = await db.execute_fetchall(
        "SELECT e.id, e.space, e.in_graph FROM json_each(?) j CROSS JOIN entity e ON e.id = j.value ORDER BY e.id",
        (id_list(ids),),
    )
    return [(id_, space, bool(graphed)) for id_, space, graphed in rows]


async def load_weights(db: Connection, ids: Collection[int]) -> dict[int, int]:
    """The weights of these relations, if they have a profile."""
    rows = await db.execute_fetchall(
        "SELECT r.id, r.weight FROM json_each(?) j CROSS JOIN relation r ON r.id = j.value",
        (id_list(ids),),
    )
    return {row[0]: row[1] for row in rows}


async def delete_profiles(db: Connection, kind: ProfileKind, ids: Collection[int]) -> None:
    """Delete profiles of keys without facts; with a name also the relations of its pairs.

    The relations are stale, too; one that outlived its end would be missing in the degree when the end returns.
    """
    table = "entity" if kind == KeyKind.NAME else "relation"
    if kind == KeyKind.NAME:
        await db.executemany("DELETE FROM relation WHERE a = ? OR b = ?", [(id_, id_) for id_ in ids])
    await db.executemany(f"DELETE FROM {table} WHERE id = ?", [(id_,) for id_ in ids])
    await _update_summary_use(db, kind, [Profile(id_, 0, "", "", 0) for id_ in ids])


async def _update_summary_use(db: Connection, kind: ProfileKind, rows: Sequence[Profile]) -> None:
    """Record the summaries that each profile rests on, and delete unused ones."""
    listed = id_list([row.id for row in rows])
    former = await db.execute_fetchall(
        "DELETE FROM summary_usage WHERE kind = ? AND id IN (SELECT value FROM json_each(?)) RETURNING key",
        (kind, listed),
    )
    await db.executemany(
        "INSERT INTO summary_usage SELECT ?, ?, key FROM summary WHERE key = ? ON CONFLICT DO NOTHING",
        [(kind, row.id, key) for row in rows for key in row.summary_keys],
    )
    await db.executemany(
        "DELETE FROM summary WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM summary_usage WHERE key = ?1)",
        [tuple(row) for row in former],
    )
