"""Find entities by the beginning of a name, by words of it, or by a similar spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz import fuzz

from engine.retrieval.graph.records import EntitySummary
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.models import Scope
    from engine.storage.ledger import LedgerView
    from engine.storage.ledger.records import EntityRecord, ScopeIds

SIMILAR_START = 2  # letters that a similar name has in common
MAX_SIMILAR = 300  # names that are compared
MIN_SPELLING = 70.0  # of a similar name, 0 to 100
MAX_SPACES_FACTOR = 4  # rows read for each entity wanted: the same name may be in several spaces


def search_entities(view: LedgerView, text: str, scope: Scope, limit: int) -> list[EntitySummary]:
    """Entities within the scope's spaces: names that start with the text, then with its words, then similar ones."""
    scope_ids, rows = view.search.resolve_scope(scope), limit * MAX_SPACES_FACTOR
    start = normalize_name(text) or text.strip().casefold()
    ids = dict.fromkeys(view.name_search.find_entities_by_start(start, scope_ids, rows))
    if start and len(ids) < limit:
        ids |= dict.fromkeys(view.search.search_entities(text, rows, scope_ids))
    if start and not ids:
        ids = dict.fromkeys(_find_similar(view, start, scope_ids))
    records = view.search.load_entities(list(ids), scope_ids)
    return summarize(records[id_] for id_ in ids if id_ in records)[:limit]


def _find_similar(view: LedgerView, name: str, scope_ids: ScopeIds) -> list[int]:
    """Entities whose names start alike and are spelled similarly, the most similar first."""
    ids = view.name_search.find_entities_by_start(name[:SIMILAR_START], scope_ids, MAX_SIMILAR)
    records = view.search.load_entities(ids, scope_ids)
    scores = {id_: fuzz.ratio(name, each.canonical) for id_, each in records.items()}
    found = [id_ for id_ in ids if scores.get(id_, 0.0) >= MIN_SPELLING]
    return sorted(found, key=lambda id_: -scores[id_])


def summarize(records: Iterable[EntityRecord]) -> list[EntitySummary]:
    """One summary of each name, in the order of its first record."""
    groups: dict[str, list[EntityRecord]] = {}
    for record in records:
        groups.setdefault(record.canonical, []).append(record)
    return [_combine(key, group) for key, group in groups.items()]


def _combine(key: str, group: list[EntityRecord]) -> EntitySummary:
    main = max(group, key=lambda each: (each.mentions, each.name))
    mentions, degree = sum(record.mentions for record in group), sum(record.degree for record in group)
    return EntitySummary(key, main.name, main.type, mentions, degree)
