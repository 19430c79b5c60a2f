"""How nodes and edges are written to a graph database: prepared statements by primary key, in one transaction.

Nothing here searches the graph: statements over many rows (UNWIND, MERGE, COPY into full tables) grow with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.graph import Edge, Node
    from engine.kuzu_session import Session

CREATE_NODE = "CREATE (:Entity {id: $id, space: $space, degree: $degree, mentions: $mentions})"
SET_NODE = "MATCH (n:Entity {id: $id}) SET n.space = $space, n.degree = $degree, n.mentions = $mentions RETURN n.id"
# Not DETACH DELETE: after a crash Kùzu replays that of a node without edges as one of somebody else's edges.
DROP_NODE = (
    "MATCH (n:Entity {id: $id})-[r:RELATES]->(:Entity) DELETE r",
    "MATCH (n:Entity {id: $id})<-[r:RELATES]-(:Entity) DELETE r",
    "MATCH (n:Entity {id: $id}) DELETE n",
)

# Hubs are old names, and old names have low ids: from the higher end there are fewer edges to look through.
PAIR = "MATCH (a:Entity {id: $source})-[r:RELATES]->(b:Entity {id: $target}) HINT ((b JOIN r) JOIN a)"
SET_WEIGHT = PAIR + " SET r.weight = $weight RETURN a.id"
SET_EDGE = PAIR + " SET r.id = $id, r.weight = $weight RETURN a.id"
DROP_EDGE = PAIR + " DELETE r"
CREATE_EDGE = (
    "MATCH (a:Entity {id: $source}), (b:Entity {id: $target})"
    " CREATE (a)-[r:RELATES {id: $id, weight: $weight}]->(b) RETURN a.id"
)
TOP_NODE = "MATCH (n:Entity) RETURN max(n.id)"
TOP_EDGE = "MATCH (:Entity)-[r:RELATES]->(:Entity) RETURN max(r.id)"


class Writer:
    """Writes through one session.

    A row said to be new whose id is not above all that were ever here is looked up all the same: the call that made
    it may be a repetition after a crash between the graph's commit and the ledger's.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._top_node = _top(session, TOP_NODE)
        self._top_edge = _top(session, TOP_EDGE)

    def put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        """Create or set nodes, then edges, in one transaction. Raises StoreError if an end is missing."""
        unique_nodes = {node.id: node for node in nodes}
        unique_edges = {_ends(edge): edge for edge in edges}
        with self.session.transaction():
            for node in unique_nodes.values():
                self._put_node(node)
            for ends, edge in unique_edges.items():
                self._put_edge(ends, edge)
        self._top_node = max(self._top_node, *unique_nodes, -1)
        self._top_edge = max(self._top_edge, *(edge.id for edge in unique_edges.values()), -1)

    def drop(self, nodes: Collection[int], edges: Sequence[Edge]) -> None:
        """Remove edges, then nodes with whatever edges they still have, in one transaction."""
        with self.session.transaction():
            for source, target in {_ends(edge) for edge in edges}:
                self.session.touches(DROP_EDGE, {"source": source, "target": target})
            for node in set(nodes):
                for statement in DROP_NODE:
                    self.session.touches(statement, {"id": int(node)})

    def _put_node(self, node: Node) -> None:
        row = {
            "id": int(node.id),
            "space": int(node.space),
            "degree": int(node.degree),
            "mentions": int(node.mentions),
        }
        surely_new = node.known is False and node.id > self._top_node
        if surely_new or not self.session.touches(SET_NODE, row):
            self.session.touches(CREATE_NODE, row)

    def _put_edge(self, ends: tuple[int, int], edge: Edge) -> None:
        place = {"source": ends[0], "target": ends[1], "weight": float(edge.weight)}
        row = place | {"id": int(edge.id)}
        surely_new = edge.known is False and edge.id > self._top_edge
        if edge.known and self.session.touches(SET_WEIGHT, place):
            return
        if not surely_new and self.session.touches(SET_EDGE, row):
            return
        if not self.session.touches(CREATE_EDGE, row):
            raise StoreError(f"Relation {edge.id} joins entities of which one is not in the graph.")


def _ends(edge: Edge) -> tuple[int, int]:
    """An edge has no direction: it is kept from the lower to the higher id."""
    return min(int(edge.source), int(edge.target)), max(int(edge.source), int(edge.target))


def _top(session: Session, statement: str) -> int:
    top = session.run(statement)[0][0]
    return -1 if top is None else int(top)
