"""SQL that lists the corrections made by hand."""

from __future__ import annotations

from engine.knowledge.splits import part_key
from engine.storage.ledger.names.duplicates import SURFACE

_TABLES = (
    ("merge", "alias", ("c.name", "c.target", "c.shown"), " AND c.reason = ''"),
    ("separate", "distinct_names", ("c.a", "c.b", "''"), ""),
    ("describe", "description_override", ("c.a", "c.b", "c.description"), ""),
    ("hide", "hidden_key", ("c.a", "c.b", "''"), ""),
    ("split", "name_split", ("c.name", "c.shown", "c.rule"), ""),
)


def select_corrections(where: str) -> str:
    """SQL of the corrections `c` that fulfil a condition, by kind and name."""
    selects = " UNION ALL ".join(_select_corrections(position, where) for position in range(len(_TABLES)))
    return (
        f"SELECT kind, space, written, other, description FROM ({selects}) AS made"
        " ORDER BY position, written, other, description, space"
    )


def _as_written(canonical: str, *keys: str) -> str:
    """SQL for a canonical name as the oldest text writes it, or as it is where no text has it; `keys`: of its parts."""
    found = [
        f"(SELECT {SURFACE.format('n')} FROM name n WHERE n.space = c.space AND n.canonical = {name})"
        for name in (canonical, *keys)
    ]
    return f"COALESCE({', '.join(found)}, {canonical})"


def _select_corrections(position: int, where: str) -> str:
    kind, table, (a, b, description), condition = _TABLES[position]
    keys = [part_key("' || c.name || '", "' || c.part || '")] if kind == "split" else []
    written = _as_written(a, *(f"'{key}'" for key in keys))
    return (
        f"SELECT {position} AS position, '{kind}' AS kind, s.name AS space, {written} AS written,"
        f" {_as_written(b)} AS other, {description} AS description FROM {table} c"
        f" @then JOIN space s ON s.id = c.space WHERE {where}{condition}"
    )
