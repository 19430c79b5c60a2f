"""Look-ups within a scope: full text, names, profiles, evidence and texts. Every text leaves through a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.clauses import (
    join_chunks,
    join_ids,
    join_newest_facts,
    load_sort_keys,
    name_clause,
    row_clause,
    space_clause,
)
from engine.storage.ledger.full_text.fts5 import score_texts
from engine.storage.ledger.full_text.index import CHUNK_INDEX, NAME_INDEX, SearchWord, find_term_index
from engine.storage.ledger.full_text.search_words import (
    extract_words,
    list_stem_languages,
    select_search_words,
    split_into_terms,
)
from engine.storage.ledger.queries import filters
from engine.storage.ledger.queries.corrections import select_corrections
from engine.storage.ledger.queries.filters import fact_clause, matching_chunk_clause
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.records.query_results import (
    ChunkText,
    EntityRecord,
    LoadedScope,
    ManualCorrection,
    PieceText,
    RelationRecord,
    ScopeIds,
    StatingPassage,
    WordHits,
)
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.database import Place_co, Topic, reading
from engine.storage.sql.fragments import from_micros, id_list, text_list
from engine.text.languages.detection import list_query_stems

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from engine.models import Filters, Scope
    from engine.storage.ledger.full_text.bm25 import RankedRows
    from engine.storage.ledger.full_text.index import FullTextIndex
    from engine.storage.ledger.records.query_results import ChunkFilter, ResolvedFilters


# Of the other spaces one is enough, and far fewer rows are read than there are spaces and channels.
_COUNT_OTHER = (
    "SELECT * FROM (SELECT kind, space, row_count FROM corpus_stats WHERE kind = {} AND row_count > 0"
    " AND space NOT IN (SELECT value FROM @list(?1)) LIMIT 1) other{}"
)

_COUNT_BY_SPACE = " UNION ALL ".join(
    (
        (
            "SELECT kind, space, SUM(row_count) FROM corpus_stats"
            " WHERE kind IN (0, 1, 2) AND space IN (SELECT value FROM @list(?1)) GROUP BY kind, space"
        ),
        *(_COUNT_OTHER.format(kind.value, kind.value) for kind in KeyKind),
    )
)

_CONVERSATION_CHUNKS = (
    "SELECT j.value, n.id FROM @list(?1, j) @then JOIN chunk c ON c.id = j.value AND c.time > 0"
    " @then JOIN document d ON d.id = c.document AND d.kind = 'conversation'"
)

_NEXT_IN_ROOM = (
    "SELECT x.id FROM chunk x @use(chunk_room_time) @then JOIN document e ON e.id = x.document"
    " AND e.kind = 'conversation' WHERE x.room = c.room AND x.time > c.time ORDER BY x.time, x.key LIMIT ?2"
)

MAX_CHUNKS = 400  # searched for facts at most


class Search(Topic[Place_co]):
    """Reading for questions. Every text leaves through a scope."""

    @reading
    def resolve_scope(self, scope: Scope) -> ScopeIds:
        """The ids of a scope's spaces and rooms; unknown ones are left out."""
        spaces = self.db.execute_fetchall(
            "SELECT id FROM space WHERE name IN (SELECT value FROM @list(?))", (text_list(sorted(scope.spaces)),)
        )
        rooms = self.db.execute_fetchall(
            "SELECT id FROM room WHERE name IN (SELECT value FROM @list(?))", (text_list(sorted(scope.rooms)),)
        )
        return ScopeIds(frozenset(row[0] for row in spaces), frozenset(row[0] for row in rooms))

    @reading
    def load_scope(self, scope: Scope, within: Filters) -> LoadedScope:
        """A scope as ids, what matches the filters in it, and the state of the ledger at the same time."""
        ids = self.resolve_scope(scope)
        matching = filters.resolve_filters(self.db, within, ids) if within.is_active else None
        return LoadedScope(ids, matching, self.count_by_space(ids.spaces), Settings(self.db).current_generation())

    @reading
    def filter_ids(self, matching: ResolvedFilters, kind: KeyKind, ids: Collection[int]) -> AbstractSet[int]:
        """Those of the ids that match the filters."""
        return filters.filter_ids(self.db, matching, kind, ids)

    @reading
    def list_matching_ids(self, within: Filters, scope_ids: ScopeIds, kind: KeyKind) -> frozenset[int]:
        """Every id of a kind that matches the filters, up to a limit: for searches that find too few hits."""
        return filters.list_matching_ids(self.db, within, scope_ids, kind)

    @reading
    def load_sort_keys(self, kind: KeyKind, ids: Collection[int]) -> dict[int, tuple[str, str, str]]:
        """Texts that order rows of equal rank; missing rows are left out."""
        return load_sort_keys(self.db, kind, ids)

    @reading
    def count_by_space(self, spaces: Collection[int]) -> dict[KeyKind, dict[int, int]]:
        """The numbers of chunks, names and pairs in each of these spaces.

        If others hold rows of a kind, one of them is there, too, with at least one row: so it shows that there are
        more.
        """
        rows = self.db.execute_fetchall(_COUNT_BY_SPACE, (id_list(sorted(spaces)),))
        counts: dict[KeyKind, dict[int, int]] = {kind: {} for kind in KeyKind}
        for kind, space, count in rows:
            if count > 0:
                counts[KeyKind(kind)][space] = count
        return counts

    @reading
    def search_chunks(self, text: str, k: int, scope_ids: ScopeIds, filters: ResolvedFilters | None = None) -> WordHits:
        """The k best chunks within the scope that match any word, with BM25 scores within the scope, best first."""
        found = self._rank(CHUNK_INDEX, text, k, scope_ids, filters)
        return WordHits(found.scores, found.known)

    def _rank(
        self, index: FullTextIndex, text: str, k: int, scope_ids: ScopeIds, filters: ResolvedFilters | None
    ) -> RankedRows:
        from engine.storage.ledger.full_text.bm25 import rank_rows  # noqa: PLC0415 - it needs NumPy, which is slow

        words = select_search_words(self.db, index, text, scope_ids)
        return rank_rows(self.db, index, words, scope_ids, filters, k)

    @reading
    def find_unknown_words(self, text: str, scope_ids: ScopeIds) -> list[str]:
        """The words of a text, without case and stop words, that no chunk within the scope contains, in order."""
        reader, scope = find_term_index(self.db), CHUNK_INDEX.scope_clause(scope_ids, "x")
        words = extract_words(text)
        terms = reader.tokenize_words(self.db, reader.find_tokenizer(self.db), words)
        sought = [SearchWord(word, term) for word, term in zip(words, terms, strict=True) if term]
        found = reader.count_matches(self.db, CHUNK_INDEX.kind, sought, scope, 1)
        missing = [word for word in sought if not found[word]]
        languages = list_stem_languages(self.db) if missing else []
        stems = {word: list_query_stems(word.text, languages) for word in missing}
        forms = [SearchWord(stem, (stem,)) for own in stems.values() for stem in own]
        held = reader.count_matches(self.db, CHUNK_INDEX.kind, forms, scope, 1)
        known = {form.text for form in forms if held[form]}
        return [word.text for word in missing if not known.intersection(stems[word])]

    @reading
    def find_texts_by_start(self, start: str, scope_ids: ScopeIds, limit: int) -> list[str]:
        """The texts of some chunks within the scope that contain a word with this beginning, given in letters."""
        reader, scope = find_term_index(self.db), CHUNK_INDEX.scope_clause(scope_ids, "x")
        rows = reader.find_rows_by_start(self.db, CHUNK_INDEX.kind, start, scope, limit)
        texts = self.db.execute_fetchall(
            "SELECT c.text FROM @list(?, j) @then JOIN chunk c ON c.id = j.value ORDER BY c.key", (id_list(rows),)
        )
        return [row[0] for row in texts]

    @reading
    def score_passages(self, question: str, texts: Sequence[str]) -> list[float]:
        """The BM25 score of each of these texts for a question, among these texts."""
        tokenizer = find_term_index(self.db).find_tokenizer(self.db)
        return score_texts(tokenizer, split_into_terms(question, tokenizer), texts)

    @reading
    def find_neighbor_messages(self, ids: Collection[int], span: int) -> list[tuple[int, int]]:
        """Pairs of a chunk among `ids` and one of the `span` next ones of its conversation or, by time, of its room.

        Only chunks of conversations, and in a room only those with a later time.
        """
        rows = self.db.execute_fetchall(
            f"{_CONVERSATION_CHUNKS} @then JOIN chunk n ON n.document = c.document AND n.ordinal > c.ordinal"
            " AND n.ordinal <= c.ordinal + ?2 UNION"
            f" {_CONVERSATION_CHUNKS}{join_chunks(self.db.dialect, _NEXT_IN_ROOM)}",
            (id_list(ids), span),
        )
        return [(one, other) for one, other in rows]

    @reading
    def find_entities_by_name(self, names: Collection[str], scope_ids: ScopeIds) -> list[int]:
        """Entities in the scope's spaces with one of these canonical names or an alias of it."""
        rows = self.db.execute_fetchall(
            "SELECT DISTINCT n.target FROM @list(?, j) @then JOIN name n ON n.canonical = j.value"
            f" AND {name_clause(scope_ids, 'n')} @then JOIN entity e ON e.id = n.target",
            (text_list(sorted(names)),),
        )
        return [row[0] for row in rows]

    @reading
    def search_entities(
        self, text: str, k: int, scope_ids: ScopeIds, filters: ResolvedFilters | None = None
    ) -> list[int]:
        """The k entities in the scope's spaces that match the filters and whose names match best (BM25), best first."""
        return list(self._rank(NAME_INDEX, text, k, scope_ids, filters).scores)

    @reading
    def load_entities(self, ids: Collection[int], scope_ids: ScopeIds) -> dict[int, EntityRecord]:
        """The profiles of these names in the scope's spaces."""
        rows = self.db.execute_fetchall(
            "SELECT e.id, e.space, n.canonical, e.name, e.type, e.description, e.mention_count, e.degree,"
            " EXISTS (SELECT 1 FROM stale_key s WHERE s.kind = 1 AND s.id = e.id) FROM @list(?, j)"
            " @then JOIN entity e ON e.id = j.value @then JOIN name n ON n.id = e.id"
            f" WHERE e.space IN ({join_ids(scope_ids.spaces)})",
            (id_list(ids),),
        )
        return {
            id_: EntityRecord(id_, space, canonical, name, type_, text, mentions, degree, bool(stale))
            for id_, space, canonical, name, type_, text, mentions, degree, stale in rows
        }

    @reading
    def load_relations(self, ids: Collection[int], scope_ids: ScopeIds) -> dict[int, RelationRecord]:
        """The profiles of these pairs in the scope's spaces."""
        rows = self.db.execute_fetchall(
            "SELECT r.id, r.space, r.a, r.b, r.keywords, r.description, r.weight,"
            " EXISTS (SELECT 1 FROM stale_key s WHERE s.kind = 2 AND s.id = r.id) FROM @list(?, j)"
            f" @then JOIN relation r ON r.id = j.value WHERE r.space IN ({join_ids(scope_ids.spaces)})",
            (id_list(ids),),
        )
        return {
            id_: RelationRecord(id_, space, (a, b), keywords, text, weight, bool(stale))
            for id_, space, a, b, keywords, text, weight, stale in rows
        }

    @reading
    def find_evidence_chunks(
        self, kind: KeyKind, ids: Sequence[int], newest: int, only: ChunkFilter | None
    ) -> dict[int, list[int]]:
        """The newest chunks that state each name or pair, newest first, among `only` if given."""
        keys, facts, column = ("name", "mention", "name") if kind == 1 else ("pair", "link", "pair")
        narrowed, parameters = ("true", []) if only is None else fact_clause(only, "g")
        rows = self.db.execute_fetchall(
            f"SELECT j.value, f.chunk FROM @list(?, j) @then JOIN {keys} k ON k.target = j.value"
            f"{join_newest_facts(self.db.dialect, facts, column, narrowed)}"
            " ORDER BY f.time DESC, f.hash DESC, f.chunk",
            (id_list(ids), *parameters, newest),
        )
        found: dict[int, dict[int, None]] = {id_: {} for id_ in ids}
        for key, chunk in rows:
            found[key][chunk] = None
        return {key: list(chunks) for key, chunks in found.items()}

    @reading
    def load_chunk_texts(self, ids: Sequence[int], scope_ids: ScopeIds) -> list[ChunkText]:
        """Chunks within the scope with their pieces, in the order of `ids`."""
        rows = self.db.execute_fetchall(
            "SELECT c.id, c.key, c.text, d.key, d.title, d.link, d.time, s.name, r.name, i.start_offset, i.end_offset,"
            " p.key, p.label, p.link, p.author, p.time, p.text FROM @list(?, j) @then JOIN chunk c ON c.id = j.value"
            " @then JOIN document d ON d.id = c.document @then JOIN space s ON s.id = c.space"
            " @then JOIN room r ON r.id = c.room @then JOIN chunk_passage i ON i.chunk = c.id"
            f" @then JOIN passage p ON p.id = i.passage WHERE {row_clause(scope_ids, 'c')} ORDER BY i.ordinal",
            (id_list(ids),),
        )
        found: dict[int, ChunkText] = {}
        pieces: dict[int, list[PieceText]] = {}
        for row in rows:
            (id_, key, text, document, title, link, time, space, room, start, stop) = tuple(row)[:11]
            (passage, label, own_link, author, own_time, whole) = tuple(row)[11:]
            found.setdefault(id_, ChunkText(id_, key, document, text, ()))
            when = from_micros(own_time if own_time is not None else time)
            pieces.setdefault(id_, []).append(
                PieceText(
                    passage, document, title, label, own_link or link, author, when, whole[start:stop], space, room
                )
            )
        ordered = [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]
        return [ChunkText(c.id, c.key, c.document, c.text, tuple(pieces[c.id])) for c in ordered]

    @reading
    def list_relations_between(self, ids: Collection[int], scope_ids: ScopeIds) -> list[int]:
        """The relations in the scope's spaces whose two ends are among these entities."""
        rows = self.db.execute_fetchall(
            "SELECT r.id FROM @list(?1, j) @then JOIN relation r ON r.a = j.value"
            f" WHERE {space_clause(scope_ids, 'r')} AND r.b IN (SELECT value FROM @list(?1))",
            (id_list(sorted(ids)),),
        )
        return [row[0] for row in rows]

    @reading
    def list_corrections(self, scope_ids: ScopeIds, limit: int, offset: int) -> list[ManualCorrection]:
        """Some of the corrections made by hand in the scope's spaces, by kind and name."""
        rows = self.db.execute_fetchall(
            select_corrections(space_clause(scope_ids, "c")) + " LIMIT ? OFFSET ?",
            (limit, offset),
        )
        return [ManualCorrection(*row) for row in map(tuple, rows)]

    @reading
    def list_latest_chunks(self, filters: Filters, scope_ids: ScopeIds, limit: int) -> list[int]:
        """The newest chunks within the scope that match the filters, newest first."""
        matching, parameters = matching_chunk_clause(filters)
        rows = self.db.execute_fetchall(
            f"SELECT c.id FROM chunk c WHERE {row_clause(scope_ids, 'c')} AND {matching}"
            " ORDER BY c.time DESC, c.id DESC LIMIT ?",
            (*parameters, limit),
        )
        return [row[0] for row in rows]

    @reading
    def find_latest_time(self, filters: Filters, scope_ids: ScopeIds) -> datetime | None:
        """The time of the newest chunk that matches the filters, if it has one."""
        ids = self.list_latest_chunks(filters, scope_ids, 1)
        rows = self.db.execute_fetchall("SELECT time FROM chunk WHERE id = ?", ids) if ids else []
        return next((from_micros(row[0]) for row in rows if row[0]), None)

    @reading
    def has_excluded_undated(self, scope: Scope, filters: Filters) -> bool:
        """Whether a document within the scope is excluded by the time span only because it has no date."""
        scope_ids = self.resolve_scope(scope)
        narrowed, parameters = "", list[str]()
        for values, column in ((filters.documents, "d.key"), (filters.rooms, "r.name")):
            if values:
                narrowed += f" AND {column} IN (SELECT value FROM @list(?))"
                parameters.append(text_list(sorted(values)))
        rows = self.db.execute_fetchall(
            "SELECT 1 FROM document d @use(document_undated) @then JOIN room r ON r.id = d.room"
            f" WHERE d.time IS NULL AND d.kind = 'file' AND {row_clause(scope_ids, 'd')}{narrowed}"
            " AND EXISTS (SELECT 1 FROM passage p WHERE p.document = d.id AND p.time IS NULL) LIMIT 1",
            parameters,
        )
        return bool(rows)

    @reading
    def find_stating_passages(self, names: Collection[int], pairs: Collection[int]) -> list[StatingPassage]:
        """The passages of the newest chunks that mention any of these names, or link any of these pairs."""
        rows = self.db.execute_fetchall(
            "WITH stating AS ("
            " SELECT f.chunk, f.time FROM @list(?1, j) @then JOIN name k ON k.target = j.value"
            " @then JOIN mention f ON f.name = k.id"
            " UNION SELECT f.chunk, f.time FROM @list(?2, j) @then JOIN pair k ON k.target = j.value"
            " @then JOIN link f ON f.pair = k.id ORDER BY 2 DESC LIMIT ?3)"
            " SELECT DISTINCT d.key, r.name, p.key, p.text FROM stating"
            " @then JOIN chunk_passage i ON i.chunk = stating.chunk"
            " @then JOIN passage p ON p.id = i.passage @then JOIN document d ON d.id = p.document"
            " @then JOIN room r ON r.id = d.room",
            (id_list(sorted(names)), id_list(sorted(pairs)), MAX_CHUNKS),
        )
        return [StatingPassage(*row) for row in rows]

    @reading
    def list_authors(self, scope_ids: ScopeIds) -> list[str]:
        """The names of everybody who wrote something within the scope, in order."""
        rows = self.db.execute_fetchall(
            "SELECT DISTINCT p.author FROM document d @then JOIN passage p ON p.document = d.id"
            f" WHERE p.author > '' AND {row_clause(scope_ids, 'd')} ORDER BY p.author"
        )
        return [row[0] for row in rows]
