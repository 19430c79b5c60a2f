"""Protocols of a language model, an embedder and a reranker; cache keys of their calls, and a guard for calls."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from engine.errors import InvalidReply
from engine.scheduling.supervisor import current_task, is_task_exit

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
    from datetime import date

    import numpy as np

    from engine.models import ChatTurn, Excerpt, Extraction, LLMMessage, Prompt, SearchQuery, Source, SummaryInput
    from engine.usage import UsageMeter


MODEL_LABEL = "The language model"


def hash_parts(parts: Iterable[str]) -> bytes:
    """SHA-256 of the parts, each with its length, so that no two lists of parts give the same bytes."""
    digest = sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


class LanguageModel(Protocol):
    """Extracts, rewrites, summarizes and answers. Failures raise `ModelError` and never become text."""

    @property
    def name(self) -> str:
        """Identity: models with equal names give interchangeable replies (model, settings and hash of the prompts)."""

    @property
    def summary_model(self) -> str:
        """Identity of the model that summarizes: part of the cache key of summaries."""

    @property
    def is_extractive(self) -> bool:
        """Whether answers consist of quotations, each with its [n]; other answers may reveal any of the prompt."""

    def extraction_key(self, excerpt: Excerpt) -> bytes:
        """Cache key of an extraction: hash of the full messages that `extract` would send and of the parser version."""

    async def extract(self, excerpt: Excerpt, meter: UsageMeter) -> Extraction:
        """Extract the entities and relations that one excerpt states."""

    @property
    def batch_token_limit(self) -> int:
        """Maximum tokens of excerpts of one space that share a call; 0: each excerpt gets its own call."""

    async def extract_batch(self, excerpts: Sequence[Excerpt], meter: UsageMeter) -> list[Extraction | None]:
        """Extract several excerpts in one call; None for each excerpt whose part of the reply is not reliable."""

    async def rewrite_query(
        self, text: str, history: Sequence[ChatTurn], meter: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery:
        """Rewrite a question to stand alone, with search keywords; `today` (UTC) and `asker` resolve references."""

    async def rewrite_unaddressed_query(
        self, text: str, history: Sequence[ChatTurn], meter: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery | None:
        """Rewrite as `rewrite_query` a message that does not address the bot; None if it asks the bot nothing."""

    async def summarize(self, inputs: Sequence[SummaryInput], meter: UsageMeter) -> list[str | None]:
        """Summarize each item, in order; None where that failed. Items may share a call, so they are of one space.

        Raises ModelError if all failed.
        """

    def build_answer_messages(self, prompt: Prompt) -> list[LLMMessage]:
        """The messages that `answer` would send."""

    def answer(self, prompt: Prompt, meter: UsageMeter) -> AsyncGenerator[str, None]:
        """Stream the answer in pieces, with the citations [n] of the context."""


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """A question to rewrite. `today`: the day where the asker is."""

    text: str
    history: Sequence[ChatTurn]
    today: date
    asker: str = ""


@runtime_checkable
class FilterProposer(Protocol):
    """A language model that also sees filters in a question: where, by whom and when its answer was written."""

    async def rewrite_query_with_filters(self, request: RewriteRequest, meter: UsageMeter) -> SearchQuery:
        """Rewrite as `LanguageModel.rewrite_query`, with the proposed filters."""


@dataclass(frozen=True, slots=True)
class EventRequest:
    """What somebody waits for, in words, and messages by time, of which the last may say that it happened."""

    awaited: str
    messages: Sequence[Source]


@runtime_checkable
class EventJudge(Protocol):
    """A language model that also judges whether a message says what somebody waits for."""

    async def judge_event(self, request: EventRequest, meter: UsageMeter) -> bool:
        """Whether the last message says it. Raises ModelError."""


class Embedder(Protocol):
    """Turns texts into vectors of length one."""

    @property
    def name(self) -> str:
        """Identity that is stored with the vectors."""

    @property
    def dim(self) -> int:
        """Number of dimensions."""

    @property
    def max_tokens(self) -> int:
        """Longest text that is embedded whole, in o200k_base tokens; longer texts are split."""

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        """Embed texts: float32 of shape (len(texts), dim), rows of length one."""


@runtime_checkable
class QueryEmbedder(Embedder, Protocol):
    """An embedder that embeds a question in another way than the stored texts that may answer it."""

    async def embed_queries(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        """Embed questions: float32 of shape (len(texts), dim), rows of length one."""


@runtime_checkable
class CrossLingualEmbedder(Embedder, Protocol):
    """An embedder for questions in another language than the texts, to which they are less similar."""

    @property
    def least_similarity(self) -> float:
        """The least similarity of a text that may answer a question: 0 for unrelated texts, 1 for equal ones."""


class Reranker(Protocol):
    """Scores texts against a question."""

    @property
    def name(self) -> str:
        """Identity of the reranker."""

    async def rerank(self, question: str, texts: Sequence[str], meter: UsageMeter) -> list[float | None]:
        """One score per text, in the order of the texts; None for texts without a score."""


async def embed_queries(embedder: Embedder, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
    """Embed questions; as any other text, unless the embedder is a `QueryEmbedder`."""
    if isinstance(embedder, QueryEmbedder):
        return await embedder.embed_queries(texts, meter)
    return await embedder.embed(texts, meter)


@contextmanager
def guard_plugin_call(plugin: str) -> Iterator[None]:
    """Turn a BaseException that is no Exception into InvalidReply, unless it ends this task or the program.

    A library may leak the cancellation of its own scope, and native code may panic; both are failures of one call.
    """
    task = current_task()
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        if is_task_exit(error, task):
            raise
        raise InvalidReply(f"{plugin} failed ({type(error).__name__}).") from error


async def next_answer_delta(stream: AsyncGenerator[str, None]) -> str | None:
    """The next piece of an answer, None after the last one."""
    with guard_plugin_call(MODEL_LABEL):
        return await anext(stream, None)
