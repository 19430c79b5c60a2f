"""What a correction by hand changes: the records that it makes and removes, which its undo reverses."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import CorrectionChanged
from engine.storage.ledger.corrections import (
    merge_names,
    pin_description,
    remove_alias,
    remove_distinct,
    resolve_place,
    save_alias,
    save_distinct,
    separate_names,
    set_hidden,
    unmerge_name,
)
from engine.storage.ledger.joins.aliases import Alias
from engine.storage.ledger.records.query_results import CorrectionChange, ManualCorrection
from engine.storage.sql.lists import text_list
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from engine.storage.sql.connection import Connection

CHANGED = "This correction is not there any more: somebody changed or undid it."

_RECORDS = (  # those of some names; the second name is "" for an entity
    "SELECT 'merge', name, target, '' FROM alias WHERE space = ?1 AND reason = '' AND name IN {names}"
    " UNION ALL SELECT 'separate', a, b, '' FROM distinct_names WHERE space = ?1 AND a IN {names}"
    " UNION ALL SELECT 'separate', a, b, '' FROM distinct_names WHERE space = ?1 AND b IN {names} AND a NOT IN {names}"
    " UNION ALL SELECT 'describe', a, b, description FROM description_override"
    " WHERE space = ?1 AND a IN {names} AND (b = '' OR b IN {names})"
    " UNION ALL SELECT 'hide', a, b, '' FROM hidden_key"
    " WHERE space = ?1 AND a IN {names} AND (b = '' OR b IN {names})"
).format(names="(SELECT value FROM json_each(?2))")


class _Record(NamedTuple):
    """A correction under canonical names."""

    kind: str
    a: str
    b: str
    description: str

    @property
    def key(self) -> tuple[str, ...]:
        """What there is one of: a name is merged into one other."""
        return (self.kind, self.a) if self.kind == "merge" else (self.kind, self.a, self.b)


async def merge(db: Connection, space: str, name: str, into: str, room: str = "") -> CorrectionChange:
    """`merge_names` with what it changed."""
    return await _observe(db, (space, room), (name, into), partial(merge_names, db, space, name, into, room))


async def unmerge(db: Connection, space: str, name: str, room: str = "") -> CorrectionChange:
    """`unmerge_name` with what it changed."""
    return await _observe(db, (space, room), (name,), partial(unmerge_name, db, space, name, room))


async def separate(db: Connection, space: str, name: str, other: str, room: str = "") -> CorrectionChange:
    """`separate_names` with what it changed."""
    return await _observe(db, (space, room), (name, other), partial(separate_names, db, space, name, other, room))


async def describe(
    db: Connection, space: str, names: tuple[str, str], description: str, room: str = ""
) -> CorrectionChange:
    """`pin_description` with what it changed."""
    return await _observe(db, (space, room), names, partial(pin_description, db, space, names, description, room))


async def hide(db: Connection, space: str, names: tuple[str, str], room: str = "", *, hidden: bool) -> CorrectionChange:
    """`set_hidden` with what it changed."""
    return await _observe(db, (space, room), names, partial(set_hidden, db, space, names, room, hidden=hidden))


async def undo(db: Connection, space: str, change: CorrectionChange, room: str = "") -> CorrectionChange:
    """Remove what a correction made, and restore what it removed; returns what that changed.

    Raises CorrectionChanged if that is not the present state, so that of two undos at once one succeeds.
    """
    made, removed = _to_records(change.made), _to_records(change.removed)
    names = {name for each in made | removed for name in (each.a, each.b) if name}
    return await _observe(db, (space, room), names, partial(_reverse, db, (space, room), made, removed))


async def _observe(
    db: Connection, place: tuple[str, str], names: Iterable[str], correct: Callable[[], Awaitable[Iterable[str] | None]]
) -> CorrectionChange:
    """What a correction of these names changes in a space; `place`: the space, and the room with which it moves."""
    id_, _ = await resolve_place(db, *place)
    canonical = {normalize_name(each) for each in names if each}
    before = await _load_records(db, id_, canonical)
    unknown = await correct()
    after = await _load_records(db, id_, canonical)
    made, removed = [
        tuple(ManualCorrection(kind, place[0], *rest) for kind, *rest in sorted(some))
        for some in (after - before, before - after)
    ]
    return CorrectionChange(made, removed, tuple(unknown or ()))


async def _load_records(db: Connection, space: int, names: Iterable[str]) -> set[_Record]:
    return {_Record(*row) for row in await db.execute_fetchall(_RECORDS, (space, text_list(names)))}


def _to_records(corrections: Iterable[ManualCorrection]) -> set[_Record]:
    records = set()
    for each in corrections:
        a, b = normalize_name(each.name), normalize_name(each.other) if each.other else ""
        if b and each.kind != "merge":
            a, b = min(a, b), max(a, b)
        records.add(_Record(each.kind, a, b, each.description))
    return records


async def _reverse(db: Connection, place: tuple[str, str], made: set[_Record], removed: set[_Record]) -> None:
    id_, room = await resolve_place(db, *place)
    present = await _load_records(db, id_, {name for each in made | removed for name in (each.a, each.b) if name})
    replaced = {each.key for each in removed}
    if not made <= present or any(each.key in replaced for each in present - made):
        raise CorrectionChanged(CHANGED)
    space, room_name = place
    for kind, a, b, _ in sorted(made):
        if kind == "merge":
            await remove_alias(db, id_, a, b)
        elif kind == "separate":
            await remove_distinct(db, id_, a, b)
        elif kind == "describe":
            await pin_description(db, space, (a, b), "", room_name)
        else:
            await set_hidden(db, space, (a, b), room_name, hidden=False)
    for kind, a, b, description in sorted(removed):
        if kind == "merge":
            await save_alias(db, id_, a, Alias(b, room=room))
        elif kind == "separate":
            await save_distinct(db, id_, a, {b}, room)
        elif kind == "describe":
            await pin_description(db, space, (a, b), description, room_name)
        else:
            await set_hidden(db, space, (a, b), room_name, hidden=True)
