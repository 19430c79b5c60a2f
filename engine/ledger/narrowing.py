"""What a narrowed question may draw on: chunks that hold some of it, and facts of those that hold nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from engine.ledger.times import stored

if TYPE_CHECKING:
    from engine.ledger.connection import Connection
    from engine.ledger.marks import Stale
    from engine.ledger.search import Area
    from engine.records import Within

PIECES = (
    " FROM chunk c JOIN document d ON d.id = c.document JOIN room r ON r.id = c.room"
    " JOIN piece i ON i.chunk = c.id JOIN passage p ON p.id = i.passage"
)


async def chunks_within(db: Connection, within: Within, where: Area) -> frozenset[int]:
    """The chunks of the area that hold a passage which a narrowed question may draw on."""
    held, parameters = condition(within)
    sql = f"SELECT DISTINCT c.id{PIECES} WHERE {where.condition('c')} AND {held}"
    return frozenset(row[0] for row in await db.execute_fetchall(sql, parameters))


async def wholly_within(db: Connection, within: Within, chunks: frozenset[int]) -> frozenset[int]:
    """Those of the chunks of which every passage is meant: of others it is not known which passage states a fact."""
    held, parameters = condition(within)
    sql = f"SELECT DISTINCT c.id{PIECES} WHERE c.id IN (SELECT value FROM json_each(?)) AND NOT COALESCE({held}, 0)"
    mixed = await db.execute_fetchall(sql, (json.dumps(sorted(chunks)), *parameters))
    return chunks - {row[0] for row in mixed}


async def told_within(db: Connection, kind: Stale, chunks: frozenset[int]) -> frozenset[int]:
    """The names or pairs of which one of these chunks says something."""
    keys, facts, column = ("name", "mention", "name") if kind == 1 else ("pair", "link", "pair")
    rows = await db.execute_fetchall(
        f"SELECT DISTINCT k.target FROM json_each(?) j CROSS JOIN {facts} f ON f.chunk = j.value"
        f" CROSS JOIN {keys} k ON k.id = f.{column}",
        (json.dumps(sorted(chunks)),),
    )
    return frozenset(row[0] for row in rows)


def condition(within: Within) -> tuple[str, list[str | int | None]]:
    """What holds for the passages that are meant, in SQL with its parameters."""
    conditions, parameters = ["1"], list[str | int | None]()
    for values, column in ((within.documents, "d.key"), (within.rooms, "r.name"), (within.authors, "p.author")):
        if values:
            conditions.append(f"{column} IN (SELECT value FROM json_each(?))")
            parameters.append(json.dumps(sorted(values)))
    for time, comparison in ((within.since, ">="), (within.until, "<=")):
        if time is not None:
            conditions.append(f"COALESCE(p.time, d.time) {comparison} ?")
            parameters.append(stored(time))
    return f"({' AND '.join(conditions)})", parameters
