"""Sort keys for rows of equal rank, made of their content: no order depends on which row came first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.records.projection import KeyKind
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.sql.connection import Connection

_SORT_KEY_QUERIES = {
    KeyKind.CHUNK: "SELECT c.id, c.key, '', '' FROM @list(?, j) @then JOIN chunk c ON c.id = j.value",
    KeyKind.NAME: "SELECT n.id, n.canonical, s.name, '' FROM @list(?, j) @then JOIN name n ON n.id = j.value"
    " @then JOIN space s ON s.id = n.space",
    KeyKind.PAIR: "SELECT p.id, @least(x.canonical, y.canonical), @greatest(x.canonical, y.canonical), s.name"
    " FROM @list(?, j)"
    " @then JOIN pair p ON p.id = j.value @then JOIN name x ON x.id = p.a @then JOIN name y ON y.id = p.b"
    " @then JOIN space s ON s.id = p.space",
}


def load_sort_keys(db: Connection, kind: KeyKind, ids: Collection[int]) -> dict[int, tuple[str, str, str]]:
    """Texts that order these chunks, names or pairs; missing rows are left out."""
    rows = db.execute_fetchall(_SORT_KEY_QUERIES[kind], (id_list(ids),))
    return {id_: (one, other, third) for id_, one, other, third in rows}
