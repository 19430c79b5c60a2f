"""The tables of the ledger: present facts with their provenance, and all text. Graph and vectors are derived from it.

Times are microseconds since 1970 (UTC) of the source. Ids of documents, passages, chunks, names and pairs are never
reused. Kinds of keys: 0 chunk, 1 name, 2 pair. sqlite.sql and postgres.sql hold full text, triggers and claims.
"""

from __future__ import annotations

from dataclasses import replace

from engine.storage.ledger.schema.corrections import ALIAS_SHOWN, CORRECTIONS, IN_SPACE, NAME_SPLIT
from engine.storage.ledger.schema.stems import INDEX_STEMS, SEARCH_CHANGES, STEM_LANGUAGE, STEMS
from engine.storage.sql.schema import (
    BOOL,
    BYTES,
    ID,
    INT,
    REAL,
    REUSED_ID,
    TEXT,
    TIME,
    Column,
    DialectText,
    Index,
    Table,
    columns,
)
from engine.storage.sql.schema_source import Migration, SchemaSource, add_column, create_index, create_table, run

ANY = DialectText("ANY", TEXT.postgres)
CLAIM = DialectText("INTEGER", "integer REFERENCES threadlore_process.process ON DELETE SET NULL")
OVER_A_DAY = "time > first_time + 86400000000"
OF_CHUNK = Column("chunk", INT, references="chunk ON DELETE CASCADE")
OF_DOCUMENT = Column("document", INT, references="document ON DELETE CASCADE")
# Failed attempts; `retry_at`: seconds since 1970, infinite once given up.
FAILURE = (Column("error", TEXT, default=""), Column("hint", TEXT, default=""))
# What of a file was not read: {"part": …, "reason": …} in a list as JSON, empty for nothing; "14 of 15 slides".
OMITTED = (Column("omissions", TEXT, default=""), Column("coverage", TEXT, default=""))
ATTEMPTS = (Column("attempts", INT, default=0), Column("retry_at", REAL, default=0))

# What the model gave instead of all facts of a chunk: a value of `engine.llm.formats.outcomes.Outcome`, or 'unknown': a
# version that did not record it extracted nothing. Other chunks were read to their end, or wait for it.
INCOMPLETE = Table("incomplete_chunk", (OF_CHUNK, Column("outcome", TEXT)), key="chunk")
# Chunks whose facts another choice of extraction gave than today's; those that are `queued` are read again.
OUTDATED = Table(
    "outdated_extraction",
    (OF_CHUNK, Column("queued", BOOL, default=False)),
    (Index("outdated_extraction_queued", "chunk", where="queued"),),
    key="chunk",
)
_MARK_UNKNOWN = (
    "INSERT INTO incomplete_chunk (chunk, outcome) SELECT id, 'unknown' FROM chunk WHERE extraction IS NOT NULL"
    " AND NOT EXISTS (SELECT 1 FROM mention WHERE mention.chunk = chunk.id);"
)

CONTENT = (
    # Settings of the data directory, and the generations of the last changes.
    Table("meta", (Column("key", TEXT, primary=True), Column("value", ANY)), strict=True),
    # Visibility domains and channels by number.
    Table("space", (Column("id", REUSED_ID), Column("name", TEXT, unique=True))),
    Table(
        "room",
        (
            Column("id", REUSED_ID),
            Column("name", TEXT, unique=True),
            # Since it was moved, of all its documents; NULL: never moved.
            Column("space", INT, nullable=True, references="space"),
        ),
    ),
    Table(
        "document",
        (
            Column("id", ID),
            Column("key", TEXT, unique=True),  # the caller's id
            IN_SPACE,
            Column("room", INT, references="room"),
            Column("kind", TEXT),  # file | conversation | manual
            Column("title", TEXT),
            Column("title_key", TEXT, default=""),  # canonical title of a file, which questions may name
            Column("link", TEXT),
            Column("time", TIME, nullable=True),
            Column("open", BOOL),  # an open conversation is not extracted yet
            Column("status", TEXT),  # pending | searchable | indexed | failed
            *FAILURE,
            Column("unextracted_chunks", INT, default=0),  # kept by triggers
            Column("generation", INT),  # of the last change of its facts
            *OMITTED,
        ),
        (
            Index("document_room", "room"),
            Index("document_title", "title_key", where="title_key <> ''"),
            Index("document_pending", "id", where="status = 'pending'"),
            Index("document_extracted", "generation", where="status = 'searchable' AND unextracted_chunks = 0"),
            # Questions about a span of time ask whether a document was left out because it has no date.
            Index("document_undated", "space, room", where="time IS NULL"),
        ),
    ),
    Table(
        "passage",
        (
            Column("id", ID),
            OF_DOCUMENT,
            *(Column("key", TEXT), Column("position", INT), Column("time", TIME, nullable=True)),
            *columns(TEXT, "author", "label", "link", "text"),
            Column("sort_time", TIME, computed="COALESCE(time, 0)"),
        ),
        (Index("passage_order", "document, position, sort_time, key"), Index("passage_author", "author, time")),
        constraints=("UNIQUE (document, key)",),
    ),
    Table(
        "chunk",
        (
            Column("id", ID),
            Column("key", TEXT, unique=True),  # hash of document, text and occurrence
            OF_DOCUMENT,
            *columns(INT, "space", "room"),  # always those of its document
            *columns(INT, "ordinal", "tokens"),
            Column("time", TIME),  # of its latest passage, else of its document, else 0
            Column("first_time", TIME, default=0),  # of its earliest dated passage, else 0
            Column("text", TEXT),
            Column("text_hash", BYTES),
            # Hash of what was extracted with which extractor; NULL: nothing yet.
            Column("extraction", BYTES, nullable=True),
            *ATTEMPTS,
            Column("permanent_failure", BOOL, default=False),  # given up for a reason that a restart does not change
            *FAILURE,
            STEMS,
        ),
        (
            Index("chunk_order", "document, ordinal"),
            Index("chunk_text_hash", "text_hash"),
            Index("chunk_extraction", "extraction", where="extraction IS NOT NULL"),
            Index("chunk_unextracted", "space, id", where="extraction IS NULL"),
            Index("chunk_failed", "document", where="error <> ''"),
            Index("chunk_permanent_failure", "document", where="permanent_failure"),
            # The newest chunks, and those of a span of time. One that covers more than a day is in the index `long`.
            Index("chunk_time", "time"),
            Index("chunk_space_time", "space, time, first_time"),
            Index("chunk_room_time", "room, time, first_time"),
            Index("chunk_space_first", "space, first_time"),
            Index("chunk_room_first", "room, first_time"),
            Index("chunk_space_long", "space, first_time, time", where=OVER_A_DAY),
            Index("chunk_room_long", "room, first_time, time", where=OVER_A_DAY),
        ),
    ),
    STEM_LANGUAGE,
    INCOMPLETE,
    OUTDATED,
    # The parts of passages that a chunk consists of, as offsets in their texts.
    Table(
        "chunk_passage",
        (
            OF_CHUNK,
            Column("ordinal", INT),
            Column("passage", INT, references="passage ON DELETE CASCADE"),
            *columns(INT, "start_offset", "end_offset"),
        ),
        (Index("chunk_passage_passage", "passage"),),
        key="chunk, ordinal",
    ),
)

# The names of people that a chunk shows, or lost facts by, as hashes, in spaces where people are no entities.
# `evidence`: a value of `engine.knowledge.people.Evidence`; negative ones are work.
_PERSON_NAME = Table(
    "person_name",
    (OF_CHUNK, Column("hash", INT), Column("evidence", INT)),
    (Index("person_name_hash", "hash, evidence, chunk"),),
    key="chunk, hash",
)
_PERSON_CHECKS = Index("person_name_checks", "evidence, chunk", where="evidence < 0")
PERSON_NAME = replace(_PERSON_NAME, indexes=(*_PERSON_NAME.indexes, _PERSON_CHECKS))

FACTS = (
    # Names and pairs of names, by space. `target` is the row itself, or where its alias leads. `spelling_key`: other
    # spellings of the same name have the same key. Facts that were split from a name have a row of their own, which
    # leads to their part (`engine/knowledge/splits.py`).
    Table(
        "name",
        (
            Column("id", ID),
            IN_SPACE,
            *(Column("canonical", TEXT), Column("target", INT), Column("spelling_key", TEXT)),
        ),
        (
            Index("name_target", "target"),
            # Names in a scope of many spaces: one look-up for each name instead of one for each name and space.
            Index("name_canonical", "canonical, space, target"),
            Index("name_spelling_key", "space, spelling_key"),
        ),
        constraints=("UNIQUE (space, canonical)",),
    ),
    # a < b: names; a pair without links may remain after them. `target` 0: both ends are the same by alias.
    Table(
        "pair",
        (Column("id", ID), IN_SPACE, *columns(INT, "a", "b", "target")),
        (Index("pair_target", "target"), Index("pair_b", "b")),
        constraints=("UNIQUE (a, b)",),
    ),
    # What a chunk states about a name, and about two names. An empty type: the name was only an end of a link.
    # `number`: of the chunk's mentions, of its links, in the order of extraction; `hash`: of the description. The facts
    # of a key are read together, so they are stored together, the oldest first: a read from disk costs few pages.
    Table(
        "mention",
        (
            *(OF_CHUNK, Column("number", INT), Column("name", INT, references="name")),
            *(Column("time", TIME), Column("hash", INT)),
            *columns(TEXT, "surface", "type", "description"),
        ),
        (Index("mention_chunk", "chunk, number", unique=True),),
        key="name, time, hash, chunk, number",
    ),
    Table(
        "link",
        (
            *(OF_CHUNK, Column("number", INT), Column("pair", INT, references="pair")),
            *(Column("time", TIME), Column("hash", INT)),
            *columns(TEXT, "keywords", "description"),
        ),
        (Index("link_chunk", "chunk, number", unique=True),),
        key="pair, time, hash, chunk, number",
    ),
    # Abbreviations that extracted chunks define, by the spelling keys of both forms. `long_core`: the long form with
    # its last word as written. `space`: always its chunk's.
    Table(
        "abbreviation",
        (OF_CHUNK, *columns(TEXT, "short_key", "long_core"), Column("space", INT), Column("long_key", TEXT)),
        (
            Index("abbreviation_short", "space, short_key, long_key, long_core"),
            Index("abbreviation_long", "space, long_key, short_key"),
        ),
        key="chunk, short_key, long_core",
    ),
    PERSON_NAME,
)

EMBEDDING = (
    Column("in_graph", BOOL, default=False),
    Column("embedding_hash", BYTES, nullable=True),  # of the text that its vector was made of
    Column("retry_at", REAL, nullable=True),  # a summary failed and is due again then, seconds since 1970
)
PROJECTION = (
    # Keys that must be projected again. `first_generation`, `generation`: of the first and the last change that is not
    # projected yet. Work is taken from all spaces in turn, and claimed by the process that does it.
    Table(
        "stale_key",
        (
            *columns(INT, "kind", "id", "first_generation", "generation"),
            Column("on_cooldown", INT, default=0),  # a hot key that waits for the end of its quiet period
            *ATTEMPTS,  # to embed it
            *FAILURE,
            Column("space", INT, default=0),  # of the key; 0 for a chunk that is gone
            Column("claimed_by", CLAIM, nullable=True),  # a process of a database that several share
        ),
        (
            Index("stale_key_first_generation", "first_generation"),
            Index("stale_key_chunk", "space, kind, first_generation", where="kind = 0 AND on_cooldown = 0"),
            Index("stale_key_profile", "space, kind, first_generation", where="kind > 0 AND on_cooldown = 0"),
        ),
        key="kind, id",
    ),
    # Names and pairs whose embedding was given up: they have no vector. Chunks have columns for it.
    # `permanent`: for a reason that a restart does not change.
    Table(
        "embedding_failure",
        (*columns(INT, "kind", "id"), *columns(TEXT, "error", "hint"), Column("permanent", BOOL)),
        key="kind, id",
    ),
    # Profiles: the merged facts of a name (id = name.id) or a pair (id = pair.id).
    Table(
        "entity",
        (
            Column("id", INT, primary=True),
            Column("space", INT),
            *columns(TEXT, "name", "type", "description"),
            Column("mention_count", INT),  # distinct chunks
            Column("degree", INT, default=0),  # number of its relations; kept by triggers
            *EMBEDDING,
        ),
        (Index("entity_space", "space"), Index("entity_retry", "retry_at", where="retry_at IS NOT NULL")),
    ),
    # `weight`: distinct chunks.
    Table(
        "relation",
        (
            Column("id", INT, primary=True),
            *columns(INT, "space", "a", "b"),
            *columns(TEXT, "keywords", "description"),
            Column("weight", INT),
            *EMBEDDING,
        ),
        (Index("relation_retry", "retry_at", where="retry_at IS NOT NULL"),),
    ),
    # Entities that are not yet compared with others, and pairs (a < b) that may be the same, with the cosine of their
    # vectors (0: unknown). Both can be found again.
    Table("uncompared_entity", (Column("id", INT, primary=True),)),
    Table(
        "duplicate_candidate",
        (*columns(INT, "a", "b", "space"), *columns(REAL, "similarity", "score")),
        (Index("duplicate_candidate_b", "b"), Index("duplicate_candidate_space", "space, score")),
        key="a, b",
    ),
    # Statistics of each space and room (0 except for chunks): full text is ranked with those of the asker's scope only.
    # `total_length`: chunks in tokens, names in characters.
    Table("corpus_stats", columns(INT, "kind", "space", "room", "row_count", "total_length"), key="kind, space, room"),
)

CACHES = (
    # Summaries by the hash of their inputs, with the profiles that use them.
    Table("summary", (Column("key", BYTES, primary=True), Column("text", TEXT))),
    Table(
        "summary_usage",
        (*columns(INT, "kind", "id"), Column("key", BYTES, references="summary")),
        (Index("summary_usage_key", "key"),),
        key="kind, id, key",
    ),
    # Vectors of chunk texts by text and embedder (its name and number of dimensions). `data`: float32, parts x dim.
    Table(
        "vector",
        (Column("embedder", TEXT), Column("text_hash", BYTES), Column("parts", INT), Column("data", BYTES)),
        key="text_hash, embedder",
    ),
    # Vectors of chunks of open conversations, which grow: only new text is embedded.
    Table(
        "open_chunk_vector",
        (
            OF_CHUNK,
            Column("embedder", TEXT),
            Column("covered_chars", INT),  # characters at the start of the text
            Column("embedded_at_once", BOOL),  # made in one call, as those of a closed conversation are
            *(Column("parts", INT), Column("data", BYTES)),
        ),
        key="chunk, embedder",
        has_rowid=True,
    ),
    # Answers by the hash of the final messages and the model, with the keys that they rest on.
    Table(
        "answer_cache",
        (Column("key", BYTES, primary=True), Column("text", TEXT), Column("used_at", REAL)),
        (Index("answer_cache_used_at", "used_at"),),
    ),
    Table(
        "answer_cache_source",
        (Column("key", BYTES, references="answer_cache ON DELETE CASCADE"), *columns(INT, "kind", "id")),
        (Index("answer_cache_source_key", "key"),),
        key="kind, id, key",
    ),
    # Tokens and cost of model calls, and of those that indexed texts of a space.
    Table(
        "usage",
        (
            *columns(TEXT, "day", "purpose", "model"),
            *columns(INT, "calls", "input_tokens", "output_tokens"),
            Column("cost", REAL),
        ),
        key="day, purpose, model",
    ),
    Table(
        "space_usage",
        (IN_SPACE, *columns(TEXT, "day", "purpose"), Column("tokens", INT), Column("cost", REAL)),
        key="space, day, purpose",
    ),
)

MIGRATIONS = (
    Migration(
        create_table(INCOMPLETE),
        run(sqlite=_MARK_UNKNOWN, postgres=_MARK_UNKNOWN),
        online="an older process records no outcome.",
    ),
    Migration(
        *(add_column("document", column) for column in OMITTED),
        online="an older process stores no omissions.",
    ),
    # Not online: an older process would save facts without regard to splits.
    Migration(create_table(NAME_SPLIT), add_column("alias", ALIAS_SHOWN)),
    Migration(create_table(OUTDATED), online="an older process reads no chunk again."),
    # Not online: an older process would save facts about people.
    Migration(create_table(_PERSON_NAME)),
    # Not online: an older process would not record what texts lose.
    Migration(create_index("person_name", _PERSON_CHECKS)),
    Migration(
        add_column("chunk", STEMS),
        create_table(STEM_LANGUAGE),
        INDEX_STEMS,
        online="an older process stores no stems; its chunks are found by their words.",
    ),
    Migration(run(postgres=SEARCH_CHANGES), online="triggers record what an older process changes."),
)

SOURCE = SchemaSource(
    "engine.storage.ledger.schema",
    frozen=5,
    tables=(*CONTENT, *FACTS, *CORRECTIONS, *PROJECTION, *CACHES),
    migrations=MIGRATIONS,
)
