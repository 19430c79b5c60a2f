"""The graph of a scope as GraphML, for Gephi, yEd, NetworkX and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from engine.ledger import census

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import aiosqlite

    from engine.ledger.search import Area

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
    async for id_, *values in census.entity_rows(db, where):
        yield f'    <node id="n{id_}">{_data("node", NODE_KEYS, values)}</node>'
    async for id_, a, b, *values in census.relation_rows(db, where):
        yield f'    <edge id="e{id_}" source="n{a}" target="n{b}">{_data("edge", EDGE_KEYS, values)}</edge>'
    yield "  </graph>"
    yield "</graphml>"


def _data(target: str, keys: tuple[str, ...], values: list[object]) -> str:
    return "".join(
        f"<data key={quoteattr(f'{target}-{key}')}>{escape(str(value))}</data>"
        for key, value in zip(keys, values, strict=True)
    )
