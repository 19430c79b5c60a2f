"""The seams to language: what the engine wants from a model, an embedder and a reranker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from datetime import date

    import numpy as np

    from engine.models import ChatTurn, Excerpt, Extraction, LLMMessage, Prompt, SearchQuery, SummaryInput
    from engine.usage import UsageMeter


class LanguageModel(Protocol):
    """Reads, rewrites, summarises and answers. Failures are raised as `ModelError`, never turned into text."""

    @property
    def name(self) -> str:
        """The identity: equal names give interchangeable replies (models, settings and the hash of the prompts)."""

    @property
    def summary_model(self) -> str:
        """The identity of what summarises: part of the key of remembered summaries."""

    @property
    def is_extractive(self) -> bool:
        """Whether its answers consist of quotations, each with its [n]; else they may tell anything of a prompt."""

    def extraction_key(self, excerpt: Excerpt) -> bytes:
        """The hash of the complete messages that `extract` would send, and of the reader: the key of its memo."""

    async def extract(self, excerpt: Excerpt, bill: UsageMeter) -> Extraction:
        """The names and links that one excerpt states."""

    @property
    def batch_token_limit(self) -> int:
        """How many tokens of excerpts of one space may share a call; 0: each excerpt is read alone."""

    async def extract_batch(self, excerpts: Sequence[Excerpt], bill: UsageMeter) -> list[Extraction | None]:
        """What each excerpt states, read in one call; None for those of which the reply cannot be trusted."""

    async def rewrite_query(
        self, text: str, history: Sequence[ChatTurn], bill: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery:
        """The question rewritten to stand alone, and its keywords; `today` in UTC and who asks help to resolve it."""

    async def rewrite_unaddressed_query(
        self, text: str, history: Sequence[ChatTurn], bill: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery | None:
        """The same for what was said without addressing the program; None if it is no question to it."""

    async def summarize(self, wanted: Sequence[SummaryInput], bill: UsageMeter) -> list[str | None]:
        """One text of each, in order; None where none was given. They may share a call, so they are of one space.

        Raises ModelError if not one was given.
        """

    def build_answer_messages(self, prompt: Prompt) -> list[LLMMessage]:
        """What the model would be sent for an answer."""

    def answer(self, prompt: Prompt, bill: UsageMeter) -> AsyncGenerator[str, None]:
        """The answer, in pieces, with [n] as given in the context."""


class Embedder(Protocol):
    """Turns texts into vectors of length one."""

    @property
    def name(self) -> str:
        """The identity that is stored with the vectors."""

    @property
    def dim(self) -> int:
        """The number of dimensions."""

    @property
    def max_tokens(self) -> int:
        """The longest text it takes whole, in o200k_base tokens; longer texts are given in parts."""

    async def embed(self, texts: Sequence[str], bill: UsageMeter) -> np.ndarray:
        """float32 of shape (len(texts), dim), rows of length one."""


class Reranker(Protocol):
    """Scores texts against a question."""

    @property
    def name(self) -> str:
        """The identity."""

    async def rerank(self, question: str, texts: Sequence[str], bill: UsageMeter) -> list[float | None]:
        """One score a text, in the order of the texts; None where none was given."""
