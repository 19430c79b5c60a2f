"""Keep the automatic aliases of a space what its present names, texts and corrections make of them.

This runs in the transaction that changed any of these, so the aliases never depend on the order of changes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.knowledge.duplicates.joins import ManualAliases, NameEvidence, plan_joins
from engine.knowledge.duplicates.name_keys import spelling_key
from engine.storage.ledger.joins.aliases import Alias, change_aliases, load_automatic_aliases
from engine.storage.ledger.joins.definitions import load_expansions, load_linked_keys
from engine.storage.ledger.names import resolve_manual_aliases
from engine.storage.ledger.work.work_queue import set_setting
from engine.storage.sql.lists import id_list, text_list

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from engine.storage.ledger.joins.definitions import Expansion
    from engine.storage.sql.connection import Connection

SETTING = "automatic_joins"
MAX_MENTIONS = 16  # of a name that show how it is written, the earliest ones
MAX_NAMES = 32  # with one key that are compared with each other, the longest ones
BATCH_SIZE = 1000


async def refresh_joins(
    db: Connection, space: int, names: Collection[str], definition_keys: Collection[str] = ()
) -> None:
    """Bring the automatic aliases of these canonical names, and of what they may be joined with, up to date.

    `definition_keys`: spelling keys of abbreviations whose definitions changed, and of their long forms.
    """
    if not (names or definition_keys):
        return
    leading = await load_automatic_aliases(db, space, names)
    keys = {spelling_key(name) for name in (*names, *leading)} | set(definition_keys)
    linked = await load_linked_keys(db, space, keys)
    near = keys | linked
    wide = near | (await load_linked_keys(db, space, near) if linked else linked)
    expansions = await load_expansions(db, space, wide) if linked else {}
    groups = await _load_groups(db, space, wide, near, expansions)
    others = {name for group in groups.values() for name in group}.difference(names)
    current = leading | (await load_automatic_aliases(db, space, others) if others else {})
    current = {name: alias for name, alias in current.items() if _group_key(name, expansions) in near}
    if not current and all(len(group) < 2 for group in groups.values()):
        return
    if not await _is_enabled(db):
        return
    wanted = await _plan(db, _Spellings(space, groups, expansions))
    changes = {name: wanted.get(name) for name in current.keys() | wanted if wanted.get(name) != current.get(name)}
    await change_aliases(db, space, changes)


async def refresh_joins_by_id(db: Connection, names: Collection[int], definition_keys: Mapping[int, set[str]]) -> None:
    """`refresh_joins` for names by id, of any space, and for spelling keys by space."""
    by_space: defaultdict[int, list[str]] = defaultdict(list)
    for space, name in await db.execute_fetchall(
        "SELECT n.space, n.canonical FROM json_each(?) j CROSS JOIN name n ON n.id = j.value",
        (id_list(names),),
    ):
        by_space[space].append(name)
    for space in by_space.keys() | definition_keys:
        await refresh_joins(db, space, by_space[space], definition_keys.get(space, ()))


async def _is_enabled(db: Connection) -> bool:
    rows = await db.execute_fetchall("SELECT 1 FROM meta WHERE key = ? AND value = 'off'", (SETTING,))
    return not list(rows)


@dataclass(frozen=True, slots=True)
class _Spellings:
    """The names with facts of a space by their group, and the expansions of abbreviations by spelling key."""

    space: int
    groups: Mapping[str, list[str]]
    expansions: Mapping[str, Expansion]


def _group_key(name: str, expansions: Mapping[str, Expansion]) -> str:
    key = spelling_key(name)
    return expansions[key].long_key if key in expansions else key


async def _load_groups(
    db: Connection, space: int, keys: Collection[str], planned: Collection[str], expansions: Mapping[str, Expansion]
) -> dict[str, list[str]]:
    """The names with facts by group key, for the groups `planned`; `keys` are those of all their names."""
    rows = await db.execute_fetchall(
        "SELECT n.canonical FROM json_each(?) j CROSS JOIN name n ON n.space = ? AND n.spelling_key = j.value"
        " WHERE EXISTS (SELECT 1 FROM mention m WHERE m.name = n.id)",
        (text_list(keys), space),
    )
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for (name,) in rows:
        if (key := _group_key(name, expansions)) in planned:
            groups[key].append(name)
    return groups


async def _plan(db: Connection, spellings: _Spellings) -> dict[str, Alias]:
    ordered = [sorted(group, key=lambda name: (-len(name), name)) for group in spellings.groups.values()]
    groups = [group[:MAX_NAMES] for group in ordered if len(group) > 1]
    names = {name for group in groups for name in group}
    manual = await _load_manual_aliases(db, spellings.space, names)
    evidence = await _load_evidence(db, spellings, names)
    return {
        join.name: Alias(join.target, join.reason.value)
        for group in groups
        for join in plan_joins([evidence[name] for name in group], manual)
    }


async def _load_evidence(db: Connection, spellings: _Spellings, names: Collection[str]) -> dict[str, NameEvidence]:
    evidence = {}
    for name in names:
        rows = await db.execute_fetchall(
            "SELECT m.surface, m.type FROM name n CROSS JOIN mention m ON m.name = n.id"
            " WHERE n.space = ? AND n.canonical = ? ORDER BY m.time, m.hash, m.surface, m.type LIMIT ?",
            (spellings.space, name, MAX_MENTIONS),
        )
        surfaces, types = zip(*rows, strict=True)
        expansion = spellings.expansions.get(spelling_key(name))
        evidence[name] = NameEvidence(
            name, frozenset(surfaces), frozenset(types) - {""}, expansion.long_core if expansion else ""
        )
    return evidence


async def _load_manual_aliases(db: Connection, space: int, names: Collection[str]) -> ManualAliases:
    ends = await resolve_manual_aliases(db, space, names)
    candidates = text_list({*names, *ends.values()})
    roots = await db.execute_fetchall(
        "SELECT DISTINCT target FROM alias WHERE space = ? AND reason = '' AND target IN"
        " (SELECT value FROM json_each(?))",
        (space, candidates),
    )
    distinct = await db.execute_fetchall(
        "SELECT a, b FROM distinct_names WHERE space = ?1 AND a IN (SELECT value FROM json_each(?2))"
        " AND b IN (SELECT value FROM json_each(?2))",
        (space, candidates),
    )
    return ManualAliases(ends, frozenset(row[0] for row in roots), frozenset(map(tuple, distinct)))


async def set_automatic_joins(db: Connection, *, enabled: bool) -> None:
    """Turn automatic joins on or off; off removes the present ones, on makes them again."""
    if enabled == await _is_enabled(db):
        return
    rows = list(await db.execute_fetchall("SELECT space, name FROM alias WHERE reason <> ''"))
    for space in {row[0] for row in rows}:
        await change_aliases(db, space, {name: None for where, name in rows if where == space})
    await set_setting(db, SETTING, "on" if enabled else "off")
    by_space: defaultdict[int, list[str]] = defaultdict(list)
    for space, name in await db.execute_fetchall("SELECT space, canonical FROM name") if enabled else ():
        by_space[space].append(name)
    for space, names in by_space.items():
        for start in range(0, len(names), BATCH_SIZE):
            await refresh_joins(db, space, names[start : start + BATCH_SIZE])
