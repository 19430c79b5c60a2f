"""Exports: the graph of a scope as GraphML (for Gephi, yEd, NetworkX), and the checksum of the canonical export."""

from __future__ import annotations

from contextlib import aclosing
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from engine.storage.ledger.queries import stats

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

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
    async for _, *values, name in stats.stream_entities(db, scope_ids):
        data = _render_data("node", NODE_ATTRIBUTES, values)
        yield f'    <node id="{_element_id("n", values[-1], name)}">{data}</node>'
    async for *values, space, a, b in stats.stream_relations(db, scope_ids):
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
    async with aclosing(stats.export_canonical(db)) as lines:
        async for line in lines:
            digest.update(line.encode("utf-8", "surrogatepass"))
            digest.update(b"\n")
    return digest.hexdigest()
