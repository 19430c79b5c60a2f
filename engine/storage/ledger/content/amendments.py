"""Amendments of documents: read the region around a change, then replace it unless the document has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.errors import NotFound
from engine.models import Chunk, ChunkPiece, Passage
from engine.storage.ledger.content.chunks import ChunkRange, Chunks
from engine.storage.ledger.content.documents import Documents, sort_passages
from engine.storage.ledger.records.content import (
    INITIAL_REACH,
    WHOLE_DOCUMENT,
    AmendmentPlan,
    AmendmentResult,
    ChangedRegion,
    widen_reach,
)
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.storage.sql.fragments import from_micros, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.storage.ledger.records.content import DocumentChange, RechunkedRegion

    PassageOrder = tuple[int, int, str]


_PASSAGES_IN_ORDER = "passage p @use(passage_order)"
_ORDER_COLUMNS = "(p.position, p.sort_time, p.key)"
_COLUMNS = "p.key, p.text, p.label, p.link, p.author, p.time, p.position"
LOWEST_ORDER = (-(2**63), -(2**63), "")


class Amendments(Topic[Place_co]):
    """Changes of documents that replace only the region around them."""

    @reading
    def plan(self, key: str, change: DocumentChange, reach: int) -> AmendmentPlan:
        """Read the region around a change, with `reach` chunks before and after it. Raises NotFound."""
        found = self.db.execute_fetchall("SELECT id, generation, open FROM document WHERE key = ?", (key,))
        for id_, generation, open_ in found:
            keys = [*change.removed_keys, *(passage.key for passage in change.upserts)]
            known = {passage.key: passage for passage in self._load_passages(id_, *keys)}
            dropped = change.removed_keys & known.keys() - {passage.key for passage in change.upserts}
            touched = tuple(p for p in {p.key: p for p in change.upserts}.values() if known.get(p.key) != p)
            replaced = [known[key] for key in (*dropped, *(p.key for p in touched)) if key in known]
            open_now = bool(open_) if change.is_open is None else change.is_open
            if not (touched or dropped):
                return AmendmentPlan(id_, key, generation, open_now, 0, (), dropped, None)
            first, stretch = self._load_region(id_, [*replaced, *touched], dropped, touched, reach)
            return AmendmentPlan(id_, key, generation, open_now, first, touched, dropped, stretch)
        raise NotFound(f"There is no document “{key}”.")

    @writing
    def apply(self, plan: AmendmentPlan, rechunked: RechunkedRegion | None) -> AmendmentResult:
        """Make the planned change, unless the document has changed since; delete a document without text."""
        found = self.db.execute_fetchall(
            "SELECT open, time FROM document WHERE id = ? AND generation = ?", (plan.id, plan.generation)
        )
        for was_open, time in found:
            changed = bool(was_open) != plan.is_open
            self.db.execute("UPDATE document SET open = ? WHERE id = ?", (plan.is_open, plan.id))
            if was_open and not plan.is_open:
                Chunks(self.db).finish_conversation(plan.id)
            if rechunked is not None:
                chunks, span = (
                    rechunked.chunks,
                    ChunkRange(plan.first_chunk, plan.first_chunk + rechunked.replaced_count),
                )
                if Chunks(self.db).has_repeated_text(plan.id, chunks, span):
                    if plan.region is None or not (plan.region.is_first and plan.region.is_last):
                        return AmendmentResult.RANGE_TOO_SMALL
                    chunks, span = (
                        (*chunks, *plan.region.old_chunks[rechunked.replaced_count :]),
                        ChunkRange(0, len(plan.region.old_chunks)),
                    )
                removed = Documents(self.db).upsert_passages(plan.id, plan.changed_passages, plan.removed_keys)
                Chunks(self.db).replace((plan.id, plan.key, time), chunks, span, removed=removed)
                changed = True
                if not self.db.execute_fetchall("SELECT 1 FROM chunk WHERE document = ? LIMIT 1", (plan.id,)):
                    Documents(self.db).delete(plan.key)
                    return AmendmentResult.CHANGED
            if changed:
                Documents(self.db).reset_to_pending(plan.id)
            return AmendmentResult.CHANGED if changed else AmendmentResult.UNCHANGED
        return AmendmentResult.CONFLICT

    @writing
    def amend(
        self,
        key: str,
        change: DocumentChange,
        rechunk: Callable[[ChangedRegion], RechunkedRegion | None],
    ) -> bool:
        """Plan and apply a change in one transaction, without conflicts; returns whether anything changed.

        `rechunk` returns None if the region is too small, and is called again with a larger one.
        """
        reach = INITIAL_REACH
        while True:
            plan = self.plan(key, change, reach)
            rechunked = None if plan.region is None else rechunk(plan.region)
            if plan.region is not None and rechunked is None:
                reach = widen_reach(reach)
                continue
            outcome = self.apply(plan, rechunked)
            if outcome is not AmendmentResult.RANGE_TOO_SMALL:
                return outcome is AmendmentResult.CHANGED
            reach = WHOLE_DOCUMENT

    def _load_region(
        self,
        document: int,
        moved: Sequence[Passage],
        dropped: frozenset[str],
        touched: Sequence[Passage],
        reach: int,
    ) -> tuple[int, ChangedRegion]:
        """The region around passages that are added, removed or changed, and the ordinal of its first chunk."""
        orders = sorted(map(passage_order, moved))
        [[last]] = self.db.execute_fetchall(
            "SELECT COALESCE(MAX(ordinal), -1) FROM chunk WHERE document = ?", (document,)
        )
        low = self._neighbor_ordinal(document, orders[0], "<", "DESC")
        high = self._neighbor_ordinal(document, orders[-1], ">", "ASC")
        first = 0 if low is None else self._extend_to_passage(document, max(0, low - reach), "MIN")
        until = last if high is None else self._extend_to_passage(document, min(last, high + reach), "MAX")
        old = self._load_chunks(document, first, until)
        begin = self._load_passages(document, old[0].pieces[0].passage) if first > 0 else []
        end = self._load_passages(document, old[-1].pieces[-1].passage) if until < last else []
        before = self._load_passage_range(
            document, passage_order(begin[0]) if begin else LOWEST_ORDER, passage_order(end[0]) if end else None
        )
        replaced_keys = dropped | {passage.key for passage in touched}
        after = sort_passages([*(passage for passage in before if passage.key not in replaced_keys), *touched])
        return first, ChangedRegion(
            old, after, _changed_range(before, after), is_first=first == 0, is_last=until >= last
        )

    def _neighbor_ordinal(self, document: int, place: PassageOrder, sign: str, direction: str) -> int | None:
        """The ordinal of the chunk with the nearest passage before or after a position, if any."""
        ordered = ", ".join(f"{column} {direction}" for column in ("p.position", "p.sort_time", "p.key", "c.ordinal"))
        rows = self.db.execute_fetchall(
            f"SELECT c.ordinal FROM {_PASSAGES_IN_ORDER} @then JOIN chunk_passage i ON i.passage = p.id"
            " @then JOIN chunk c ON c.id = i.chunk"
            f" WHERE p.document = ? AND {_ORDER_COLUMNS} {sign} (?, ?, ?) ORDER BY {ordered} LIMIT 1",
            (document, *place),
        )
        return next((int(row[0]) for row in rows), None)

    def _extend_to_passage(self, document: int, ordinal: int, most: str) -> int:
        """The first or last chunk that shares a passage with this one: a long passage is in several chunks."""
        rows = self.db.execute_fetchall(
            f"SELECT {most}(o.ordinal) FROM chunk c @then JOIN chunk_passage i ON i.chunk = c.id"
            " @then JOIN chunk_passage k ON k.passage = i.passage @then JOIN chunk o ON o.id = k.chunk"
            " WHERE c.document = ? AND c.ordinal = ?",
            (document, ordinal),
        )
        return next((int(row[0]) for row in rows if row[0] is not None), ordinal)

    def _load_chunks(self, document: int, first: int, until: int) -> list[Chunk]:
        rows = self.db.execute_fetchall(
            "SELECT c.ordinal, c.text, c.tokens, p.key, i.start_offset, i.end_offset"
            " FROM chunk c @use(chunk_order)"
            " @then JOIN chunk_passage i ON i.chunk = c.id @then JOIN passage p ON p.id = i.passage"
            " WHERE c.document = ? AND c.ordinal BETWEEN ? AND ? ORDER BY c.ordinal, i.ordinal",
            (document, first, until),
        )
        texts: dict[int, tuple[str, int]] = {}
        pieces: dict[int, list[ChunkPiece]] = {}
        for ordinal, text, tokens, key, start, stop in rows:
            texts[ordinal] = text, tokens
            pieces.setdefault(ordinal, []).append(ChunkPiece(key, start, stop))
        return [Chunk(*texts[ordinal], tuple(pieces[ordinal])) for ordinal in texts]

    def _load_passages(self, document: int, *keys: str) -> list[Passage]:
        rows = self.db.execute_fetchall(
            f"SELECT {_COLUMNS} FROM @list(?, j) @then JOIN passage p ON p.document = ? AND p.key = j.value",
            (text_list(keys), document),
        )
        return [_build_passage(row) for row in rows]

    def _load_passage_range(self, document: int, low: PassageOrder, high: PassageOrder | None) -> list[Passage]:
        """The passages from one sort key to another, in order."""
        until = "" if high is None else f" AND {_ORDER_COLUMNS} <= (?, ?, ?)"
        rows = self.db.execute_fetchall(
            f"SELECT {_COLUMNS} FROM {_PASSAGES_IN_ORDER} WHERE p.document = ? AND {_ORDER_COLUMNS} >= (?, ?, ?){until}"
            " ORDER BY p.position, p.sort_time, p.key",
            (document, *low, *(high or ())),
        )
        return [_build_passage(row) for row in rows]


def passage_order(passage: Passage) -> PassageOrder:
    """The sort key of a passage in its document."""
    return passage.position, to_micros(passage.time) or 0, passage.key


def _changed_range(before: Sequence[Passage], after: Sequence[Passage]) -> range:
    """The range of indexes in `after` that differs from `before`."""
    least = min(len(before), len(after))
    first = next((n for n in range(least) if before[n] != after[n]), least)
    tail = 0
    while tail < least - first and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return range(first, len(after) - tail)


def _build_passage(row: Sequence[Any]) -> Passage:
    """The passage of a row with the columns `_COLUMNS`."""
    key, text, label, link, author, time, position = row
    return Passage(key, text, label, link, author, from_micros(time), position)
