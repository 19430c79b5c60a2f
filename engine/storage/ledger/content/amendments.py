"""A change of some passages of a document: what stands around it is read, and replaced if nothing came between."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from engine.errors import NotFound
from engine.models import Chunk, Passage, Piece
from engine.storage.ledger.content import open_vectors
from engine.storage.ledger.content.chunks import Span, put_chunks, repeated
from engine.storage.ledger.content.documents import forget, in_order, put_passages, renew
from engine.storage.ledger.content.stretch import Stretch
from engine.storage.sqlite.timestamps import shown, stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.storage.ledger.content.documents import Change
    from engine.storage.ledger.content.stretch import Segment
    from engine.storage.sqlite.connection import Connection

    Order = tuple[int, int, str]

REACH = 4  # chunks read before and after a change at first
EVERYTHING = 2**31
_ORDERED = "passage p INDEXED BY passage_order"
_KEYS = "(p.position, p.at, p.key)"
_COLUMNS = "p.key, p.text, p.label, p.link, p.author, p.time, p.position"
LOWEST = (-(2**63), -(2**63), "")


class Outcome(Enum):
    """What came of an amendment; one that came too late, or saw too little, is made anew."""

    CHANGED = auto()
    UNCHANGED = auto()
    TOO_LATE = auto()
    TOO_LITTLE = auto()


@dataclass(frozen=True, slots=True)
class Plan:
    """What was read: the document as of a generation, and the stretch from its chunk `first` on.

    `touched`: passages that differ from what stands there; `stretch` is None if none does.
    """

    id: int
    key: str
    generation: int
    open: bool
    first: int
    touched: tuple[Passage, ...]
    dropped: frozenset[str]
    stretch: Stretch | None


async def plan(db: Connection, key: str, change: Change, reach: int) -> Plan:
    """Read what stands around a change. Raises NotFound if there is no such document."""
    found = await db.execute_fetchall("SELECT id, generation, open FROM document WHERE key = ?", (key,))
    for id_, generation, open_ in found:
        keys = [*change.drop, *(passage.key for passage in change.put)]
        known = {passage.key: passage for passage in await _passages(db, id_, *keys)}
        dropped = change.drop & known.keys() - {passage.key for passage in change.put}
        touched = tuple(p for p in {p.key: p for p in change.put}.values() if known.get(p.key) != p)
        replaced = [known[key] for key in (*dropped, *(p.key for p in touched)) if key in known]
        open_now = bool(open_) if change.open is None else change.open
        if not (touched or dropped):
            return Plan(id_, key, generation, open_now, 0, (), dropped, None)
        first, stretch = await _stretch(db, id_, [*replaced, *touched], dropped, touched, reach)
        return Plan(id_, key, generation, open_now, first, touched, dropped, stretch)
    raise NotFound(f"There is no document “{key}”.")


async def apply(db: Connection, made: Plan, segment: Segment | None) -> Outcome:
    """Make the planned change; a document of which no text is left is forgotten."""
    found = await db.execute_fetchall(
        "SELECT open, time FROM document WHERE id = ? AND generation = ?", (made.id, made.generation)
    )
    for was_open, time in found:
        changed = bool(was_open) != made.open
        await db.execute("UPDATE document SET open = ? WHERE id = ?", (made.open, made.id))
        if was_open and not made.open:
            await open_vectors.close(db, made.id)
        if segment is not None:
            chunks, span = segment.chunks, Span(made.first, made.first + segment.replaced)
            if await repeated(db, made.id, chunks, span):
                if made.stretch is None or not (made.stretch.begins and made.stretch.ends):
                    return Outcome.TOO_LITTLE
                chunks, span = (*chunks, *made.stretch.old[segment.replaced :]), Span(0, len(made.stretch.old))
            removed = await put_passages(db, made.id, made.touched, made.dropped)
            await put_chunks(db, (made.id, made.key, time), chunks, span, removed=removed)
            changed = True
            if not list(await db.execute_fetchall("SELECT 1 FROM chunk WHERE document = ? LIMIT 1", (made.id,))):
                await forget(db, made.key)
                return Outcome.CHANGED
        if changed:
            await renew(db, made.id)
        return Outcome.CHANGED if changed else Outcome.UNCHANGED
    return Outcome.TOO_LATE


async def _stretch(
    db: Connection,
    document: int,
    moved: Sequence[Passage],
    dropped: frozenset[str],
    touched: Sequence[Passage],
    reach: int,
) -> tuple[int, Stretch]:
    """The stretch around passages that come, go or change, and the ordinal of its first chunk."""
    orders = sorted(map(order, moved))
    [[last]] = await db.execute_fetchall("SELECT COALESCE(MAX(ordinal), -1) FROM chunk WHERE document = ?", (document,))
    low = await _neighbour(db, document, orders[0], "<", "DESC")
    high = await _neighbour(db, document, orders[-1], ">", "ASC")
    first = 0 if low is None else await _whole(db, document, max(0, low - reach), "MIN")
    until = last if high is None else await _whole(db, document, min(last, high + reach), "MAX")
    old = await _chunks(db, document, first, until)
    begin = await _passages(db, document, old[0].pieces[0].passage) if first > 0 else []
    end = await _passages(db, document, old[-1].pieces[-1].passage) if until < last else []
    before = await _between(db, document, order(begin[0]) if begin else LOWEST, order(end[0]) if end else None)
    gone = dropped | {passage.key for passage in touched}
    after = in_order([*(passage for passage in before if passage.key not in gone), *touched])
    return first, Stretch(old, after, _differing(before, after), begins=first == 0, ends=until >= last)


def order(passage: Passage) -> Order:
    """Where a passage stands in its document."""
    return passage.position, stored(passage.time) or 0, passage.key


def _differing(before: Sequence[Passage], after: Sequence[Passage]) -> range:
    """The places in `after` outside of which both are the same."""
    least = min(len(before), len(after))
    first = next((n for n in range(least) if before[n] != after[n]), least)
    tail = 0
    while tail < least - first and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return range(first, len(after) - tail)


async def _neighbour(db: Connection, document: int, place: Order, sign: str, direction: str) -> int | None:
    """The ordinal of the chunk that holds the nearest passage before or after a place, if any does."""
    ordered = ", ".join(f"{column} {direction}" for column in ("p.position", "p.at", "p.key", "c.ordinal"))
    rows = await db.execute_fetchall(
        f"SELECT c.ordinal FROM {_ORDERED} CROSS JOIN piece i ON i.passage = p.id CROSS JOIN chunk c ON c.id = i.chunk"
        f" WHERE p.document = ? AND {_KEYS} {sign} (?, ?, ?) ORDER BY {ordered} LIMIT 1",
        (document, *place),
    )
    return next((int(row[0]) for row in rows), None)


async def _whole(db: Connection, document: int, ordinal: int, most: str) -> int:
    """The first, or last, chunk with a part of what stands in this one: a long passage is in several."""
    rows = await db.execute_fetchall(
        f"SELECT {most}(o.ordinal) FROM chunk c CROSS JOIN piece i ON i.chunk = c.id"
        " CROSS JOIN piece k ON k.passage = i.passage CROSS JOIN chunk o ON o.id = k.chunk"
        " WHERE c.document = ? AND c.ordinal = ?",
        (document, ordinal),
    )
    return next((int(row[0]) for row in rows if row[0] is not None), ordinal)


async def _chunks(db: Connection, document: int, first: int, until: int) -> list[Chunk]:
    rows = await db.execute_fetchall(
        "SELECT c.ordinal, c.text, c.tokens, p.key, i.start, i.stop FROM chunk c INDEXED BY chunk_order"
        " CROSS JOIN piece i ON i.chunk = c.id CROSS JOIN passage p ON p.id = i.passage"
        " WHERE c.document = ? AND c.ordinal BETWEEN ? AND ? ORDER BY c.ordinal, i.ordinal",
        (document, first, until),
    )
    texts: dict[int, tuple[str, int]] = {}
    pieces: dict[int, list[Piece]] = {}
    for ordinal, text, tokens, key, start, stop in rows:
        texts[ordinal] = text, tokens
        pieces.setdefault(ordinal, []).append(Piece(key, start, stop))
    return [Chunk(*texts[ordinal], tuple(pieces[ordinal])) for ordinal in texts]


async def _passages(db: Connection, document: int, *keys: str) -> list[Passage]:
    rows = await db.execute_fetchall(
        f"SELECT {_COLUMNS} FROM json_each(?) j CROSS JOIN passage p ON p.document = ? AND p.key = j.value",
        (json.dumps(keys), document),
    )
    return [_passage(*row) for row in rows]


async def _between(db: Connection, document: int, low: Order, high: Order | None) -> list[Passage]:
    """The passages from one place to another, in order."""
    until = "" if high is None else f" AND {_KEYS} <= (?, ?, ?)"
    rows = await db.execute_fetchall(
        f"SELECT {_COLUMNS} FROM {_ORDERED} WHERE p.document = ? AND {_KEYS} >= (?, ?, ?){until}"
        " ORDER BY p.position, p.at, p.key",
        (document, *low, *(high or ())),
    )
    return [_passage(*row) for row in rows]


def _passage(key: str, text: str, label: str, link: str, author: str, time: int | None, position: int) -> Passage:  # noqa: PLR0913, PLR0917  - a row
    return Passage(key, text, label, link, author, shown(time), position)
