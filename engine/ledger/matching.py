"""What full text is asked for a question: the words that are worth looking for."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal

from engine.ledger.marks import Stale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.ledger.connection import Connection
    from engine.ledger.search import Area

    Table = Literal["chunk_words", "entity_words"]

WORD = re.compile(r"\w+")
TERMS = 16
# A word that so large a share of so many texts has tells little of any of them, and ranking them all takes long.
COMMON_SHARE, MANY_TEXTS = 0.06, 1000
RANKED = 8_000
STOP = frozenset(
    WORD.findall(
        "a about after all also an and any are as at be been before but by can could did do does for from had has have"
        " he her him his how i if in into is it its just me more my no not of on one or our out she so some than that"
        " the their them then there they this to up us was we were what when where which who whom whose why will with"
        " would you your"
    )
)


def words_of(text: str) -> list[str]:
    """The words of a text that are worth looking for, each once, in order."""
    found = dict.fromkeys(word for word in WORD.findall(text.casefold()) if word not in STOP)
    return list(found)[:TERMS]


async def match(db: Connection, table: Table, text: str, where: Area) -> str:
    """What FTS5 is asked: any of the words, but for very common ones if there are others, else the rarest of them.

    With trigrams, any three neighbours of a run without spaces. Shorter runs are left to the vectors then: the index
    knows nothing of less than three characters.
    """
    [[schema]] = await db.execute_fetchall("SELECT sql FROM sqlite_master WHERE name = 'chunk_words'")
    words = words_of(text)
    terms = words
    if "trigram" in schema:
        runs = ([word] if word.isascii() else [word[i : i + 3] for i in range(len(word) - 2)] for word in words)
        terms = [term for run in runs for term in run if len(term) > 2]
    quoted = [f'"{term}"' for term in dict.fromkeys(terms)]
    uncommon = [term for term in quoted if not await _common(db, table, term, where)]
    return " OR ".join(uncommon or await _rarest(db, table, quoted, where))


async def _common(db: Connection, table: Table, term: str, where: Area) -> bool:
    """Whether a word is in a large share of what may be found at all; other spaces do not count."""
    [[rows]] = await db.execute_fetchall(
        "SELECT COALESCE(SUM(rows), 0) FROM population WHERE kind = ? AND space IN (SELECT value FROM json_each(?))",
        (Stale.CHUNK if table == "chunk_words" else Stale.NAME, json.dumps(sorted(where.spaces))),
    )
    limit = max(MANY_TEXTS, int(rows * COMMON_SHARE))
    return rows >= limit and await _found(db, table, term, where, limit) >= limit


async def _found(db: Connection, table: Table, term: str, where: Area, limit: int) -> int:
    """How many rows of the area hold a word; counted up to the limit."""
    rows_of, condition = (
        ("chunk x INDEXED BY chunk_place", where.condition("x"))
        if table == "chunk_words"
        else ("entity x INDEXED BY entity_place", f"x.space IN ({','.join(map(str, sorted(where.spaces)))})")
    )
    [[found]] = await db.execute_fetchall(
        f"SELECT COUNT(*) FROM (SELECT 1 FROM {table} w CROSS JOIN {rows_of} ON x.id = w.rowid"
        f" WHERE w.{table} MATCH ? AND {condition} LIMIT ?)",
        (term, limit),
    )
    return int(found)


async def _rarest(db: Connection, table: Table, terms: Sequence[str], where: Area) -> list[str]:
    """Of words that are all common the rarest, as long as not too many texts have to be ranked; one at least."""
    held = {term: await _found(db, table, term, where, RANKED) for term in terms} if len(terms) > 1 else {}
    chosen, ranked = list[str](), 0
    for term in sorted(terms, key=lambda term: held.get(term, 0)):
        ranked += held.get(term, 0)
        if chosen and ranked > RANKED:
            break
        chosen.append(term)
    return chosen
