"""Options of an engine: every tunable number, with a default that suits one machine, in frozen records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from engine.errors import PromptTooLong
from engine.text.windows import (
    DEFAULT_OVERLAP_TOKENS,
    DEFAULT_WINDOW_TOKENS,
    MAX_CHARACTERS_PER_TOKEN,
    MIN_CHARACTERS_PER_TOKEN,
    check_window,
)

if TYPE_CHECKING:
    from engine.models import Question

MIN_CONTEXT_TOKENS = 2048  # a model with less cannot be given what extraction asks for
TOKEN_COUNT_SAFETY = 0.9  # models count in tokens of their own; of most texts these are a few more
MAX_RESERVE = 2000
RESERVE_SHARE = 4
EXTRACTION_PROMPT_TOKENS, SUMMARY_PROMPT_TOKENS = 900, 300  # instructions that stand beside the text
OVERLAP_SHARE, SOFT_SHARE, JOIN_SHARE = 12, 2, 4  # of a chunk, and of a summary call
SHORT_ANSWER, LONG_ANSWER, LONGEST_ANSWER = 1_000, 16_000, 100_000  # characters


@dataclass(frozen=True, slots=True)
class ChunkingOptions:
    """How chunks are made. All but `modulo` are in tokens.

    A passage longer than `size` is cut into windows that share `overlap`. Once packed passages reach `soft`, the chunk
    ends after the first whose hash is 0 modulo `modulo`; if `size` comes earlier, after the one with the smallest hash.
    At a `separator` a chunk always ends; with `only`, no passage is cut anywhere else.
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
            raise ValueError(f"modulo must be at least 1, not {self.hash_modulo}")


@dataclass(frozen=True, slots=True)
class SummaryLimits:
    """Where joining ends and what one call takes; tokens are o200k_base.

    Summaries of several keys of a space share a call: `together` of them, of `together_letters` letters in all.
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
        """As many newest fragments as can matter to a description."""
        return self.group_size * self.max_groups


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """How search results are ranked: every number that decides which of them a context shows, and in which order.

    `engine/retrieval/ranking.py` uses them. `chunk_selection`: how chunks of the graph are ranked, by a random walk
    from the facts most similar to the question ("walk"), or as LightRAG does it, by similarity ("vector") or by how
    many entities and relations they support ("weight").
    """

    # Chunks: vector search and full-text search, fused by the sum of weight / (damping + rank).
    vector_weight: float = 1.0
    fulltext_weight: float = 0.7
    fulltext_overfetch: int = 2  # full-text hits fetched per chunk wanted; deep ones count if both searches have them
    # Not the 60 of the paper, whose rankings had a thousand entries: with lists of twenty, even the first hit of the
    # lighter search alone would be lost. Measured by tests/bench/quality.py.
    rrf_damping: int = 20

    # Entities: exact names first, then vector search and full-text search, fused.
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
    graph_token_share: float = 0.5  # of the tokens that the prompt leaves, for entities and relations

    # Chunks that state the entities and relations.
    chunk_selection: Literal["walk", "vector", "weight"] = "walk"
    max_evidence_chunks: int = 12  # newest chunks considered per entity and relation
    max_vector_candidates: int = 240  # chunks whose vectors are compared with the question
    chunks_per_item: int = 5  # chunks chosen per entity or relation by "vector" and "weight"

    # The random walk (personalized PageRank).
    max_seed_facts: int = 5  # relations, those most similar to the question, at whose ends walks start
    chunk_seed_weight: float = 0.05  # of the most similar chunk as a start; a fact's is its similarity
    restart_probability: float = 0.5  # of each step to go back to a start
    pagerank_iterations: int = 20  # the remainder is below 0.5 ** 20, a millionth

    # Texts and the reranker.
    text_overfetch: int = 2  # texts loaded, and reranked, per chunk shown: some are duplicates or filtered out
    min_rerank_score: float = 0.0  # chunks with a lower score are left out, if positive


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """How much a chat model takes at once, in o200k_base tokens.

    `size`: tokens of a prompt and its reply together, 0 if not known; `reserve`: those kept for the reply.

    With a reserve of 0 it is a fourth of the size, 2,000 at most. Budgets are left as they are if nothing is known.
    `reply`: the longest reply that the model is asked for, 0 for its own choice.
    """

    size: int = 0
    reserve: int = 0
    reply: int = 0

    def __post_init__(self) -> None:
        if self.size and self.max_prompt_tokens < EXTRACTION_PROMPT_TOKENS + SUMMARY_PROMPT_TOKENS:
            raise ValueError(f"{self.size:,} tokens are too few for a prompt and {self.reply_tokens:,} tokens of reply")

    @property
    def reply_tokens(self) -> int:
        """The tokens that are kept for the reply."""
        return self.reserve or min(MAX_RESERVE, self.size // RESERVE_SHARE)

    @property
    def answer(self) -> int:
        """The characters after which an answer is stopped: more than a model writes that keeps to its limit."""
        tokens = max(self.reply_tokens, self.reply)
        return min(max(SHORT_ANSWER, tokens * MAX_CHARACTERS_PER_TOKEN), LONGEST_ANSWER) if tokens else LONG_ANSWER

    @property
    def max_prompt_tokens(self) -> int:
        """The longest prompt, 0 if that is not known."""
        return int((self.size - self.reply_tokens) * TOKEN_COUNT_SAFETY)

    @property
    def max_excerpt_tokens(self) -> int:
        """The longest text that an extraction call has room for, 0 if that is not known."""
        return self.max_prompt_tokens - EXTRACTION_PROMPT_TOKENS if self.size else 0

    def check_prompt_size(self, tokens: int, model: str) -> None:
        """Raise PromptTooLong for a prompt that the model has no room for."""
        if self.size and tokens > self.size - self.reply_tokens:
            raise PromptTooLong(
                f"The prompt has {tokens:,} tokens, and {model} takes {self.size:,},"
                f" of which {self.reply_tokens:,} are kept for its reply.",
                hint="If the model accepts more, raise THREADLORE_LLM_CONTEXT_TOKENS (with Ollama also"
                " THREADLORE_OLLAMA_NUM_CTX). Otherwise choose a model with a larger context, or ask for less at once.",
            )

    def fit_question(self, question: Question) -> Question:
        """The question with budgets that fit."""
        if not self.size or question.max_total_tokens <= self.max_prompt_tokens:
            return question
        share = self.max_prompt_tokens / question.max_total_tokens
        return replace(
            question,
            max_total_tokens=self.max_prompt_tokens,
            max_entity_tokens=int(share * question.max_entity_tokens),
            max_relation_tokens=int(share * question.max_relation_tokens),
        )

    def fit_chunking(self, packing: ChunkingOptions) -> ChunkingOptions:
        """Chunks that an extraction call has room for."""
        if not self.size or packing.size <= self.max_excerpt_tokens:
            return packing
        size = self.max_excerpt_tokens
        overlap, soft = min(packing.overlap, size // OVERLAP_SHARE), min(packing.target_size, size // SOFT_SHARE)
        return replace(packing, size=size, overlap=overlap, target_size=soft)

    def fit_summary_limits(self, limits: SummaryLimits) -> SummaryLimits:
        """Summaries whose calls fit."""
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
class EngineOptions:
    """Settings of an engine.

    `graph`: the module behind the graph. `words`: the full-text tokenizer of a new folder; trigram suits scripts
    without spaces. `window`: of the chat model. `readers`: chunks read at once. `linger`: seconds that
    small closed conversations wait for others to share a call. `quiet`: seconds in which a hot key is summarised once.
    `compact_after`: seconds until forgotten bytes leave the files by themselves. `attempts`: tries of a chunk before
    it is given up. `replace_embedder`: accept another embedder than the folder's, and make all vectors anew.
    """

    graph_backend: Literal["kuzu", "ladybug"] = "kuzu"
    fts_tokenizer: Literal["porter unicode61", "trigram"] = "porter unicode61"
    chunking: ChunkingOptions = field(default_factory=ChunkingOptions)
    summary_limits: SummaryLimits = field(default_factory=SummaryLimits)
    context_window: ContextWindow = field(default_factory=ContextWindow)
    ranking: RankingOptions = field(default_factory=RankingOptions)
    extraction_concurrency: int = 8
    extraction_linger: float = 5.0
    embed_batch_size: int = 64
    projection_batch_size: int = 4096
    summary_cooldown: float = 600.0
    compaction_delay: float = 600.0
    max_attempts: int = 6
    cache_answers: bool = True
    replace_embedder: bool = False

    @property
    def max_embed_attempts(self) -> int:
        """Tries of a text that cannot be embedded although others can."""
        return min(self.max_attempts, 3)
