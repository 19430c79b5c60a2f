"""SQL expressions for the corrections of a key: those made under any of its names count."""

from __future__ import annotations

# Of a name `n`.
NAME_DESCRIPTION = (
    "(SELECT p.description FROM name m CROSS JOIN description_override p"
    " ON p.space = m.space AND p.a = m.canonical AND p.b = '' WHERE m.target = n.id"
    " ORDER BY m.id <> m.target, p.a LIMIT 1)"
)
NAME_HIDDEN = (
    "EXISTS (SELECT 1 FROM name m CROSS JOIN hidden_key h"
    " ON h.space = m.space AND h.a = m.canonical AND h.b = '' WHERE m.target = n.id)"
)
# Of a pair `p`.
_BOTH_ENDS = (
    "name m CROSS JOIN name q CROSS JOIN {table} c ON c.space = p.space AND c.a = MIN(m.canonical, q.canonical)"
    " AND c.b = MAX(m.canonical, q.canonical) WHERE m.target = p.a AND q.target = p.b"
)
PAIR_DESCRIPTION = (
    f"(SELECT c.description FROM {_BOTH_ENDS.format(table='description_override')}"
    " ORDER BY m.id <> m.target, q.id <> q.target, c.a, c.b LIMIT 1)"
)
PAIR_HIDDEN = (
    "(EXISTS (SELECT 1 FROM name m CROSS JOIN hidden_key h ON h.space = m.space AND h.a = m.canonical AND h.b = ''"
    f" WHERE m.target IN (p.a, p.b)) OR EXISTS (SELECT 1 FROM {_BOTH_ENDS.format(table='hidden_key')}))"
)
