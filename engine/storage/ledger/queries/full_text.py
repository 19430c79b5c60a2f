"""What full text is searched for: the words of a question that are worth it, by what the scope holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.storage.ledger.queries.bm25 import extent, quoted, tokenizer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.storage.ledger.queries.bm25 import FullText
    from engine.storage.ledger.queries.lookup import Area
    from engine.storage.sqlite.connection import Connection

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


async def words_to_match(db: Connection, index: FullText, text: str, where: Area) -> list[str]:
    """What full text is searched for: the words of a text but for very common ones, or else the rarest of those.

    With trigrams, any three neighbours of a run without spaces. Shorter runs are left to the vectors then: the index
    knows nothing of less than three characters.
    """
    terms = words_of(text)
    if "trigram" in await tokenizer_of(db, index):
        runs = ([word] if word.isascii() else [word[i : i + 3] for i in range(len(word) - 2)] for word in terms)
        terms = [term for run in runs for term in run if len(term) > 2]
    distinct = list(dict.fromkeys(terms))
    rows = (await extent(db, index, where)).rows
    limit = max(MANY_TEXTS, int(rows * COMMON_SHARE))
    if rows < limit or len(distinct) < 2:
        return distinct
    uncommon = [term for term in distinct if await _found(db, index, term, where, limit) < limit]
    return uncommon or await _rarest(db, index, distinct, where)


async def _found(db: Connection, index: FullText, term: str, where: Area, limit: int) -> int:
    """How many rows of the area hold a word; counted up to the limit."""
    [[found]] = await db.execute_fetchall(
        f"SELECT COUNT(*) FROM (SELECT 1 FROM {index.words} w CROSS JOIN {index.place.format('x')} ON x.id = w.rowid"
        f" WHERE w.{index.words} MATCH ? AND {index.within(where, 'x')} LIMIT ?)",
        (quoted(term), limit),
    )
    return int(found)


async def _rarest(db: Connection, index: FullText, terms: Sequence[str], where: Area) -> list[str]:
    """Of words that are all common the rarest, as long as not too many texts have to be ranked; one at least."""
    held = {term: await _found(db, index, term, where, RANKED) for term in terms}
    chosen, ranked = list[str](), 0
    for term in sorted(terms, key=lambda term: held[term]):
        ranked += held[term]
        if chosen and ranked > RANKED:
            break
        chosen.append(term)
    return chosen
