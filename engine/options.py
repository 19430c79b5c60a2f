"""Options of an engine: every tunable number, with a default that suits one machine."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from engine.errors import PromptTooLong
from engine.text.tokenizer import (
    DEFAULT_OVERLAP_TOKENS,
    DEFAULT_WINDOW_TOKENS,
    MAX_CHARACTERS_PER_TOKEN,
    MIN_CHARACTERS_PER_TOKEN,
    check_window,
)
from engine.usage import IndexingLimits

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from engine.models import Question

MIN_CONTEXT_TOKENS = 2048  # extraction does not fit into a smaller context window
TOKEN_COUNT_SAFETY = 0.9  # a model's own tokens are smaller: most texts have a few more of them
MAX_RESERVE = 2000  # tokens kept for a reply by default, at most …
RESERVE_SHARE = 4  # … and at most a fourth of the context window
EXTRACTION_PROMPT_TOKENS, SUMMARY_PROMPT_TOKENS = 900, 300  # tokens of the instructions around the text
OVERLAP_SHARE, TARGET_SHARE, JOIN_SHARE = 12, 2, 4  # of reduced chunks, and of a reduced summary call: 1 / share
DEFAULT_PROMPT_TOKENS = 6_000  # what it finds: `make bench-prompts`
SHORT_ANSWER, LONG_ANSWER, LONGEST_ANSWER = 1_000, 16_000, 100_000  # characters
# Bytes of 412,000 rounded rows of 384 dimensions; a fourth of them holds 27,000 exact ones. A search of 380,000 rows
# takes 7 ms of a core, on disk 30; loading them takes 4 s, during which searches use the disk.
VECTOR_CACHE_BYTES = 160 << 20
WORD_CACHE_BYTES = 128 << 20
GRAPH_CACHE_BYTES = 64 << 20  # 1,290,000 relations and as many entities, taken as they come
GRAPH_SHARE = 56 << 20  # of a given memory, beside VECTOR_CACHE_BYTES for each table: 5 million relations in 3 GiB
# What a process needs besides copies, measured at 300,000 chunks, and copies that are worth their loading.
PROCESS_BYTES, MIN_COPIES_BYTES = 704 << 20, 64 << 20


@dataclass(frozen=True, slots=True)
class CopySizes:
    """Bytes of memory for copies: of each table of vectors, of each index of words in PostgreSQL, and of the graph."""

    vectors: int = VECTOR_CACHE_BYTES
    words: int = WORD_CACHE_BYTES
    graph: int = GRAPH_CACHE_BYTES

    @classmethod
    def divide(cls, memory: int, *, has_database: bool) -> CopySizes:
        """The sizes with which a process stays below so many bytes. Raises ValueError with the bytes that it needs."""
        copies = memory - PROCESS_BYTES
        if copies < MIN_COPIES_BYTES:
            raise ValueError(PROCESS_BYTES + MIN_COPIES_BYTES)
        whole = 3 * VECTOR_CACHE_BYTES + (2 * WORD_CACHE_BYTES if has_database else GRAPH_SHARE)
        return cls(*(part * copies // whole for part in (VECTOR_CACHE_BYTES, WORD_CACHE_BYTES, GRAPH_SHARE)))


@dataclass(frozen=True, slots=True)
class ChunkingOptions:
    """How passages are packed into chunks. Sizes are in tokens.

    A passage longer than `size` is split into windows that overlap by `overlap`. From `target_size` on, a chunk ends
    after the first passage whose hash is 0 modulo `hash_modulo`; if it reaches `size` before, after the passage with
    the smallest hash. A `separator` always ends a chunk; with `separator_only`, passages are split nowhere else.
    """

    size: int = DEFAULT_WINDOW_TOKENS
    overlap: int = DEFAULT_OVERLAP_TOKENS
    target_size: int = 600
    hash_modulo: int = 12
    separator: str = ""
    separator_only: bool = False

    def __post_init__(self) -> None:
        check_window(self.size, self.overlap)
        if self.hash_modulo < 1:
            raise ValueError(f"hash_modulo must be at least 1, not {self.hash_modulo}")


@dataclass(frozen=True, slots=True)
class SummaryLimits:
    """The limits from which on a model summarizes descriptions that else are joined, and those of one call.

    Fewer than `join_fragments` descriptions with fewer than `join_tokens` tokens are joined. More are summarized in
    groups of up to `group_size`, the newest `max_groups` of them; a group also ends after a description whose hash is 0
    modulo `hash_modulo`. One call takes `call_tokens`, or several short summaries: `keys_per_call` entities and
    relations of one space with `characters_per_call`. Tokens are o200k_base.
    """

    call_tokens: int = 12_000
    join_tokens: int = 1_200
    join_fragments: int = 8
    hash_modulo: int = 8
    group_size: int = 24
    max_groups: int = 24
    keys_per_call: int = 8
    characters_per_call: int = 12_000

    @property
    def max_fragments(self) -> int:
        """The number of newest descriptions that a summary can use."""
        return self.group_size * self.max_groups


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """How search results are ranked: every number that decides which of them a context shows, and in which order.

    `engine/retrieval/ranking` uses them. `chunk_selection`: how chunks of the graph are ranked, by a random walk
    from the facts most similar to the question ("walk"), or as LightRAG does it, by similarity ("vector") or by how
    many entities and relations they support ("weight").
    """

    # Chunks: vector search and full-text search, fused by scores. Chosen on development sets of LoCoMo and HotpotQA.
    vector_weight: float = 1.0
    fulltext_weight: float = 0.8
    fusion_candidates: int = 100  # hits fetched by each search, at least
    known_words_share: float = 0.9  # of the words of a question, known to the texts: with fewer, words weigh less
    unknown_similarity_share: float = 0.8  # of the least similar hit: the similarity of chunks found by words alone
    unknown_words_share: float = 0.8  # of the last of many hits by words: the words of chunks found by vectors alone

    # Messages of a conversation gain from those before and after them. Chosen on a development set of LoCoMo.
    neighbor_span: int = 2
    neighbor_share: float = 0.3  # of the best neighbor's score
    passage_rank_weight: float = 0.5  # of the rank of a chunk in the score of its passages

    named_author_weight: float = 0.5  # of being written by somebody about whom the question asks

    # Entities: exact names first, then vector search and full-text search, fused by the sum of
    # weight / (damping + rank). Not the damping of 60 of the paper, whose rankings had a thousand entries: with lists
    # of twenty, even the first hit of the lighter search alone would be lost.
    rrf_damping: int = 20
    entity_vector_weight: float = 1.0
    entity_fulltext_weight: float = 0.5
    entity_fulltext_share: float = 0.5  # full-text hits fetched per entity wanted
    max_entity_overfetch: int = 4  # vector hits fetched per entity wanted, at most, until enough names differ

    # Relations around the entities found; the three shares sum to 1.
    max_neighbor_edges: int = 240  # edges considered, the heaviest first
    relation_similarity_share: float = 0.8
    relation_degree_share: float = 0.12
    relation_weight_share: float = 0.08
    relation_degree_saturation: float = 4.0  # log(1 + degrees) that gives half of its share
    relation_weight_saturation: float = 1.0  # log(1 + weight) that gives half of its share

    # Rows of the graph in the prompt: for what no source says, or all that fit ("all", as LightRAG does it).
    graph_rows: Literal["unsaid", "all"] = "unsaid"
    graph_token_share: float = 0.15  # of the tokens and chunks that the prompt leaves, for rows and their sources
    max_row_candidates: int = 12  # entities, and relations, the first of which may be rows that no source says
    max_row_evidence: int = 40  # further chunks loaded to support them

    # Chunks that state the entities and relations.
    chunk_selection: Literal["walk", "vector", "weight"] = "walk"
    max_evidence_chunks: int = 12  # newest chunks considered per entity and relation
    max_vector_candidates: int = 240  # chunks whose vectors are compared with the question
    chunks_per_item: int = 5  # chunks chosen per entity or relation by "vector" and "weight"

    # The random walk from the names of a question (mix). Chosen on development sets of MuSiQue and 2Wiki.
    max_seed_mentions: int = 5  # walks start at names with at most so many mentions …
    max_seed_share: float = 0.02  # … or with mentions in at most this share of the chunks in scope
    seed_fact_candidates: int = 50  # relations nearest to the question, of which max_seed_facts with a named end count
    max_titled_chunks: int = 40  # walks start at titles of files with fewer chunks
    prior_chunks: int = 20  # chunks nearest to the question that are starts, too
    prior_weight: float = 0.02  # of the nearest one; all names together weigh 1
    walk_rounds: int = 3  # times that edges are loaded
    walk_batch: int = 96  # nodes whose edges are loaded at once
    max_walk_degree: int = 400  # walks end at entities with more mentions and relations
    max_walk_edges: int = 3_000  # edges that are loaded, about
    max_walk_chunks: int = 100  # chunks that are ranked
    # Visits are flat if the last chunk that is ranked has more than this share of the visits of the `flatness_rank`-th.
    # Then chunks are ranked from a share of the most visits on. Chosen on a development set of LoCoMo.
    max_flatness: float = 0.3
    flatness_rank: int = 10
    min_visit_share: float = 0.1
    walk_restart_probability: float = 0.3  # of each step to go back to a start
    walk_iterations: int = 10  # the remainder is below 0.7 ** 10, a thirtieth

    # The random walk over search results (local, global and hybrid; personalized PageRank).
    max_seed_facts: int = 5  # relations, those most similar to the question, at whose ends walks start
    chunk_seed_weight: float = 0.05  # of the most similar chunk as a start; a fact's is its similarity
    restart_probability: float = 0.5  # of each step to go back to a start
    pagerank_iterations: int = 20  # the remainder is below 0.5 ** 20, a millionth

    # Texts and the reranker.
    text_overfetch: int = 2  # texts loaded, and reranked, per chunk shown: some are duplicates or filtered out
    min_rerank_score: float = 0.0  # chunks with a lower score are left out, if positive


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """The context window of the chat model, in o200k_base tokens.

    `size`: prompt and reply together; 0 if unknown, then nothing is reduced. `reserve`: tokens kept for the reply; 0
    for a fourth of the size, 2,000 at most. `reply`: the longest reply to request; 0 for the model's own limit.
    """

    size: int = 0
    reserve: int = 0
    reply: int = 0

    def __post_init__(self) -> None:
        if self.size and self.max_prompt_tokens < EXTRACTION_PROMPT_TOKENS + SUMMARY_PROMPT_TOKENS:
            raise ValueError(f"{self.size:,} tokens are too few for a prompt and {self.reply_tokens:,} tokens of reply")

    @property
    def reply_tokens(self) -> int:
        """The tokens kept for the reply."""
        return self.reserve or min(MAX_RESERVE, self.size // RESERVE_SHARE)

    @property
    def max_answer_characters(self) -> int:
        """The characters after which an answer is cut off; a model that respects its limit never reaches them."""
        tokens = max(self.reply_tokens, self.reply)
        return min(max(SHORT_ANSWER, tokens * MAX_CHARACTERS_PER_TOKEN), LONGEST_ANSWER) if tokens else LONG_ANSWER

    @property
    def max_prompt_tokens(self) -> int:
        """The longest prompt; 0 or less if the size is unknown."""
        return int((self.size - self.reply_tokens) * TOKEN_COUNT_SAFETY)

    @property
    def max_excerpt_tokens(self) -> int:
        """The longest text for an extraction call; 0 if the size is unknown."""
        return self.max_prompt_tokens - EXTRACTION_PROMPT_TOKENS if self.size else 0

    def check_prompt_size(self, tokens: int, model: str) -> None:
        """Raise PromptTooLong if a prompt does not leave space for the reply."""
        if self.size and tokens > self.size - self.reply_tokens:
            raise PromptTooLong(
                f"The prompt has {tokens:,} tokens, but {model} accepts {self.size:,},"
                f" of which {self.reply_tokens:,} are reserved for its reply.",
                hint="If the model accepts more, raise THREADLORE_LLM_CONTEXT_TOKENS (with Ollama also"
                " THREADLORE_OLLAMA_NUM_CTX). Otherwise choose a model with a larger context, or ask for less at once.",
            )

    def fit_question(self, question: Question) -> Question:
        """The question with token budgets reduced to the window."""
        if not self.size or question.max_total_tokens <= self.max_prompt_tokens:
            return question
        share = self.max_prompt_tokens / question.max_total_tokens
        return replace(
            question,
            max_total_tokens=self.max_prompt_tokens,
            max_entity_tokens=int(share * question.max_entity_tokens),
            max_relation_tokens=int(share * question.max_relation_tokens),
        )

    def fit_chunking(self, options: ChunkingOptions) -> ChunkingOptions:
        """The options with chunks reduced to what an extraction call takes."""
        if not self.size or options.size <= self.max_excerpt_tokens:
            return options
        size = self.max_excerpt_tokens
        overlap, target = min(options.overlap, size // OVERLAP_SHARE), min(options.target_size, size // TARGET_SHARE)
        return replace(options, size=size, overlap=overlap, target_size=target)

    def fit_summary_limits(self, limits: SummaryLimits) -> SummaryLimits:
        """The limits with calls reduced to the window."""
        if not self.size or limits.call_tokens <= self.max_prompt_tokens - SUMMARY_PROMPT_TOKENS:
            return limits
        tokens = self.max_prompt_tokens - SUMMARY_PROMPT_TOKENS
        return replace(
            limits,
            call_tokens=tokens,
            join_tokens=min(limits.join_tokens, tokens // JOIN_SHARE),
            characters_per_call=min(limits.characters_per_call, tokens * MIN_CHARACTERS_PER_TOKEN),
        )


@dataclass(frozen=True, slots=True)
class StoresPlace:
    """What a plug-in needs to know to open a graph and a vector store for an engine.

    `folder`: of the data directory, for its files; it may not exist yet. `dim`: of the vectors. `cache_bytes`: memory
    for copies of a table of vectors. `last_chunk`: the largest id of a chunk that the ledger had; stores with vectors
    of later chunks belong to other data, and have to be emptied. `is_outdated`: all vectors will be written again, and
    those that are there may have another dimension.
    """

    folder: Path
    dim: int
    cache_bytes: int
    last_chunk: int
    is_outdated: bool


StoresOpener: TypeAlias = "Callable[[StoresPlace], AbstractAsyncContextManager[Any]]"  # it yields `Stores`


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Options of an engine.

    `database`: the address of a PostgreSQL database that holds all data; "": files of the data directory hold it.
    `open_stores`: opens other stores than those of the data directory for graph and vectors; what they lack is filled
    from the ledger. `graph_backend`: the graph database otherwise. `fts_tokenizer`: the full-text tokenizer of a new
    data directory; trigram finds parts of words, from three characters on. `languages`: ISO 639-1 codes of those that
    texts and questions are in, the main one first; (): not said. `extraction_concurrency`: chunks extracted at once.
    `indexing_limits`: what models may read of a workspace. `extraction_linger`: seconds that a short closed
    conversation waits to share a call. `summary_cooldown`: seconds between two summaries of a name or pair.
    `compaction_delay`: seconds until deleted bytes are erased from the files. `disk_reserve_bytes`: of a file that
    keeps space for answers and deletions on a full disk; 0: none. `vector_cache_bytes`: memory for each of three tables
    of vectors in the mean, which are searched there if their rows fit; vectors that take more than a fourth of the
    memory of their table are rounded to integers, and cosines then differ by up to 0.005. `word_cache_bytes`: memory
    for a copy of each of two term indexes of a PostgreSQL database, by which words are ranked if it fits.
    `graph_cache_bytes`: memory for a copy of the graph in files. `prompt_tokens`: of an answer's prompt for a model,
    about, at most the question's `max_total_tokens`; 0: so many. `max_attempts`: tries before a text to which a model
    gives no valid reply is given up. `cache_answers`: replay the answer of an identical prompt. `join_duplicates`: join
    spellings of one name that are certainly the same entity; False undoes such joins. `suggest_duplicates`: compare new
    names in the background, so that `find_duplicates` need not. `spaces_without_people`: prefixes of the names of
    spaces in which people are no entities ("!" before one: but not there); None: as the data has it.
    `spaces_without_authors`: likewise, where nothing is searched by who wrote it. `replace_embedder`: accept an
    embedder other than the data directory's, and recompute all vectors; no other process may then work on the database.
    """

    database: str = field(default="", repr=False)
    open_stores: StoresOpener | None = field(default=None, repr=False)
    graph_backend: Literal["kuzu", "ladybug"] = "kuzu"
    fts_tokenizer: Literal["porter unicode61", "trigram"] = "porter unicode61"
    languages: tuple[str, ...] = ()
    chunking: ChunkingOptions = field(default_factory=ChunkingOptions)
    summary_limits: SummaryLimits = field(default_factory=SummaryLimits)
    context_window: ContextWindow = field(default_factory=ContextWindow)
    ranking: RankingOptions = field(default_factory=RankingOptions)
    extraction_concurrency: int = 8
    indexing_limits: IndexingLimits = field(default_factory=IndexingLimits)
    extraction_linger: float = 5.0
    embed_batch_size: int = 64
    projection_batch_size: int = 4096
    summary_cooldown: float = 600.0
    compaction_delay: float = 600.0
    disk_reserve_bytes: int = 0
    vector_cache_bytes: int = VECTOR_CACHE_BYTES
    word_cache_bytes: int = WORD_CACHE_BYTES
    graph_cache_bytes: int = GRAPH_CACHE_BYTES
    prompt_tokens: int = DEFAULT_PROMPT_TOKENS
    max_attempts: int = 6
    cache_answers: bool = True
    join_duplicates: bool = True
    suggest_duplicates: bool = True
    spaces_without_authors: frozenset[str] = frozenset()
    spaces_without_people: frozenset[str] | None = None
    replace_embedder: bool = False

    @property
    def max_embed_attempts(self) -> int:
        """Tries of a text whose embedding fails while other texts succeed."""
        return min(self.max_attempts, 3)
