"""Fair turns: work is taken from all spaces that have some, so that the backlog of one holds up no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from engine.storage.sql.connection import Connection

Item = TypeVar("Item")

ALL_SPACES = -1  # before the first space


async def list_due_spaces(
    db: Connection, find_next: str, parameters: Sequence[object], after: int, limit: int
) -> list[int]:
    """At most `limit` spaces with work, in the order of their numbers: those after the space `after` come first.

    `find_next`: an SQL expression, the first space with work after the space `due.space`; it uses the `parameters`.
    """
    sql = (
        f"WITH RECURSIVE due (space, number) AS (SELECT CAST(? AS BIGINT), 0 UNION ALL SELECT {find_next},"
        " number + 1 FROM due WHERE due.space IS NOT NULL AND number < ?)"
        " SELECT space FROM due WHERE number > 0 AND space IS NOT NULL"
    )
    spaces = [row[0] for row in await db.execute_fetchall(sql, (after, *parameters, limit))]
    if len(spaces) < limit and after != ALL_SPACES:
        rows = await db.execute_fetchall(sql, (ALL_SPACES, *parameters, limit - len(spaces)))
        spaces += [row[0] for row in rows if row[0] <= after]
    return spaces


async def share_out(
    spaces: Sequence[int], limit: int, load: Callable[[int, int], Awaitable[list[Item]]], least: int = 1
) -> list[Item]:
    """About `limit` items, the same number of each space as far as it has so many; a space may have `least` ones.

    `load` gives the first items of a space, as many as asked for.
    """
    taken, shares, left = dict[int, list[Item]](), dict[int, int](), limit
    for place, space in enumerate(spaces):
        if left > 0:
            shares[space] = max(-(-left // (len(spaces) - place)), min(limit, least))
            taken[space] = await load(space, shares[space])
            left -= len(taken[space])
    for space, share in shares.items():
        if left > 0 and len(taken[space]) == share:
            taken[space] = await load(space, share + left)
            left -= len(taken[space]) - share
    return [item for items in taken.values() for item in items]
