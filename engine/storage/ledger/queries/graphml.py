"""Export of the graph of a scope as GraphML (for Gephi, yEd, NetworkX)."""

from __future__ import annotations

from contextlib import aclosing
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from engine.storage.sql.fragments import id_list

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.storage.sql.connection import StreamingConnection

NODE_ATTRIBUTES = ("name", "type", "description", "mentions", "degree", "space")
EDGE_ATTRIBUTES = ("keywords", "description", "weight")
NUMERIC_ATTRIBUTES = {"mentions": "int", "degree": "int", "weight": "double"}


async def export_graphml(db: StreamingConnection, scope_ids: ScopeIds) -> AsyncGenerator[str, None]:
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


def stream_entities(db: StreamingConnection, scope_ids: ScopeIds) -> AsyncGenerator[tuple[Any, ...], None]:
    """Id, name, type, description, mentions, degree, space and canonical name of each entity in the scope."""
    sql = (
        "SELECT e.id, e.name, e.type, e.description, e.mention_count, e.degree, s.name, n.canonical FROM entity e"
        " @then JOIN name n ON n.id = e.id @then JOIN space s ON s.id = e.space"
        " WHERE e.space IN (SELECT value FROM @list(?)) ORDER BY s.name, n.canonical"
    )
    return _stream(db, sql, scope_ids)


def stream_relations(db: StreamingConnection, scope_ids: ScopeIds) -> AsyncGenerator[tuple[Any, ...], None]:
    """Keywords, description, weight, space and both canonical names of each relation in the scope's spaces."""
    sql = (
        "SELECT r.keywords, r.description, r.weight, s.name, @least(x.canonical, y.canonical) AS a,"
        " @greatest(x.canonical, y.canonical) AS b FROM relation r @then JOIN name x ON x.id = r.a"
        " @then JOIN name y ON y.id = r.b @then JOIN space s ON s.id = r.space"
        " WHERE r.space IN (SELECT value FROM @list(?)) ORDER BY s.name, a, b"
    )
    return _stream(db, sql, scope_ids)


async def _stream(db: StreamingConnection, sql: str, scope_ids: ScopeIds) -> AsyncGenerator[tuple[Any, ...], None]:
    async with aclosing(db.stream(sql, (id_list(sorted(scope_ids.spaces)),))) as rows:
        async for row in rows:
            yield row
