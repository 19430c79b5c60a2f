"""Corrections as records under canonical names, by which they are compared and undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.errors import InvalidQuestion
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.storage.ledger.records.query_results import ManualCorrection

NAME_HINT = "Write names as they appear in the documents; capitals make no difference."
RECORDS = (  # those of some names; the second name is "" for an entity
    "SELECT 'merge', name, target, shown FROM alias WHERE space = ?1 AND reason = '' AND name IN {names}"
    " UNION ALL SELECT 'separate', a, b, '' FROM distinct_names WHERE space = ?1 AND a IN {names}"
    " UNION ALL SELECT 'separate', a, b, '' FROM distinct_names WHERE space = ?1 AND b IN {names} AND a NOT IN {names}"
    " UNION ALL SELECT 'describe', a, b, description FROM description_override"
    " WHERE space = ?1 AND a IN {names} AND (b = '' OR b IN {names})"
    " UNION ALL SELECT 'hide', a, b, '' FROM hidden_key"
    " WHERE space = ?1 AND a IN {names} AND (b = '' OR b IN {names})"
    " UNION ALL SELECT 'split', name, shown, rule FROM name_split WHERE space = ?1 AND name IN {names}"
).format(names="(SELECT value FROM @list(?2))")


class CorrectionRecord(NamedTuple):
    """A correction under canonical names; the description of a merge is the target as the person wrote it.

    The part of a split is as it is displayed, and its rule is the description.
    """

    kind: str
    a: str
    b: str
    description: str

    @property
    def names(self) -> set[str]:
        """Both names, or the only one."""
        return {self.a, self.b} - {""}

    @property
    def identity(self) -> tuple[str, ...]:
        """What makes it the same correction: how a person wrote the target of a merge does not."""
        return (self.kind, self.a, self.b, "" if self.kind == "merge" else self.description)

    @property
    def key(self) -> tuple[str, ...]:
        """What there is one of: a name is merged into one other, and a rule leads to one part."""
        if self.kind == "split":
            return (self.kind, self.a, self.description)
        return (self.kind, self.a) if self.kind == "merge" else (self.kind, self.a, self.b)


def order_names(names: tuple[str, str]) -> tuple[str, str]:
    """Canonical names in the order of pinned descriptions and hidden keys; the second is "" for an entity."""
    a, b = normalize_name(names[0]), normalize_name(names[1]) if names[1] else ""
    if not a or (names[1] and (not b or a == b)):
        raise InvalidQuestion(f"“{' ~ '.join(filter(None, names))}” names nothing.", hint=NAME_HINT)
    return (min(a, b), max(a, b)) if b else (a, "")


def to_records(corrections: Iterable[ManualCorrection]) -> set[CorrectionRecord]:
    """Corrections as records."""
    records = set()
    for correction in corrections:
        a, b = normalize_name(correction.name), correction.other
        if b and correction.kind != "split":
            b = normalize_name(b)
        if b and correction.kind not in {"merge", "split"}:
            a, b = min(a, b), max(a, b)
        records.add(CorrectionRecord(correction.kind, a, b, correction.description))
    return records
