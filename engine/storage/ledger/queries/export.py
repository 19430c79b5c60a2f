"""Exports: the graph of a scope as GraphML (for Gephi, yEd, NetworkX), the canonical export, and its checksum."""

from __future__ import annotations

import json
from contextlib import aclosing
from functools import partial
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection

    import aiosqlite

    from engine.storage.ledger.records.query_results import ScopeIds

NODE_ATTRIBUTES = ("name", "type", "description", "mentions", "degree", "space")
EDGE_ATTRIBUTES = ("keywords", "description", "weight")
NUMERIC_ATTRIBUTES = {"mentions": "int", "degree": "int", "weight": "double"}


async def export_graphml(db: aiosqlite.Connection, scope_ids: ScopeIds) -> AsyncGenerator[str, None]:
    """The lines of a GraphML document with every entity and relation in the scope's spaces."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for target, keys in (("node", NODE_ATTRIBUTES), ("edge", EDGE_ATTRIBUTES)):
        for key in keys:
            kind = NUMERIC_ATTRIBUTES.get(key, "string")
            yield f'  <key id="{target}-{key}" for="{target}" attr.name="{key}" attr.type="{kind}"/>'
    yield '  <graph edgedefault="undirected">'
    async for _, *values, name in stream_entities(db, scope_ids):
        data = _render_data("node", NODE_ATTRIBUTES, values)
        yield f'    <node id="{_element_id("n", values[-1], name)}">{data}</node>'
    async for *values, space, a, b in stream_relations(db, scope_ids):
        ends = f'source="{_element_id("n", space, a)}" target="{_element_id("n", space, b)}"'
        data = _render_data("edge", EDGE_ATTRIBUTES, values)
        yield f'    <edge id="{_element_id("e", space, a, b)}" {ends}>{data}</edge>'
    yield "  </graph>"
    yield "</graphml>"


def _element_id(kind: str, *names: str) -> str:
    """An id made from names alone: the ledger's ids would reveal how much other spaces hold."""
    return kind + blake2b("\0".join(names).encode(), digest_size=12).hexdigest()


def _render_data(target: str, keys: tuple[str, ...], values: list[object]) -> str:
    return "".join(
        f"<data key={quoteattr(f'{target}-{key}')}>{escape(str(value))}</data>"
        for key, value in zip(keys, values, strict=True)
    )


async def compute_checksum(db: aiosqlite.Connection) -> str:
    """The checksum of the canonical export: ledgers with equal checksums hold the same facts and texts."""
    digest = sha256()
    async with aclosing(export_canonical(db)) as lines:
        async for line in lines:
            digest.update(line.encode("utf-8", "surrogatepass"))
            digest.update(b"\n")
    return digest.hexdigest()


async def stream_entities(db: aiosqlite.Connection, scope_ids: ScopeIds) -> AsyncGenerator[tuple[Any, ...], None]:
    """Id, name, type, description, mentions, degree, space and canonical name of each entity in the scope."""
    sql = (
        "SELECT e.id, e.name, e.type, e.description, e.mention_count, e.degree, s.name, n.canonical FROM entity e"
        " CROSS JOIN name n ON n.id = e.id CROSS JOIN space s ON s.id = e.space"
        " WHERE e.space IN (SELECT value FROM json_each(?)) ORDER BY s.name, n.canonical"
    )
    async with db.execute(sql, (json.dumps(sorted(scope_ids.spaces)),)) as cursor:
        async for row in cursor:
            yield tuple(row)


async def stream_relations(db: aiosqlite.Connection, scope_ids: ScopeIds) -> AsyncGenerator[tuple[Any, ...], None]:
    """Keywords, description, weight, space and both canonical names of each relation in the scope's spaces."""
    sql = (
        "SELECT r.keywords, r.description, r.weight, s.name, MIN(x.canonical, y.canonical) AS a,"
        " MAX(x.canonical, y.canonical) AS b FROM relation r CROSS JOIN name x ON x.id = r.a"
        " CROSS JOIN name y ON y.id = r.b CROSS JOIN space s ON s.id = r.space"
        " WHERE r.space IN (SELECT value FROM json_each(?)) ORDER BY s.name, a, b"
    )
    async with db.execute(sql, (json.dumps(sorted(scope_ids.spaces)),)) as cursor:
        async for row in cursor:
            yield tuple(row)


CANONICAL_QUERIES: dict[str, str] = {
    "document": "SELECT d.key, s.name AS space, r.name AS room, d.kind AS sort, d.title, d.link, d.time, d.open,"
    " d.status, d.error FROM document d JOIN space s ON s.id = d.space JOIN room r ON r.id = d.room",
    "passage": "SELECT d.key AS document, s.name AS space, p.key, p.position, p.time, p.author, p.label, p.link, p.text"
    " FROM passage p JOIN document d ON d.id = p.document JOIN space s ON s.id = d.space",
    "chunk": "SELECT c.key, d.key AS document, s.name AS space, r.name AS room, c.ordinal, c.tokens, c.time, c.text,"
    " c.extraction IS NOT NULL AS read, c.error,"
    " (SELECT json_group_array(json_array(p.key, i.start_offset, i.end_offset)) FROM"
    " (SELECT * FROM chunk_passage WHERE chunk = c.id ORDER BY ordinal) i JOIN passage p ON p.id = i.passage) AS pieces"
    " FROM chunk c JOIN document d ON d.id = c.document JOIN space s ON s.id = c.space JOIN room r ON r.id = c.room",
    "mention": "SELECT c.key AS chunk, s.name AS space, n.canonical, m.time, m.surface, m.type, m.description"
    " FROM mention m JOIN chunk c ON c.id = m.chunk JOIN name n ON n.id = m.name JOIN space s ON s.id = n.space",
    "link": "SELECT c.key AS chunk, s.name AS space, MIN(x.canonical, y.canonical) AS a, MAX(x.canonical, y.canonical)"
    " AS b, f.time, f.keywords, f.description FROM link f JOIN chunk c ON c.id = f.chunk JOIN pair p ON p.id = f.pair"
    " JOIN name x ON x.id = p.a JOIN name y ON y.id = p.b JOIN space s ON s.id = p.space",
    "alias": "SELECT s.name AS space, a.name, a.target, a.reason FROM alias a JOIN space s ON s.id = a.space",
    "distinct": "SELECT s.name AS space, d.a, d.b FROM distinct_names d JOIN space s ON s.id = d.space",
    "pin": "SELECT s.name AS space, p.a, p.b, p.description FROM description_override p JOIN space s ON s.id = p.space",
    "hidden": "SELECT s.name AS space, h.a, h.b FROM hidden_key h JOIN space s ON s.id = h.space",
    "entity": "SELECT s.name AS space, n.canonical, e.name, e.type, e.description,"
    " e.mention_count AS mentions, e.degree FROM entity e JOIN name n ON n.id = e.id JOIN space s ON s.id = e.space",
    "relation": "SELECT s.name AS space, MIN(x.canonical, y.canonical) AS a, MAX(x.canonical, y.canonical) AS b,"
    " r.keywords, r.description, r.weight FROM relation r JOIN name x ON x.id = r.a JOIN name y ON y.id = r.b"
    " JOIN space s ON s.id = r.space",
}


async def export_canonical(
    db: aiosqlite.Connection, spaces: Collection[str] | None = None
) -> AsyncGenerator[str, None]:
    """Everything in the ledger as sorted JSON Lines, without ids, generations and processing times.

    `spaces` keeps rows of these spaces only. SQLite sorts; rows that exceed its cache go to a temporary file.
    """
    within = "" if spaces is None else " WHERE s.name IN (SELECT value FROM json_each(?))"
    parameters = () if spaces is None else (json.dumps(sorted(spaces)),)
    for kind, sql in CANONICAL_QUERIES.items():
        async with db.execute(f"{sql} LIMIT 0") as cursor:
            columns = [column[0] for column in cursor.description]
        await db.create_function("canonical_line", len(columns), partial(_render_line, kind, columns))
        async with db.execute(
            f"SELECT canonical_line({', '.join(columns)}) AS line FROM ({sql}{within}) ORDER BY line", parameters
        ) as cursor:
            async for [line] in cursor:
                yield line


def _render_line(kind: str, columns: list[str], *row: Any) -> str:
    record: dict[str, Any] = {"kind": kind, **dict(zip(columns, row, strict=True))}
    if "pieces" in record:
        record["pieces"] = json.loads(record["pieces"])
    return json.dumps(record, ensure_ascii=False, sort_keys=True)
