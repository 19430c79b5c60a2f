"""The graph of a scope as GraphML, for Gephi, yEd, NetworkX and the like."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from engine.storage.ledger.queries import stats

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import aiosqlite

    from engine.storage.ledger.queries.lookup import Area

NODE_KEYS = ("name", "type", "description", "mentions", "degree", "space")
EDGE_KEYS = ("keywords", "description", "weight")
NUMBERS = {"mentions": "int", "degree": "int", "weight": "double"}


async def graphml(db: aiosqlite.Connection, where: Area) -> AsyncGenerator[str, None]:
    """The lines of one GraphML document: every entity and relation of the area's spaces."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for target, keys in (("node", NODE_KEYS), ("edge", EDGE_KEYS)):
        for key in keys:
            kind = NUMBERS.get(key, "string")
            yield f'  <key id="{target}-{key}" for="{target}" attr.name="{key}" attr.type="{kind}"/>'
    yield '  <graph edgedefault="undirected">'
    async for _, *values, name in stats.entity_rows(db, where):
        yield f'    <node id="{_id("n", values[-1], name)}">{_data("node", NODE_KEYS, values)}</node>'
    async for *values, space, a, b in stats.relation_rows(db, where):
        ends = f'source="{_id("n", space, a)}" target="{_id("n", space, b)}"'
        yield f'    <edge id="{_id("e", space, a, b)}" {ends}>{_data("edge", EDGE_KEYS, values)}</edge>'
    yield "  </graph>"
    yield "</graphml>"


def _id(kind: str, *names: str) -> str:
    """What follows from the names alone: the ledger's integers would tell how much there is elsewhere."""
    return kind + blake2b("\0".join(names).encode(), digest_size=12).hexdigest()


def _data(target: str, keys: tuple[str, ...], values: list[object]) -> str:
    return "".join(
        f"<data key={quoteattr(f'{target}-{key}')}>{escape(str(value))}</data>"
        for key, value in zip(keys, values, strict=True)
    )
