"""Names for people who type: those that start with a text, and the most mentioned."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.storage.ledger.clauses import ENTITY_COUNTS, LAST_CHARACTER, name_clause, space_clause
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.sql.database import Place_co, Topic, reading

if TYPE_CHECKING:
    from engine.storage.ledger.records.query_results import ScopeIds

_START = "n.canonical >= ?1 AND n.canonical < ?2"
_SMALL = 10  # a scope is small if the store has this many times its entities
_COUNT = "SELECT n.canonical, SUM(e.mention_count) AS mentions FROM"


class NameSearch(Topic[Place_co]):
    """Finds names by indexes alone: rows of entities, which hold descriptions, are read for what is shown.

    Spaces with a small part of the store are read by themselves. For others the names of all spaces are read in order,
    which is faster.
    """

    @reading
    def find_names_by_prefix(self, prefix: str, scope_ids: ScopeIds, limit: int) -> list[str]:
        """Names of entities in the scope's spaces that start with a canonical prefix, as aliases may do.

        The most mentioned come first, each as it is mostly written.
        """
        bounds = (prefix, prefix + LAST_CHARACTER) if prefix else ()
        tables = self._choose_tables(scope_ids)
        counts = _count_by_start(tables) if prefix else f"{_COUNT} {tables.entities} GROUP BY n.canonical"
        rows = self.db.execute_fetchall(
            f"SELECT f.canonical, e.name FROM ({counts} ORDER BY mentions DESC, canonical LIMIT ?) f"
            f" @then JOIN name n ON n.canonical = f.canonical AND {name_clause(scope_ids, 'n')} AND n.target = n.id"
            " @then JOIN entity e ON e.id = n.id ORDER BY f.mentions DESC, f.canonical, e.mention_count DESC, e.name",
            (*bounds, limit),
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
        first = self._find_most_mentioned((_START, (start, start + LAST_CHARACTER)), scope_ids, limit)
        if len(first) >= limit:
            return first
        others = self._find_most_mentioned(("@position(n.canonical, ?) > 0", (f" {start}",)), scope_ids, limit)
        return list(dict.fromkeys((*first, *others)))[:limit]

    def _list_most_mentioned(self, scope_ids: ScopeIds, limit: int) -> list[int]:
        tables = self._choose_tables(scope_ids)
        rows = self.db.execute_fetchall(
            f"SELECT e.id FROM {tables.entities} ORDER BY e.mention_count DESC, n.canonical, e.id LIMIT ?",
            (limit,),
        )
        return [row[0] for row in rows]

    def _find_most_mentioned(self, names: tuple[str, tuple[str, ...]], scope_ids: ScopeIds, limit: int) -> list[int]:
        """The most mentioned entities in the scope's spaces whose names match a condition, given with its values."""
        condition, values = names
        table, in_scope, _ = self._choose_tables(scope_ids)
        rows = self.db.execute_fetchall(
            f"SELECT e.id FROM (SELECT n.target, MIN(n.canonical) AS first FROM {table} WHERE {condition}"
            f" AND {in_scope} GROUP BY n.target) f @then JOIN {ENTITY_COUNTS} ON e.id = f.target"
            " ORDER BY e.mention_count DESC, f.first, e.id LIMIT ?",
            (*values, limit),
        )
        return [row[0] for row in rows]

    def _choose_tables(self, scope_ids: ScopeIds) -> _NameTables:
        large = self.db.execute_fetchall(
            "SELECT 1 FROM (SELECT SUM(s.row_count) AS entities,"
            f" SUM(CASE WHEN {space_clause(scope_ids, 's')} THEN s.row_count ELSE 0 END) AS inside"
            " FROM corpus_stats s WHERE s.kind = ?) t WHERE t.inside * ? > t.entities",
            (KeyKind.NAME, _SMALL),
        )
        own = "JOIN name n ON n.id = e.id AND n.target = n.id"
        in_scope = space_clause(scope_ids, "n")
        if large:
            among = f"{ENTITY_COUNTS} @then {own} AND @unindexed {in_scope}"
            return _NameTables("name n @use(name_canonical)", f"@unindexed {in_scope}", among)
        among = (
            f"entity x @use(entity_space) @then JOIN {ENTITY_COUNTS} ON e.id = x.id AND {space_clause(scope_ids, 'x')}"
        )
        return _NameTables("name n @use(sqlite_autoindex_name_1)", in_scope, f"{among} @then {own}")


class _NameTables(NamedTuple):
    """Where a scope's names are read: names `n`, the condition on them, and entities `e` joined with their names `n`.

    The automatic index has names by space and canonical name, which are unique.
    """

    names: str
    in_scope: str
    entities: str


def _count_by_start(tables: _NameTables) -> str:
    """SQL for the mentions of names that start between two texts, and of those of which only an alias does."""
    found = f"{_START} AND {tables.in_scope}"
    return (
        f"{_COUNT} {tables.names} @then JOIN {ENTITY_COUNTS} ON e.id = n.id WHERE {found} AND n.target = n.id"
        f" GROUP BY n.canonical UNION ALL {_COUNT} (SELECT DISTINCT n.target FROM {tables.names} WHERE {found}"
        f" AND n.target <> n.id) f @then JOIN name n ON n.id = f.target AND NOT ({_START})"
        f" @then JOIN {ENTITY_COUNTS} ON e.id = n.id GROUP BY n.canonical"
    )
