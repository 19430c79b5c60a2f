"""Names for people who type: those that start with a text, and the most mentioned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.clauses import ENTITY_COUNTS, LAST_CHARACTER, name_clause, space_clause
from engine.storage.sql.database import Place_co, Topic, reading

if TYPE_CHECKING:
    from engine.storage.ledger.records.query_results import ScopeIds


class NameSearch(Topic[Place_co]):
    """Finds names by indexes alone: rows of entities, which hold descriptions, are read for what is shown."""

    @reading
    def find_names_by_prefix(self, prefix: str, scope_ids: ScopeIds, limit: int) -> list[str]:
        """Entity names in the scope's spaces that start with a canonical prefix, most mentioned first."""
        rows = self.db.execute_fetchall(
            "SELECT f.canonical, e.name FROM (SELECT n.canonical, SUM(e.mention_count) AS mentions FROM name n"
            f" @use(name_canonical) @then JOIN {ENTITY_COUNTS} ON e.id = n.target WHERE n.canonical >= ?"
            f" AND n.canonical < ? AND @unindexed {space_clause(scope_ids, 'n')} GROUP BY n.canonical"
            " ORDER BY mentions DESC, n.canonical LIMIT ?) f @then JOIN name n ON n.canonical = f.canonical"
            f" AND {name_clause(scope_ids, 'n')} @then JOIN entity e ON e.id = n.target"
            " ORDER BY f.mentions DESC, f.canonical, e.mention_count DESC, e.name",
            (prefix, prefix + LAST_CHARACTER, limit),
        )
        chosen: dict[str, str] = {}
        for canonical, name in rows:
            chosen.setdefault(canonical, name)
        return list(dict.fromkeys(chosen.values()))

    @reading
    def find_entities_by_start(self, start: str, scope_ids: ScopeIds, limit: int) -> list[int]:
        """Entities in the scope's spaces with a name, or an alias, that starts with a canonical text.

        Those with a word that starts with it follow; of each the most mentioned first.
        """
        if not start:
            return self._list_most_mentioned(scope_ids, limit)
        between = "n.canonical >= ? AND n.canonical < ?", (start, start + LAST_CHARACTER)
        first = self._find_most_mentioned(between, scope_ids, limit)
        if len(first) >= limit:
            return first
        others = self._find_most_mentioned(("@position(n.canonical, ?) > 0", (f" {start}",)), scope_ids, limit)
        return list(dict.fromkeys((*first, *others)))[:limit]

    def _list_most_mentioned(self, scope_ids: ScopeIds, limit: int) -> list[int]:
        rows = self.db.execute_fetchall(
            f"SELECT e.id FROM {ENTITY_COUNTS} @then JOIN entity_length l ON l.id = e.id"
            f" AND {space_clause(scope_ids, 'l')} ORDER BY e.mention_count DESC, e.id LIMIT ?",
            (limit,),
        )
        return [row[0] for row in rows]

    def _find_most_mentioned(self, names: tuple[str, tuple[str, ...]], scope_ids: ScopeIds, limit: int) -> list[int]:
        """The most mentioned entities in the scope's spaces whose names match a condition, given with its values."""
        condition, values = names
        rows = self.db.execute_fetchall(
            "SELECT e.id FROM (SELECT n.target, MIN(n.canonical) AS first FROM name n @use(name_canonical)"
            f" WHERE {condition} AND @unindexed {space_clause(scope_ids, 'n')} GROUP BY n.target) f"
            f" @then JOIN {ENTITY_COUNTS}"
            " ON e.id = f.target ORDER BY e.mention_count DESC, f.first, e.id LIMIT ?",
            (*values, limit),
        )
        return [row[0] for row in rows]
