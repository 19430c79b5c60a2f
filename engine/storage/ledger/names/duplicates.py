"""Entities to compare, pairs of them that may be the same, and what is known about such pairs."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from engine.knowledge.duplicates.homonyms import MIN_SOURCES, TypeEvidence
from engine.storage.ledger.clauses import join_ids
from engine.storage.ledger.full_text.index import NAME_INDEX
from engine.storage.ledger.full_text.search_words import select_search_words
from engine.storage.ledger.records.query_results import CandidatePair, ComparedEntity, JoinedName, ScopeIds, TypedName
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.storage.sql.fragments import id_list

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


SORTED_NEIGHBORS, WORD_NEIGHBORS = 6, 8  # names before and after in alphabetical order; names with common words
MAX_TYPED_NAMES = 2000  # whose types are compared
NEIGHBORS, MAX_NEIGHBOR_DEGREE, COMMON_NEIGHBORS = 32, 200, 12  # looked at, of each, and entities that have some too
MAX_RELATIONS = 256  # of an entity whose neighbors are compared
SURFACE = "(SELECT m.surface FROM mention m WHERE m.name = {}.id ORDER BY m.time, m.hash, m.surface LIMIT 1)"


# Entities that have the same neighbors as another without being its neighbors.
_WITH_NEIGHBORS = (
    "WITH k AS (SELECT r.b AS id FROM relation r WHERE r.a = ?1 UNION SELECT r.a FROM relation r WHERE r.b = ?1),"
    " n AS (SELECT e.id FROM k @then JOIN entity e ON e.id = k.id WHERE e.degree <= ?2"
    " ORDER BY e.degree, e.id LIMIT ?3) SELECT o.id, COUNT(*) AS shared"
    " FROM (SELECT r.b AS id, n.id AS via FROM n @then JOIN relation r ON r.a = n.id"
    " UNION SELECT r.a, n.id FROM n @then JOIN relation r ON r.b = n.id) o WHERE o.id <> ?1"
    " AND o.id NOT IN (SELECT id FROM k) GROUP BY o.id HAVING COUNT(*) >= 2 ORDER BY shared DESC, o.id LIMIT ?4"
)


class Duplicates(Topic[Place_co]):
    """Pairs of entities of one space that may be the same, and names that are joined automatically."""

    @reading
    def list_uncompared(self, limit: int) -> list[ComparedEntity]:
        """The oldest entities that are not compared yet and not stale."""
        rows = self.db.execute_fetchall(
            "SELECT u.id, n.space, n.canonical FROM uncompared_entity u @then JOIN name n ON n.id = u.id"
            " WHERE NOT EXISTS (SELECT 1 FROM stale_key s WHERE s.kind = 1 AND s.id = u.id) ORDER BY u.id LIMIT ?",
            (limit,),
        )
        return [ComparedEntity(*row) for row in map(tuple, rows)]

    @reading
    def find_similar_names(self, entities: Sequence[ComparedEntity]) -> dict[int, list[ComparedEntity]]:
        """The entities of its space that are next to each one in alphabetical order, or share words with it."""
        return {entity.id: self._find_similar(entity) for entity in entities}

    def _find_similar(self, entity: ComparedEntity) -> list[ComparedEntity]:
        found: dict[int, str] = {}
        for sign, order in (("<", "DESC"), (">", "ASC")):
            rows = self.db.execute_fetchall(
                f"SELECT n.id, n.canonical FROM name n WHERE n.space = ? AND n.canonical {sign} ?"
                f" AND EXISTS (SELECT 1 FROM entity e WHERE e.id = n.id) ORDER BY n.canonical {order} LIMIT ?",
                (entity.space, entity.canonical, SORTED_NEIGHBORS),
            )
            found.update(map(tuple, rows))
        from engine.storage.ledger.full_text.bm25 import rank_rows  # noqa: PLC0415 - it needs NumPy, which is slow

        scope_ids = ScopeIds(frozenset({entity.space}), frozenset())
        words = select_search_words(self.db, NAME_INDEX, entity.canonical, scope_ids)
        ids = rank_rows(self.db, NAME_INDEX, words, scope_ids, None, WORD_NEIGHBORS).scores
        found.update({name.id: name.canonical for name in self.load_names(ids)})
        return [ComparedEntity(id_, entity.space, name) for id_, name in found.items() if id_ != entity.id]

    @reading
    def find_names_with_neighbors(self, entities: Sequence[ComparedEntity]) -> dict[int, dict[int, int]]:
        """For each entity: others that are no neighbors of it, with the number of neighbors that both have."""
        limits = (MAX_NEIGHBOR_DEGREE, NEIGHBORS, COMMON_NEIGHBORS)
        return {
            entity.id: dict(map(tuple, self.db.execute_fetchall(_WITH_NEIGHBORS, (entity.id, *limits))))
            for entity in entities
        }

    @reading
    def load_names(self, ids: Collection[int]) -> list[ComparedEntity]:
        """The canonical names of these entities."""
        rows = self.db.execute_fetchall(
            "SELECT n.id, n.space, n.canonical FROM @list(?, j) @then JOIN name n ON n.id = j.value"
            " @then JOIN entity e ON e.id = n.id",
            (id_list(ids),),
        )
        return [ComparedEntity(*row) for row in map(tuple, rows)]

    @writing
    def save_candidates(
        self, compared: Sequence[ComparedEntity], pairs: Sequence[tuple[int, int, float, float]]
    ) -> None:
        """Save pairs (a, b, similarity, score) of entities that still exist, and record that entities were compared."""
        self.db.executemany(
            "INSERT INTO duplicate_candidate (a, b, space, similarity, score)"
            " SELECT @least(?1, ?2), @greatest(?1, ?2), x.space, ?3, ?4"
            " FROM entity x, entity y WHERE x.id = ?1 AND y.id = ?2"
            " ON CONFLICT (a, b) DO UPDATE SET space = excluded.space, similarity = excluded.similarity,"
            " score = excluded.score",
            {frozenset(row[:2]): row for row in pairs}.values(),
        )
        self.db.executemany("DELETE FROM uncompared_entity WHERE id = ?", [(entity.id,) for entity in compared])

    @reading
    def count_uncompared(self, scope_ids: ScopeIds) -> int:
        """The number of entities in the scope's spaces that are not compared yet."""
        [[count]] = self.db.execute_fetchall(
            "SELECT COUNT(*) FROM uncompared_entity u @then JOIN entity e ON e.id = u.id"
            f" WHERE e.space IN ({join_ids(scope_ids.spaces)})"
        )
        return int(count)

    @reading
    def list_candidates(self, scope_ids: ScopeIds, limit: int) -> list[CandidatePair]:
        """The pairs in the scope's spaces that no person has separated, the most likely first."""
        rows = self.db.execute_fetchall(
            "SELECT s.name, c.a, c.b, x.canonical, y.canonical, d.name, e.name, d.type, e.type, c.similarity"
            " FROM duplicate_candidate c @then JOIN space s ON s.id = c.space"
            " @then JOIN name x ON x.id = c.a @then JOIN name y ON y.id = c.b"
            " @then JOIN entity d ON d.id = c.a @then JOIN entity e ON e.id = c.b"
            f" WHERE c.space IN ({join_ids(scope_ids.spaces)}) AND NOT EXISTS (SELECT 1 FROM distinct_names p"
            " WHERE p.space = c.space AND p.a = @least(x.canonical, y.canonical)"
            " AND p.b = @greatest(x.canonical, y.canonical)) ORDER BY c.score DESC, x.canonical, y.canonical LIMIT ?",
            (limit,),
        )
        neighbors = self._load_neighbors({id_ for row in rows for id_ in row[1:3]})
        return [
            CandidatePair(space, a, b, canonicals, names, types, similarity, neighbors[a], neighbors[b])
            for space, a, b, *texts, similarity in rows
            for canonicals, names, types in [zip(texts[::2], texts[1::2], strict=True)]
        ]

    def _load_neighbors(self, ids: Collection[int]) -> dict[int, frozenset[str]]:
        neighbors = {}
        for id_ in ids:
            rows = self.db.execute_fetchall(
                "SELECT e.name FROM (SELECT r.b AS id FROM relation r WHERE r.a = ?1 UNION ALL"
                " SELECT r.a FROM relation r WHERE r.b = ?1) k @then JOIN entity e ON e.id = k.id ORDER BY e.name"
                " LIMIT ?2",
                (id_, MAX_RELATIONS),
            )
            neighbors[id_] = frozenset(row[0] for row in rows)
        return neighbors

    @reading
    def list_typed_names(self, scope_ids: ScopeIds) -> list[TypedName]:
        """The most mentioned entities in the scope's spaces that several documents give a type, with these types."""
        rows = self.db.execute_fetchall(
            "SELECT s.name, e.id, e.name, m.type, COUNT(DISTINCT c.document), MIN(c.id) FROM"
            f" (SELECT x.id FROM entity x WHERE x.space IN ({join_ids(scope_ids.spaces)}) AND x.mention_count >= ?1"
            " ORDER BY x.mention_count DESC, x.id LIMIT ?2) f @then JOIN entity e ON e.id = f.id"
            " @then JOIN space s ON s.id = e.space @then JOIN name n ON n.target = e.id"
            " @then JOIN mention m ON m.name = n.id AND m.type <> '' @then JOIN chunk c ON c.id = m.chunk"
            " GROUP BY s.name, e.id, e.name, m.type HAVING COUNT(DISTINCT c.document) >= ?3"
            " ORDER BY s.name, e.name, e.id, m.type",
            (2 * MIN_SOURCES, MAX_TYPED_NAMES, MIN_SOURCES),
        )
        return [
            TypedName(space, name, tuple(TypeEvidence(*row[3:]) for row in group))
            for (space, _, name), group in groupby(map(tuple, rows), key=lambda row: row[:3])
        ]

    @reading
    def list_joined_names(self, scope_ids: ScopeIds, limit: int) -> list[JoinedName]:
        """The names in the scope's spaces that are joined automatically, as they are written."""
        rows = self.db.execute_fetchall(
            f"SELECT s.name, n.id, n.target, a.name, t.canonical, COALESCE({SURFACE.format('n')}, a.name),"
            f" COALESCE({SURFACE.format('t')}, e.name), a.reason,"
            " (SELECT x.chunk FROM abbreviation x WHERE a.reason = 'abbreviation' AND x.space = a.space"
            "  AND x.short_key = n.spelling_key ORDER BY x.chunk LIMIT 1)"
            " FROM alias a @then JOIN space s ON s.id = a.space"
            " @then JOIN name n ON n.space = a.space AND n.canonical = a.name"
            " @then JOIN name t ON t.id = n.target @then JOIN entity e ON e.id = n.target"
            f" WHERE a.reason <> '' AND a.space IN ({join_ids(scope_ids.spaces)}) ORDER BY a.name LIMIT ?",
            (limit,),
        )
        return [JoinedName(*row) for row in map(tuple, rows)]
