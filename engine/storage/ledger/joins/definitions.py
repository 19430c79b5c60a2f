"""Abbreviations that chunks define, by the spelling keys of their two forms."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from engine.knowledge.duplicates.abbreviations import find_definitions
from engine.knowledge.duplicates.name_keys import parse_spelling, spelling_key
from engine.storage.sql.lists import id_list, text_list
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from engine.storage.sql.connection import Connection


class Expansion(NamedTuple):
    """The long form of an abbreviation: its spelling key, and its core with the last word as written."""

    long_key: str
    long_core: str


async def save_definitions(db: Connection, chunk: int, space: int, text: str) -> set[str]:
    """Save the abbreviations that a chunk defines; returns the spelling keys of both forms."""
    rows = set[tuple[str, str, str]]()
    for each in find_definitions(text):
        short, long = normalize_name(each.short), normalize_name(each.long)
        if short and long:
            rows.add((spelling_key(short), spelling_key(long), parse_spelling(long).core))
    await db.executemany(
        "INSERT INTO abbreviation (chunk, space, short_key, long_key, long_core) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        [(chunk, space, *row) for row in sorted(rows)],
    )
    return {key for row in rows for key in row[:2]}


async def find_defined_keys(db: Connection, chunks: Collection[int]) -> dict[int, set[str]]:
    """The spelling keys of the abbreviations that these chunks define and of their long forms, by space."""
    rows = await db.execute_fetchall(
        "SELECT space, short_key, long_key FROM json_each(?) j CROSS JOIN abbreviation x ON x.chunk = j.value",
        (id_list(chunks),),
    )
    return _collect_keys(rows)


async def move_definitions(db: Connection, chunks: Collection[int], space: int) -> dict[int, set[str]]:
    """Move the definitions of chunks into a space; returns the affected spelling keys by space, old and new."""
    before = await find_defined_keys(db, chunks)
    await db.execute(
        "UPDATE abbreviation SET space = ? WHERE chunk IN (SELECT value FROM json_each(?))",
        (space, id_list(chunks)),
    )
    return {space: {key for keys in before.values() for key in keys}} | before


def _collect_keys(rows: Iterable[tuple[int, str, str]]) -> dict[int, set[str]]:
    keys: defaultdict[int, set[str]] = defaultdict(set)
    for space, *forms in rows:
        keys[space].update(forms)
    return dict(keys)


async def load_linked_keys(db: Connection, space: int, keys: Collection[str]) -> set[str]:
    """The keys that a definition of the space links with any of these."""
    listed = (space, text_list(keys))
    rows = await db.execute_fetchall(
        "SELECT x.long_key FROM json_each(?2) j CROSS JOIN abbreviation x ON x.space = ?1 AND x.short_key = j.value"
        " UNION SELECT x.short_key FROM json_each(?2) j"
        " CROSS JOIN abbreviation x ON x.space = ?1 AND x.long_key = j.value",
        listed,
    )
    return {row[0] for row in rows}


async def load_expansions(db: Connection, space: int, keys: Collection[str]) -> dict[str, Expansion]:
    """The long forms of those keys for which the texts of the space give exactly one."""
    rows = await db.execute_fetchall(
        "SELECT x.short_key, MIN(x.long_key), MIN(x.long_core) FROM json_each(?) j"
        " CROSS JOIN abbreviation x ON x.space = ? AND x.short_key = j.value"
        " GROUP BY x.short_key HAVING MIN(x.long_core) = MAX(x.long_core)",
        (text_list(keys), space),
    )
    return {short: Expansion(long_key, long_core) for short, long_key, long_core in rows}
