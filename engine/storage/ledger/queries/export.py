"""Exports: the canonical one, its checksum, and the choice of a format."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from engine.storage.ledger.queries.graphml import export_graphml
from engine.storage.ledger.queries.search import Search
from engine.storage.sql.fragments import text_list

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Mapping

    from engine.models import Scope
    from engine.storage.ledger.records.query_results import ExportFormat
    from engine.storage.sql.connection import StreamingConnection


async def export_lines(db: StreamingConnection, form: ExportFormat, scope: Scope) -> AsyncGenerator[str, None]:
    """Lines of everything in the scope's spaces, in this format."""
    scope_ids = await db.run(lambda plain: Search(plain).resolve_scope(scope))
    made = export_canonical(db, scope.spaces) if form == "jsonl" else export_graphml(db, scope_ids)
    async with aclosing(made) as lines:
        async for line in lines:
            yield line


async def compute_checksum(db: StreamingConnection) -> str:
    """The checksum of the canonical export: ledgers with equal checksums hold the same facts and texts."""
    digest = sha256()
    async with aclosing(export_canonical(db)) as lines:
        async for line in lines:
            digest.update(line.encode("utf-8", "surrogatepass"))
            digest.update(b"\n")
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class CanonicalRecord:
    """A kind of record of the canonical export: an SQL expression for each field, and the tables they come from."""

    kind: str
    fields: Mapping[str, str]
    tables: str

    @property
    def sql(self) -> str:
        """The lines of all records, as SQL: JSON objects with sorted keys, written as Python's json module does."""
        values = {"kind": f"'\"{self.kind}\"'"} | {
            name: expression if name == "pieces" else f"json_quote({expression})"
            for name, expression in self.fields.items()
        }
        parts = [
            f"'{', ' if place else ''}\"{name}\": ' || {values[name]}" for place, name in enumerate(sorted(values))
        ]
        return f"SELECT '{{' || {' || '.join(parts)} || '}}' AS line FROM {self.tables}"


_PIECES = (
    "'[' || COALESCE((SELECT @joined(q.piece, ', ') FROM (SELECT"
    " '[' || json_quote(p.key) || ', ' || i.start_offset || ', ' || i.end_offset || ']' AS piece"
    " FROM chunk_passage i JOIN passage p ON p.id = i.passage WHERE i.chunk = c.id ORDER BY i.ordinal) q), '') || ']'"
)
_PAIR_ENDS = {"a": "@least(x.canonical, y.canonical)", "b": "@greatest(x.canonical, y.canonical)"}


def _columns(table: str, *names: str) -> dict[str, str]:
    return {name: f"{table}.{name}" for name in names}


CANONICAL_RECORDS = (
    CanonicalRecord(
        "document",
        _columns("d", "key", "title", "link", "time", "status", "error")
        | {"space": "s.name", "room": "r.name", "sort": "d.kind", "open": "CAST(d.open AS INTEGER)"},
        "document d JOIN space s ON s.id = d.space JOIN room r ON r.id = d.room",
    ),
    CanonicalRecord(
        "passage",
        _columns("p", "key", "position", "time", "author", "label", "link", "text")
        | {"document": "d.key", "space": "s.name"},
        "passage p JOIN document d ON d.id = p.document JOIN space s ON s.id = d.space",
    ),
    CanonicalRecord(
        "chunk",
        _columns("c", "key", "ordinal", "tokens", "time", "text", "error")
        | {"document": "d.key", "space": "s.name", "room": "r.name", "pieces": _PIECES}
        | {"read": "CAST(c.extraction IS NOT NULL AS INTEGER)"},
        "chunk c JOIN document d ON d.id = c.document JOIN space s ON s.id = c.space JOIN room r ON r.id = c.room",
    ),
    CanonicalRecord(
        "mention",
        _columns("m", "time", "surface", "type", "description")
        | {"chunk": "c.key", "space": "s.name", "canonical": "n.canonical"},
        "mention m JOIN chunk c ON c.id = m.chunk JOIN name n ON n.id = m.name JOIN space s ON s.id = n.space",
    ),
    CanonicalRecord(
        "link",
        _columns("f", "time", "keywords", "description") | {"chunk": "c.key", "space": "s.name"} | _PAIR_ENDS,
        "link f JOIN chunk c ON c.id = f.chunk JOIN pair p ON p.id = f.pair JOIN name x ON x.id = p.a"
        " JOIN name y ON y.id = p.b JOIN space s ON s.id = p.space",
    ),
    CanonicalRecord(
        "alias",
        _columns("a", "name", "target", "reason") | {"space": "s.name"},
        "alias a JOIN space s ON s.id = a.space",
    ),
    CanonicalRecord(
        "distinct", _columns("d", "a", "b") | {"space": "s.name"}, "distinct_names d JOIN space s ON s.id = d.space"
    ),
    CanonicalRecord(
        "pin",
        _columns("p", "a", "b", "description") | {"space": "s.name"},
        "description_override p JOIN space s ON s.id = p.space",
    ),
    CanonicalRecord(
        "hidden", _columns("h", "a", "b") | {"space": "s.name"}, "hidden_key h JOIN space s ON s.id = h.space"
    ),
    CanonicalRecord(
        "split",
        _columns("x", "name", "part", "rule", "shown") | {"space": "s.name"},
        "name_split x JOIN space s ON s.id = x.space",
    ),
    CanonicalRecord(
        "entity",
        _columns("e", "name", "type", "description", "degree")
        | {"space": "s.name", "canonical": "n.canonical", "mentions": "e.mention_count"},
        "entity e JOIN name n ON n.id = e.id JOIN space s ON s.id = e.space",
    ),
    CanonicalRecord(
        "relation",
        _columns("r", "keywords", "description", "weight") | {"space": "s.name"} | _PAIR_ENDS,
        "relation r JOIN name x ON x.id = r.a JOIN name y ON y.id = r.b JOIN space s ON s.id = r.space",
    ),
)


async def export_canonical(db: StreamingConnection, spaces: Collection[str] | None = None) -> AsyncGenerator[str, None]:
    """Everything in the ledger as sorted JSON Lines, without ids, generations and processing times.

    `spaces` keeps rows of these spaces only. The database sorts; rows that exceed its memory go to a temporary file.
    """
    within = "" if spaces is None else " WHERE s.name IN (SELECT value FROM @list(?))"
    parameters = () if spaces is None else (text_list(sorted(spaces)),)
    for record in CANONICAL_RECORDS:
        sql = f"SELECT line FROM ({record.sql}{within}) q ORDER BY line @binary"
        async with aclosing(db.stream(sql, parameters)) as rows:
            async for (line,) in rows:
                yield line
