"""Marking what changed facts and aliases make outdated: profiles, projections and cached answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.names import delete_unused_names, find_targets
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.stale_keys import add_stale_keys
from engine.storage.ledger.work.work_queue import set_setting
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.sql.connection import Connection

_STATED = "EXISTS (SELECT 1 FROM name n CROSS JOIN mention f ON f.name = n.id WHERE n.target = entity.id AND f.{} = {})"


async def invalidate_keys(db: Connection, names: Collection[int], pairs: Collection[int], generation: int) -> None:
    """Mark names and pairs with changed facts stale; delete cached answers that used them, and unused keys.

    Deleted text leaves the profiles in the same transaction.
    """
    target_names, target_pairs = await find_targets(db, names, pairs)
    every_name, every_pair = target_names | set(names), target_pairs | set(pairs)
    await add_stale_keys(db, KeyKind.NAME, every_name, generation)
    await add_stale_keys(db, KeyKind.PAIR, every_pair, generation)
    await delete_cached_answers(db, KeyKind.NAME, every_name)
    await delete_cached_answers(db, KeyKind.PAIR, every_pair)
    await delete_unused_names(db, every_name, every_pair)
    await clear_profiles(db, every_name, every_pair)
    await set_setting(db, "last_revision", generation)


async def delete_cached_answers(db: Connection, kind: KeyKind, ids: Collection[int]) -> None:
    """Delete cached answers that used any of these rows."""
    await db.execute(
        "DELETE FROM answer_cache WHERE key IN (SELECT u.key FROM json_each(?) j"
        " CROSS JOIN answer_cache_source u ON u.kind = ? AND u.id = j.value)",
        (id_list(ids), kind),
    )


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
        (id_list(names),),
    )
    await db.execute(
        "UPDATE relation SET description = '', keywords = '', embedding_hash = NULL"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (id_list(pairs),),
    )
