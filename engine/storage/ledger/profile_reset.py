"""Emptying profiles: deleted facts leave a profile at once, long before its next projection."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.sqlite.connection import Connection

_STATED = "EXISTS (SELECT 1 FROM name n CROSS JOIN mention f ON f.name = n.id WHERE n.target = entity.id AND f.{} = {})"


async def clear_profiles(db: Connection, names: Collection[int], pairs: Collection[int]) -> None:
    """Empty the profiles of stale keys; an entity keeps name and type only if remaining facts state them.

    Readers never see an empty profile: they merge the facts of a stale key when they need it.
    """
    await db.execute(
        "UPDATE entity SET description = '', embedding_hash = NULL,"
        f" type = CASE WHEN {_STATED.format('type', 'entity.type')} THEN type ELSE '' END,"
        f" name = CASE WHEN {_STATED.format('surface', 'entity.name')} THEN name"
        " ELSE (SELECT canonical FROM name WHERE id = entity.id) END"
        " WHERE id IN (SELECT value FROM json_each(?)) AND id IN (SELECT id FROM name)",
        (json.dumps(list(names)),),
    )
    await db.execute(
        "UPDATE relation SET description = '', keywords = '', embedding_hash = NULL"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(pairs)),),
    )
