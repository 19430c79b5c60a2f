"""Profiles: load the facts of a batch of stale keys, save the merged results, and remove keys without facts."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from engine.knowledge.merge import FactCounts, FactRow, Fragment, count_facts
from engine.storage.ledger.cache import Cache
from engine.storage.ledger.clauses import (
    ASKED_NAME,
    CHOSEN_SPELLING,
    NAME_DESCRIPTION,
    NAME_HIDDEN,
    PAIR_DESCRIPTION,
    PAIR_HIDDEN,
    PART_NAME,
    join_newest_facts,
)
from engine.storage.ledger.content.facts import Facts
from engine.storage.ledger.names.names import Invalidation, Names
from engine.storage.ledger.queries.filters import fact_clause
from engine.storage.ledger.records.projection import (
    BatchResult,
    FoldedBatch,
    KeyFacts,
    KeyKind,
    OrphanKeys,
    Profile,
    ProfileKind,
    ProjectionBatch,
)
from engine.storage.ledger.work.claims import StaleKeys
from engine.storage.ledger.work.settings import Settings
from engine.storage.ledger.work.work_queue import WorkQueue
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.storage.sql.fragments import id_list

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from engine.storage.ledger.records.projection import StaleKey
    from engine.storage.ledger.records.query_results import ChunkFilter


HOT_KEY_ROWS = 256  # from this many rows on, a key is counted in SQL instead of being loaded

_FACT_TABLES = {
    KeyKind.NAME: ("name", "mention", "name", "surface", "f.type"),
    KeyKind.PAIR: ("pair", "link", "pair", "keywords", "'stated'"),
}

_WITHOUT_FACT = " AND NOT EXISTS (SELECT 1 FROM {key} k @then JOIN {fact} f ON f.{key} = k.id WHERE k.target = s.id)"


class Profiles(Topic[Place_co]):
    """Profiles: merged entities and relations, as they are projected into graph and vectors."""

    @reading
    def load_names(self, ids: Collection[int], newest: int) -> list[KeyFacts]:
        """The facts of these names; missing ids are left out. `newest` limits the descriptions of frequent names."""
        rows = self.db.execute_fetchall(
            "SELECT n.id, n.space, n.canonical, n.target, e.in_graph, e.id IS NOT NULL, e.embedding_hash,"
            f" {NAME_DESCRIPTION}, COALESCE({PART_NAME}, {CHOSEN_SPELLING}, {ASKED_NAME}), {NAME_HIDDEN}"
            " FROM @list(?, j) @then JOIN name n ON n.id = j.value LEFT JOIN entity e ON e.id = n.id",
            (id_list(ids),),
        )
        facts_by_key = self._count_facts(KeyKind.NAME, [row[0] for row in rows], newest)
        return [
            KeyFacts(
                id_,
                space,
                title,
                None if hidden or target != id_ else facts_by_key.get(id_),
                pinned_description=override,
                exists_in_graph=bool(graphed),
                has_profile=bool(described),
                embedding_hash=embedded,
                chosen_name=chosen,
            )
            for id_, space, title, target, graphed, described, embedded, override, chosen, hidden in rows
        ]

    @reading
    def load_pairs(self, ids: Collection[int], newest: int) -> list[KeyFacts]:
        """The facts of these pairs, like `load_names`."""
        rows = self.db.execute_fetchall(
            "SELECT p.id, p.space, COALESCE(x.canonical, ''), COALESCE(y.canonical, ''), p.a, p.b, p.target,"
            f" r.in_graph, r.id IS NOT NULL, r.embedding_hash, {PAIR_DESCRIPTION}, {PAIR_HIDDEN}"
            " FROM @list(?, j) @then JOIN pair p ON p.id = j.value"
            " LEFT JOIN name x ON x.id = p.a LEFT JOIN name y ON y.id = p.b LEFT JOIN relation r ON r.id = p.id",
            (id_list(ids),),
        )
        facts_by_key = self._count_facts(KeyKind.PAIR, [row[0] for row in rows], newest)
        return [
            KeyFacts(
                id_,
                space,
                " ~ ".join(sorted((x, y))),
                None if hidden or target != id_ else facts_by_key.get(id_),
                (a, b),
                override,
                bool(graphed),
                bool(described),
                embedded,
            )
            for id_, space, x, y, a, b, target, graphed, described, embedded, override, hidden in rows
        ]

    def _count_facts(self, kind: ProfileKind, ids: Sequence[int], newest: int) -> dict[int, FactCounts]:
        keys, facts, column, label, type_ = _FACT_TABLES[kind]
        counted = self.db.execute_fetchall(
            f"SELECT k.target, COUNT(*) FROM @list(?, j) @then JOIN {keys} k ON k.target = j.value"
            f" @then JOIN {facts} f ON f.{column} = k.id GROUP BY k.target",
            (id_list(ids),),
        )
        sizes: dict[int, int] = dict(counted)
        few = [id_ for id_, size in sizes.items() if size < HOT_KEY_ROWS]
        facts_by_key: defaultdict[int, list[FactRow]] = defaultdict(list)
        for target, *row in self.db.execute_fetchall(
            f"SELECT k.target, f.chunk, f.time, f.hash, f.{label}, {type_}, f.description FROM @list(?, j)"
            f" @then JOIN {keys} k ON k.target = j.value @then JOIN {facts} f ON f.{column} = k.id",
            (id_list(few),),
        ):
            facts_by_key[target].append(FactRow(*row))
        result = {id_: count_facts(rows) for id_, rows in facts_by_key.items()}
        for id_ in sizes.keys() - result.keys():
            result[id_] = self._count_hot_facts(kind, id_, newest)
        return result

    def _count_hot_facts(self, kind: ProfileKind, id_: int, newest: int) -> FactCounts:
        """The same as `count_facts` of all rows, with the newest descriptions only."""
        keys, facts, column, label, type_ = _FACT_TABLES[kind]
        rows = f"{keys} k @then JOIN {facts} f ON f.{column} = k.id WHERE k.target = ?"
        [[chunks, stated]] = self.db.execute_fetchall(
            f"SELECT COUNT(DISTINCT f.chunk), COUNT(*) FILTER (WHERE {type_} <> '') FROM {rows}",
            (id_,),
        )
        kept = f"{rows} AND ({type_} <> '' OR {'false' if stated else 'true'})"
        labels = self.db.execute_fetchall(f"SELECT f.{label}, COUNT(*) FROM {kept} GROUP BY 1", (id_,))
        types = self.db.execute_fetchall(
            f"SELECT {type_}, COUNT(*) FROM {rows} AND {type_} <> '' GROUP BY 1",
            (id_,),
        )
        fragments = self.db.execute_fetchall(
            f"SELECT MIN(f.time) AS first, f.hash, f.description FROM {kept}"
            " GROUP BY f.hash, f.description ORDER BY first DESC, f.hash DESC LIMIT ?",
            (id_, newest),
        )
        found = tuple(sorted(Fragment(*row) for row in fragments))
        return FactCounts(chunks, Counter(dict(labels)), Counter(dict(types)), found)

    @reading
    def load_recent_facts(
        self, kind: ProfileKind, ids: Collection[int], newest: int, only: ChunkFilter | None = None
    ) -> dict[int, list[FactRow]]:
        """The newest facts of each key, at most `newest` of each raw name, from the chunks `only` if given."""
        keys, facts, column, label, type_ = _FACT_TABLES[kind]
        condition, parameters = ("true", []) if only is None else fact_clause(only, "g")
        rows = self.db.execute_fetchall(
            f"SELECT k.target, f.chunk, f.time, f.hash, f.{label}, {type_}, f.description FROM @list(?, j)"
            f" @then JOIN {keys} k ON k.target = j.value{join_newest_facts(self.db.dialect, facts, column, condition)}",
            (id_list(ids), *parameters, newest),
        )
        facts_by_key: dict[int, list[FactRow]] = {}
        for target, *row in rows:
            facts_by_key.setdefault(target, []).append(FactRow(*row))
        return facts_by_key

    @writing
    def upsert_entities(self, rows: Iterable[Profile]) -> None:
        """Save profiles of existing names. Their embedded text is unknown until `record_embedded`.

        A crash between the two may leave the vector of another text.
        """
        delete_unused = self._upsert_entities(list(rows))
        delete_unused()

    def _upsert_entities(self, rows: Sequence[Profile]) -> Callable[[], None]:
        """The result must be called: it deletes summaries that are no longer used."""
        self.db.executemany(
            "INSERT INTO entity (id, space, name, type, description, mention_count, retry_at)"
            " SELECT id, ?, ?, ?, ?, ?, ? FROM name WHERE id = ?"
            " ON CONFLICT (id) DO UPDATE SET name = excluded.name, type = excluded.type,"
            " description = excluded.description, mention_count = excluded.mention_count, embedding_hash = NULL,"
            " retry_at = excluded.retry_at",
            [(p.space, p.label, p.type, p.description, p.count, p.retry_at, p.id) for p in rows],
        )
        return self._update_summary_use(KeyKind.NAME, rows)

    @writing
    def upsert_relations(self, rows: Iterable[Profile]) -> None:
        """Save profiles of existing pairs whose ends have profiles."""
        delete_unused = self._upsert_relations(list(rows))
        delete_unused()

    def _upsert_relations(self, rows: Sequence[Profile]) -> Callable[[], None]:
        """The result must be called: it deletes summaries that are no longer used."""
        self.db.executemany(
            "INSERT INTO relation (id, space, a, b, keywords, description, weight, retry_at)"
            " SELECT id, ?, a, b, ?, ?, ?, ? FROM pair WHERE id = ? AND EXISTS (SELECT 1 FROM entity WHERE id = pair.a)"
            " AND EXISTS (SELECT 1 FROM entity WHERE id = pair.b)"
            " ON CONFLICT (id) DO UPDATE SET keywords = excluded.keywords, description = excluded.description,"
            " weight = excluded.weight, embedding_hash = NULL, retry_at = excluded.retry_at",
            [(p.space, p.label, p.description, p.count, p.retry_at, p.id) for p in rows],
        )
        return self._update_summary_use(KeyKind.PAIR, rows)

    def record_embedded(self, kind: ProfileKind, rows: Iterable[tuple[bytes | None, int]]) -> None:
        """Record the hashes of the texts whose vectors are stored."""
        table = "entity" if kind == KeyKind.NAME else "relation"
        self.db.executemany(f"UPDATE {table} SET embedding_hash = ? WHERE id = ?", rows)

    def load_display_names(self, ids: Collection[int]) -> dict[int, str]:
        """How these entities are named to people, by id: as their profile says, or else in their own spelling."""
        rows = self.db.execute_fetchall(
            "SELECT n.id, COALESCE(e.name, n.canonical) FROM @list(?, j)"
            " @then JOIN name n ON n.id = j.value LEFT JOIN entity e ON e.id = n.id",
            (id_list(ids),),
        )
        return dict(rows)

    @reading
    def load_graph_nodes(self, ids: Collection[int]) -> list[tuple[int, int, bool]]:
        """(id, space, is in the graph) of these entities."""
        rows = self.db.execute_fetchall(
            "SELECT e.id, e.space, e.in_graph FROM @list(?, j) @then JOIN entity e ON e.id = j.value ORDER BY e.id",
            (id_list(ids),),
        )
        return [(id_, space, bool(graphed)) for id_, space, graphed in rows]

    @reading
    def load_weights(self, ids: Collection[int]) -> dict[int, int]:
        """The weights of these relations, if they have a profile."""
        rows = self.db.execute_fetchall(
            "SELECT r.id, r.weight FROM @list(?, j) @then JOIN relation r ON r.id = j.value", (id_list(ids),)
        )
        return {row[0]: row[1] for row in rows}

    @writing
    def delete_profiles(self, kind: ProfileKind, ids: Collection[int]) -> None:
        """Delete profiles of keys without facts; with a name also the relations of its pairs.

        The relations are stale, too; one that outlived its end would be missing in the degree when the end returns.
        """
        delete_unused = self._delete_profiles(kind, ids)
        delete_unused()

    def _delete_profiles(self, kind: ProfileKind, ids: Collection[int]) -> Callable[[], None]:
        """The result must be called: it deletes summaries that are no longer used."""
        if not ids:
            return lambda: None
        table = "entity" if kind == KeyKind.NAME else "relation"
        if kind == KeyKind.NAME:
            self.db.executemany("DELETE FROM relation WHERE a = ? OR b = ?", [(id_, id_) for id_ in ids])
        self.db.executemany(f"DELETE FROM {table} WHERE id = ?", [(id_,) for id_ in ids])
        return self._update_summary_use(kind, [Profile(id_, 0, "", "", 0) for id_ in ids])

    def _update_summary_use(self, kind: ProfileKind, rows: Sequence[Profile]) -> Callable[[], None]:
        """Record the summaries that each profile rests on; the result must be called: it deletes unused ones."""
        if not rows:
            return lambda: None
        fetch = self.db.fetch_later(
            "DELETE FROM summary_usage WHERE kind = ? AND id IN (SELECT value FROM @list(?)) RETURNING key",
            (kind, id_list([row.id for row in rows])),
        )
        self.db.executemany(
            "INSERT INTO summary_usage SELECT ?, ?, key FROM summary WHERE key = ? ON CONFLICT DO NOTHING",
            [(kind, row.id, key) for row in rows for key in row.summary_keys],
        )
        return lambda: self.db.executemany(
            "DELETE FROM summary WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM summary_usage WHERE key = ?1)",
            [tuple(row) for row in fetch()],
        )

    @reading
    def count_failed_summaries(self) -> int:
        """The number of names and pairs whose summaries failed and are tried again later, of all spaces."""
        [[count]] = self.db.execute_fetchall(
            "SELECT (SELECT COUNT(*) FROM entity WHERE retry_at IS NOT NULL)"
            " + (SELECT COUNT(*) FROM relation WHERE retry_at IS NOT NULL)"
        )
        return int(count)

    @writing
    def requeue_due_summaries(self, now: float) -> int:
        """Mark keys stale whose failed summaries are due again; returns their number."""
        count = 0
        for kind, table in ((KeyKind.NAME, "entity"), (KeyKind.PAIR, "relation")):
            rows = self.db.execute_fetchall(
                f"UPDATE {table} SET retry_at = NULL WHERE retry_at <= ? RETURNING id", (now,)
            )
            if rows:
                StaleKeys(self.db).add(kind, [row[0] for row in rows], Settings(self.db).next_generation())
            count += len(rows)
        return count

    def record_graphed(self, names: Collection[int], pairs: Collection[int]) -> None:
        """Record that the graph holds these entities and relations."""
        for table, ids in (("entity", names), ("relation", pairs)):
            self.db.execute(
                f"UPDATE {table} SET in_graph = true WHERE id IN (SELECT value FROM @list(?)) AND NOT in_graph",
                (id_list(ids),),
            )

    @reading
    def load_batch(self, keys: Sequence[StaleKey], newest: int, now: float) -> ProjectionBatch:
        """The facts of these names and pairs, and the displayed names of the pairs' ends."""
        names, pairs = [frozenset(key.id for key in keys if key.kind == kind) for kind in (KeyKind.NAME, KeyKind.PAIR)]
        pair_facts = self.load_pairs(pairs, newest)
        name_facts = self.load_names(names, newest)
        return ProjectionBatch(
            tuple(keys),
            tuple(name_facts),
            tuple(pair_facts),
            names - {key.id for key in name_facts},
            pairs - {key.id for key in pair_facts},
            self.load_display_names({end for key in pair_facts for end in key.ends}),
            Facts(self.db).has_due_extraction(now),
            Settings(self.db).current_generation(),
        )

    @writing
    def save_batch(self, folded: FoldedBatch) -> None:
        """Save the profiles of a folded batch, and delete those without facts.

        Facts may have been deleted since the batch was loaded: the profiles of keys that changed again are emptied.
        """
        pairs, names = folded.removed_pairs, folded.removed_names
        deleted = self._delete_profiles(KeyKind.PAIR, pairs), self._delete_profiles(KeyKind.NAME, names)
        saved = self._upsert_entities(folded.entities), self._upsert_relations(folded.relations)
        for delete_unused in (*deleted, *saved):
            delete_unused()
        if Settings(self.db).get_int("last_revision") > folded.batch.generation:
            changed = StaleKeys(self.db).find_changed(folded.batch.stale_keys)
            Invalidation(self.db).clear_profiles(
                [key.id for key in changed if key.kind == KeyKind.NAME],
                [key.id for key in changed if key.kind == KeyKind.PAIR],
            )

    @writing
    def finish_batch(self, result: BatchResult, now: float) -> None:
        """Record the content of graph and vectors, and remove the stale keys.

        The vectors of keys that changed again are not recorded: a reindex may have removed them.
        """
        changed = {(key.kind, key.id) for key in StaleKeys(self.db).find_changed([*result.done, *result.held])}
        entities = [entity for entity in result.embedded_entities if (KeyKind.NAME, entity[1]) not in changed]
        relations = [relation for relation in result.embedded_relations if (KeyKind.PAIR, relation[1]) not in changed]
        self.record_embedded(KeyKind.NAME, entities)
        self.record_embedded(KeyKind.PAIR, relations)
        self.record_graphed(result.graphed_names, result.graphed_pairs)
        Names(self.db).delete_unused_pairs(result.removed_pairs)
        self.record_late_deletion(result.removed)
        WorkQueue(self.db).clear_failures(_embedded_or_removed(result))
        WorkQueue(self.db).record_failures(result.failures, result.attempts, now)
        StaleKeys(self.db).remove(result.done)
        StaleKeys(self.db).hold(result.held)
        WorkQueue(self.db).advance_documents([])
        Cache(self.db).record_indexing(result.usage, now)

    @reading
    def find_orphans(self) -> OrphanKeys:
        """All stale keys without facts. They remain stale: a running batch may write some of them once more."""
        chunks, names, pairs = [
            frozenset(
                row[0]
                for row in self.db.execute_fetchall(f"SELECT s.id FROM stale_key s WHERE s.kind = {kind}{without}")
            )
            for kind, without in (
                (KeyKind.CHUNK.value, " AND NOT EXISTS (SELECT 1 FROM chunk WHERE id = s.id)"),
                (KeyKind.NAME.value, _WITHOUT_FACT.format(key="name", fact="mention")),
                (KeyKind.PAIR.value, _WITHOUT_FACT.format(key="pair", fact="link")),
            )
        ]
        edges = self.db.execute_fetchall(
            "SELECT r.id, r.a, r.b FROM @list(?, j) @then JOIN relation r ON r.id = j.value",
            (id_list(sorted(pairs)),),
        )
        return OrphanKeys(chunks, names, pairs, tuple((id_, a, b) for id_, a, b in edges))

    @writing
    def delete_orphans(self, orphans: OrphanKeys) -> None:
        """Delete the profiles of those that still have no facts."""
        current = self.find_orphans()
        self.delete_profiles(KeyKind.PAIR, orphans.pairs & current.pairs)
        self.delete_profiles(KeyKind.NAME, orphans.names & current.names)

    def record_late_deletion(self, dropped: Collection[StaleKey]) -> None:
        """Request a compaction if one ran between the deletion of keys and their removal from graph and vectors."""
        compacted = Settings(self.db).get_int("last_compaction")
        if any(mark.generation <= compacted for mark in dropped):
            Settings(self.db).set("last_drop", Settings(self.db).next_generation())


def _embedded_or_removed(result: BatchResult) -> list[tuple[KeyKind, int]]:
    """The keys whose vectors are stored or deleted."""
    failed = {(failure.key.kind, failure.key.id) for failure in result.failures}
    return [(mark.kind, mark.id) for mark in result.done if (mark.kind, mark.id) not in failed]
