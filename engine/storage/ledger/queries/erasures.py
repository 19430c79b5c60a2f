"""How much of the ledger rests on documents and passages: what their erasure takes, counted before it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.storage.ledger.names.names import Names
from engine.storage.ledger.records.erasures import ErasureSize
from engine.storage.sql.database import Place_co, Topic, reading
from engine.storage.sql.fragments import id_list, text_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from engine.storage.ledger.records.erasures import ErasedPart

_LISTED = "(SELECT value FROM @list({}))"


class _Rows(NamedTuple):
    """Rows that go: documents that go as a whole, passages, and the chunks that hold some of them."""

    documents: set[int]
    passages: set[int]
    chunks: set[int]


class _Profiles(NamedTuple):
    """Profiles that lose facts, by kind; `removed`: how many lose all. `names`, `pairs`: keys that lose facts."""

    names: set[int]
    pairs: set[int]
    entities: set[int]
    relations: set[int]
    removed: int


class Erasures(Topic[Place_co]):
    """Counts what rests on documents and passages."""

    @reading
    def measure(self, parts: Sequence[ErasedPart]) -> ErasureSize:
        """How much goes with these parts; what is not stored counts nothing."""
        rows = self._find_rows(parts)
        if not rows.chunks:
            return ErasureSize(len(rows.documents), len(rows.passages))
        found = self._find_profiles(rows.chunks)
        profiles = len(found.entities) + len(found.relations)
        return ErasureSize(
            len(rows.documents),
            len(rows.passages),
            len(rows.chunks),
            self._count_facts(rows.chunks),
            found.removed,
            profiles - found.removed,
            self._count_vectors(rows.chunks, found),
            self._count_cached_answers(rows.chunks, found),
            self._count_summaries(found),
        )

    @reading
    def list_document_keys(self) -> list[str]:
        """The keys of all documents, in order."""
        return [row[0] for row in self.db.execute_fetchall("SELECT key FROM document ORDER BY key")]

    def _find_rows(self, parts: Iterable[ErasedPart]) -> _Rows:
        rows, whole = _Rows(set(), set(), set()), list[str]()
        for part in parts:
            if part.passages is None:
                whole.append(part.document)
            else:
                self._add_passages(rows, part.document, part.passages)
        sql = f"SELECT id FROM document WHERE key IN {_LISTED.format('?')}"
        documents = self._select(sql, text_list(whole))
        rows.documents.update(documents)
        listed = id_list(documents)
        rows.passages.update(self._select(f"SELECT id FROM passage WHERE document IN {_LISTED.format('?')}", listed))
        rows.chunks.update(self._select(f"SELECT id FROM chunk WHERE document IN {_LISTED.format('?')}", listed))
        return rows

    def _add_passages(self, rows: _Rows, document: str, keys: Collection[str]) -> None:
        """Add passages of a document; one that loses all of them goes as a whole."""
        of_document = "SELECT p.id FROM document d @then JOIN passage p ON p.document = d.id WHERE d.key = ?1"
        every = self._select(of_document, document)
        lost = self._select(f"{of_document} AND p.key IN {_LISTED.format('?2')}", document, text_list(sorted(keys)))
        if lost and lost == every:
            rows.documents.update(self._select("SELECT id FROM document WHERE key = ?", document))
        rows.passages.update(lost)
        sql = f"SELECT DISTINCT chunk FROM chunk_passage WHERE passage IN {_LISTED.format('?')}"
        rows.chunks.update(self._select(sql, id_list(lost)))

    def _find_profiles(self, chunks: Collection[int]) -> _Profiles:
        listed = id_list(chunks)
        names = self._select(f"SELECT DISTINCT name FROM mention WHERE chunk IN {_LISTED.format('?')}", listed)
        pairs = self._select(f"SELECT DISTINCT pair FROM link WHERE chunk IN {_LISTED.format('?')}", listed)
        target_names, target_pairs = Names(self.db).find_targets(names, pairs)
        entities = self._select(f"SELECT id FROM entity WHERE id IN {_LISTED.format('?')}", id_list(target_names))
        relations = self._select(f"SELECT id FROM relation WHERE id IN {_LISTED.format('?')}", id_list(target_pairs))
        kept = self._count(
            f"SELECT COUNT(*) FROM entity e WHERE id IN {_LISTED.format('?1')} AND EXISTS (SELECT 1 FROM name n"
            f" @then JOIN mention f ON f.name = n.id WHERE n.target = e.id AND f.chunk NOT IN {_LISTED.format('?2')})",
            *(id_list(entities), listed),
        )
        kept += self._count(
            f"SELECT COUNT(*) FROM relation e WHERE id IN {_LISTED.format('?1')} AND EXISTS (SELECT 1 FROM pair p"
            f" @then JOIN link f ON f.pair = p.id WHERE p.target = e.id AND f.chunk NOT IN {_LISTED.format('?2')})",
            *(id_list(relations), listed),
        )
        removed = len(entities) + len(relations) - kept
        return _Profiles(names | target_names, pairs | target_pairs, entities, relations, removed)

    def _count_facts(self, chunks: Collection[int]) -> int:
        return sum(
            self._count(f"SELECT COUNT(*) FROM {table} WHERE chunk IN {_LISTED.format('?')}", id_list(chunks))
            for table in ("mention", "link")
        )

    def _count_vectors(self, chunks: Collection[int], found: _Profiles) -> int:
        """Vectors of texts that no other chunk has, of open conversations, and of profiles."""
        listed = id_list(chunks)
        texts = self._count(
            f"SELECT COUNT(*) FROM vector v WHERE v.text_hash IN (SELECT text_hash FROM chunk WHERE id IN"
            f" {_LISTED.format('?1')}) AND NOT EXISTS (SELECT 1 FROM chunk c WHERE c.text_hash = v.text_hash"
            f" AND c.id NOT IN {_LISTED.format('?1')})",
            listed,
        )
        texts += self._count(f"SELECT COUNT(*) FROM open_chunk_vector WHERE chunk IN {_LISTED.format('?')}", listed)
        return texts + sum(
            self._count(
                f"SELECT COUNT(*) FROM {table} WHERE embedding_hash IS NOT NULL AND id IN {_LISTED.format('?')}",
                id_list(ids),
            )
            for table, ids in (("entity", found.entities), ("relation", found.relations))
        )

    def _count_cached_answers(self, chunks: Collection[int], found: _Profiles) -> int:
        return self._count(
            "SELECT COUNT(*) FROM answer_cache WHERE key IN (SELECT key FROM answer_cache_source"
            f" WHERE (kind = 0 AND id IN {_LISTED.format('?1')}) OR (kind = 1 AND id IN {_LISTED.format('?2')})"
            f" OR (kind = 2 AND id IN {_LISTED.format('?3')}))",
            *(id_list(chunks), id_list(found.names), id_list(found.pairs)),
        )

    def _count_summaries(self, found: _Profiles) -> int:
        return self._count(
            f"SELECT COUNT(DISTINCT key) FROM summary_usage WHERE (kind = 1 AND id IN {_LISTED.format('?1')})"
            f" OR (kind = 2 AND id IN {_LISTED.format('?2')})",
            *(id_list(found.entities), id_list(found.relations)),
        )

    def _select(self, sql: str, *parameters: str) -> set[int]:
        return {row[0] for row in self.db.execute_fetchall(sql, parameters)}

    def _count(self, sql: str, *parameters: str) -> int:
        [[count]] = self.db.execute_fetchall(sql, parameters)
        return int(count)
