"""Edges for a random walk over entities and chunks, and the entities and documents that a question names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from engine.knowledge.splits import base_name
from engine.storage.ledger.clauses import ENTITY_COUNTS, name_clause, row_clause, space_clause
from engine.storage.ledger.queries.filters import fact_clause
from engine.storage.ledger.records.query_results import EntityMatch, StatedCounts, WalkEdges
from engine.storage.sql.database import Place_co, Topic, reading
from engine.storage.sql.fragments import id_list, text_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from engine.storage.ledger.records.query_results import ChunkFilter, ScopeIds


MAX_COUNTED = 2000  # facts of an entity that are counted as of a day


class Walks(Topic[Place_co]):
    """Edges for random walks, and what a question names."""

    @reading
    def find_named_entities(
        self, names: Collection[str], scope_ids: ScopeIds, only: ChunkFilter | None = None
    ) -> list[EntityMatch]:
        """The entities in the scope's spaces that have one of these canonical names or an alias of it.

        Mentions and degrees of an entity that several spaces know are added. `only`: as in `count_stated`.
        """
        rows = self.db.execute_fetchall(
            "SELECT n.canonical, e.id, t.canonical, e.mention_count, e.degree FROM @list(?, j) @then JOIN name n"
            f" ON n.canonical = j.value AND {name_clause(scope_ids, 'n')}"
            f" @then JOIN {ENTITY_COUNTS} ON e.id = n.target @then JOIN name t ON t.id = n.target",
            (text_list(sorted(names)),),
        )
        counts = {id_: (canonical, mentions, degree) for _, id_, canonical, mentions, degree in rows}
        stated = self.count_stated(counts, only)
        counts |= {id_: (counts[id_][0], *found) for id_, found in stated.items()}
        mentions, degrees = Counter[str](), Counter[str]()
        for canonical, own_mentions, own_degree in counts.values():
            mentions[canonical] += own_mentions
            degrees[canonical] += own_degree
        return [
            EntityMatch(alias, id_, canonical, mentions[canonical], degrees[canonical])
            for alias, id_, canonical, *_ in rows
        ]

    @reading
    def count_stated(self, ids: Collection[int], only: ChunkFilter | None) -> dict[int, StatedCounts]:
        """How often chunks of the past state these entities; none without `only`.

        None for entities with very many facts: these are hubs, whatever the day is.
        """
        if only is None or not only.is_past:
            return {}
        counted = [
            id_
            for (id_,) in self.db.execute_fetchall(
                f"SELECT e.id FROM @list(?, j) @then JOIN {ENTITY_COUNTS} ON e.id = j.value"
                " WHERE e.mention_count + e.degree <= ?",
                (id_list(sorted(ids)), MAX_COUNTED),
            )
        ]
        stated, parameters = fact_clause(only, "m")
        rows = self.db.execute_fetchall(
            "SELECT j.value, COUNT(DISTINCT m.chunk) FROM @list(?, j) @then JOIN name n ON n.target = j.value"
            f" @then JOIN mention m ON m.name = n.id WHERE {stated} GROUP BY j.value",
            (id_list(counted), *parameters),
        )
        mentions: dict[int, int] = {row[0]: row[1] for row in rows}
        degrees = Counter(id_ for id_, _ in self._list_stated_relations(counted, only))
        return {id_: StatedCounts(mentions.get(id_, 0), degrees[id_]) for id_ in counted}

    def _list_stated_relations(self, ids: Collection[int], only: ChunkFilter) -> set[tuple[int, int]]:
        """Each of these entities with each of its relations that the chunks state."""
        stated, parameters = fact_clause(only, "l")
        found = set[tuple[int, int]]()
        for near in ("a", "b"):
            rows = self.db.execute_fetchall(
                f"SELECT j.value, r.id FROM @list(?, j) @then JOIN relation r ON r.{near} = j.value WHERE EXISTS"
                f" (SELECT 1 FROM pair p @then JOIN link l ON l.pair = p.id WHERE p.target = r.id AND {stated})",
                (id_list(sorted(ids)), *parameters),
            )
            found.update((id_, relation) for id_, relation in rows)
        return found

    @reading
    def weigh_stated(self, ids: Collection[int], only: ChunkFilter | None) -> dict[int, int]:
        """How many chunks of the past state each of these relations; none without `only`."""
        if only is None or not only.is_past:
            return {}
        stated, parameters = fact_clause(only, "l")
        rows = self.db.execute_fetchall(
            "SELECT j.value, COUNT(DISTINCT l.chunk) FROM @list(?, j) @then JOIN pair p ON p.target = j.value"
            f" @then JOIN link l ON l.pair = p.id WHERE {stated} GROUP BY j.value",
            (id_list(sorted(ids)), *parameters),
        )
        return {row[0]: row[1] for row in rows}

    @reading
    def load_spellings(self, ids: Collection[int]) -> dict[int, list[str]]:
        """The canonical names and aliases of each entity, and the names from which its facts were split."""
        rows = self.db.execute_fetchall(
            "SELECT j.value, n.canonical FROM @list(?, j) @then JOIN name n ON n.target = j.value ORDER BY n.canonical",
            (id_list(ids),),
        )
        found: dict[int, list[str]] = {id_: [] for id_ in ids}
        for id_, name in rows:
            found[id_].append(base_name(name))
        return found

    @reading
    def find_titled_chunks(
        self, titles: Collection[str], scope_ids: ScopeIds, limit: int, only: ChunkFilter | None
    ) -> dict[str, list[int]]:
        """The chunks of the documents with these canonical titles; at most `limit` of each title."""
        narrowed, parameters = ("true", []) if only is None else fact_clause(only, "f")
        rows = self.db.execute_fetchall(
            "SELECT j.value, c.id FROM @list(?, j) @then JOIN chunk c ON c.id IN"
            " (SELECT f.chunk FROM document d @then JOIN (SELECT id AS chunk, document, ordinal, time FROM chunk) f"
            "  ON f.document = d.id WHERE d.title_key = j.value AND d.title_key <> ''"
            f"  AND {row_clause(scope_ids, 'd')} AND {narrowed} LIMIT ?) ORDER BY c.ordinal, c.id",
            (text_list(sorted(titles)), *parameters, limit),
        )
        found: dict[str, list[int]] = {}
        for title, chunk in rows:
            found.setdefault(title, []).append(chunk)
        return found

    @reading
    def load_walk_edges(
        self,
        names: Collection[str],
        chunks: Collection[int],
        scope_ids: ScopeIds,
        max_degree: int,
        only: ChunkFilter | None,
    ) -> WalkEdges:
        """The edges of these entities (by canonical name) and chunks; weights and degrees of several spaces are added.

        An entity with more than `max_degree` mentions and relations has no edges of its own. With `only`, entities are
        connected with these chunks alone, and with no other entity, unless they are those of the past.
        """
        own = self._load_ids(names, scope_ids, max_degree, only)
        edges: dict[tuple[str | int, str | int], float] = {}
        edges.update((mention, 1.0) for mention in self._load_mentions(own, only))
        if only is None or only.is_past:
            edges |= self._load_relations(own, only)
        narrowed, parameters = ("true", []) if only is None else fact_clause(only, "m")
        rows = self.db.execute_fetchall(
            "SELECT m.chunk, t.id, t.canonical, e.mention_count + e.degree FROM @list(?, j)"
            " @then JOIN mention m ON m.chunk = j.value @then JOIN name n ON n.id = m.name"
            f" @then JOIN name t ON t.id = n.target AND {space_clause(scope_ids, 't')}"
            f" @then JOIN {ENTITY_COUNTS} ON e.id = t.id"
            f" WHERE {narrowed}",
            (id_list(sorted(chunks)), *parameters),
        )
        edges |= {(name, chunk): 1.0 for chunk, _, name, _ in rows}
        degrees = self._add_degrees(((id_, name, degree) for _, id_, name, degree in rows), only)
        return WalkEdges(edges, degrees)

    def _add_degrees(self, rows: Iterable[tuple[int, str, int]], only: ChunkFilter | None) -> Counter[str]:
        """The mentions and relations of each name, of all its ids."""
        names, own = dict[int, str](), dict[int, int]()
        for id_, name, degree in rows:
            names[id_], own[id_] = name, degree
        own |= {id_: sum(counts) for id_, counts in self.count_stated(own, only).items()}
        degrees = Counter[str]()
        for id_, name in names.items():
            degrees[name] += own[id_]
        return degrees

    def _load_ids(
        self, names: Collection[str], scope_ids: ScopeIds, max_degree: int, only: ChunkFilter | None
    ) -> dict[int, str]:
        rows = self.db.execute_fetchall(
            "SELECT t.id, t.canonical, e.mention_count + e.degree FROM @list(?, j)"
            f" @then JOIN name t ON t.canonical = j.value AND {name_clause(scope_ids, 't')}"
            f" @then JOIN {ENTITY_COUNTS} ON e.id = t.id",
            (text_list(sorted(names)),),
        )
        degrees = self._add_degrees(((id_, name, degree) for id_, name, degree in rows), only)
        return {id_: name for id_, name, _ in rows if degrees[name] <= max_degree}

    def _load_mentions(self, ids: dict[int, str], only: ChunkFilter | None) -> Iterable[tuple[str, int]]:
        narrowed, parameters = ("true", []) if only is None else fact_clause(only, "m")
        rows = self.db.execute_fetchall(
            "SELECT j.value, m.chunk FROM @list(?, j) @then JOIN name n ON n.target = j.value"
            f" @then JOIN mention m ON m.name = n.id WHERE {narrowed}",
            (id_list(sorted(ids)), *parameters),
        )
        return ((ids[id_], chunk) for id_, chunk in rows)

    def _load_relations(
        self, ids: dict[int, str], only: ChunkFilter | None
    ) -> dict[tuple[str | int, str | int], float]:
        edges: dict[tuple[str | int, str | int], float] = {}
        for near, far in (("a", "b"), ("b", "a")):
            rows = self.db.execute_fetchall(
                f"SELECT j.value, r.{far}, n.canonical, r.weight, r.id FROM @list(?, j)"
                f" @then JOIN relation r ON r.{near} = j.value @then JOIN name n ON n.id = r.{far}",
                (id_list(sorted(ids)),),
            )
            weights = self.weigh_stated({row[4] for row in rows}, only)
            stated = (row for row in rows if only is None or row[4] in weights)
            for id_, other_id, other, weight, relation in stated:
                name = ids[id_]
                if name != other and not (near == "b" and other_id in ids):  # found before from its other end
                    ends = (name, other) if name < other else (other, name)
                    edges[ends] = edges.get(ends, 0.0) + float(weights.get(relation, weight))
        return edges
