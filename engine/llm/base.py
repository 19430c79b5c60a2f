"""Protocols of a language model, an embedder and a reranker; guards of their calls, and checks of their vectors."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from engine.errors import PROVIDER_ERRORS, EngineError, InvalidReply, ModelRefused, PromptTooLong
from engine.scheduling.foreground import foreground_calls
from engine.scheduling.supervisor import current_task, is_task_exit
from engine.text.similarity import SimilarityScale, unit_vectors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
    from datetime import date

    from engine.models import ChatTurn, Excerpt, Extraction, LLMMessage, Prompt, SearchQuery, Source, SummaryInput
    from engine.usage import UsageMeter


MODEL_LABEL = "The language model"
ZEROS_HINT = "Check that THREADLORE_EMBEDDING_MODEL is a model for embeddings, and that its server has loaded it."
PROBE_TEXT = "Hello."  # a text that every embedder accepts
# Texts about nothing in common: what two of them have in common, any two texts have. Those in other languages are
# compared with the English ones only: in a language that an embedder was not trained on, all texts are alike to it.
UNRELATED_TEXTS = (
    "Whisk two eggs with flour and milk.",
    "The train to the airport leaves at noon.",
    "Our database lost its index last night.",
    "She plays the violin in an orchestra.",
    "The mountain path is closed because of snow.",
    "Interest rates fell by half a percent.",
    "Penguins feed their young in turns.",
    "Please sign the form on page three.",
)
OTHER_UNRELATED_TEXTS = (
    "Die Heizung im Keller tropft seit gestern.",
    "Mein Bruder sammelt alte Briefmarken.",
    "El gato duerme sobre el teclado.",
    "La cosecha de aceitunas empieza en noviembre.",
    "Le boulanger ferme sa boutique en août.",
    "Ce roman raconte la vie d'un marin.",
    "O dentista atende só à tarde.",
    "A ponte velha será pintada de azul.",
    "庭の桜が満開になりました。",
    "彼は数学の試験に合格した。",
    "医生建议他每天散步。",
    "这家公司的总部在海边。",
    "Дети лепят снеговика во дворе.",
    "Билеты в театр уже проданы.",
)
# Errors whose class says what is at fault. After any other error, the text is at fault if the probe text succeeds.
REFUSALS = (ModelRefused, PromptTooLong)


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


def embedder_identity(embedder: Embedder) -> str:
    """Identity of the vectors: name and number of dimensions of the embedder."""
    return f"{embedder.name} ({embedder.dim} dimensions)"


def wrap_embedder(embedder: Embedder) -> CheckedEmbedder:
    """Add the checks to an embedder, unless it has them."""
    return embedder if isinstance(embedder, CheckedEmbedder) else CheckedEmbedder(embedder)


@dataclass(frozen=True, slots=True)
class CheckedEmbedder:
    """Implements `QueryEmbedder`: for each text `dim` finite numbers, not all zero, or a ModelError with a reason."""

    embedder: Embedder
    _scales: list[SimilarityScale] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def dim(self) -> int:
        return self.embedder.dim

    @property
    def max_tokens(self) -> int:
        return self.embedder.max_tokens

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        return await self._check(lambda: self.embedder.embed(texts, meter), len(texts))

    async def embed_queries(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        return await self._check(lambda: embed_queries(self.embedder, texts, meter), len(texts))

    @property
    def has_scale(self) -> bool:
        """Whether its scale was measured."""
        return bool(self._scales)

    def recall_scale(self, scale: SimilarityScale) -> None:
        """Use a scale that was measured before."""
        self._scales[:] = [scale]

    async def measure_scale(self, meter: UsageMeter) -> SimilarityScale:
        """The scale of its cosines: how similar questions are to unrelated texts. Measured once."""
        if not self._scales:
            texts = unit_vectors(await self.embed([*UNRELATED_TEXTS, *OTHER_UNRELATED_TEXTS], meter))
            queries = texts[: len(UNRELATED_TEXTS)]
            if isinstance(self.embedder, QueryEmbedder):
                queries = unit_vectors(await self.embed_queries(UNRELATED_TEXTS, meter))
            cosines = queries @ texts.T
            pairs = cosines[np.eye(*cosines.shape) == 0]
            self._scales[:] = [SimilarityScale(max(0.0, float(pairs.mean())))]
        return self._scales[0]

    async def measure_similarities(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        """The similarity of each two texts, shape (n, n): 1 for equal ones, about 0 for unrelated ones."""
        units = unit_vectors(await self.embed(texts, meter))
        return (await self.measure_scale(meter)).similarities(units @ units.T)

    async def is_text_at_fault(self, error: EngineError, meter: UsageMeter) -> bool:
        """Whether the text caused the error: its class says so, or a probe text still embeds."""
        if isinstance(error, REFUSALS + PROVIDER_ERRORS):
            return isinstance(error, REFUSALS)
        try:
            with foreground_calls():  # a failing provider is tested at once
                await self.embed([PROBE_TEXT], meter)
        except EngineError:
            return False
        return True

    async def _check(self, embed: Callable[[], Awaitable[np.ndarray]], count: int) -> np.ndarray:
        if not count:
            return np.empty((0, self.dim), np.float32)
        try:
            with guard_plugin_call(f"The embedder {self.name}"):
                return self._validate_vectors(await embed(), count)
        except EngineError:
            raise
        except Exception as error:  # plug-ins may raise any exception
            raise InvalidReply(f"The embedder {self.name} failed ({type(error).__name__}).") from error

    def _validate_vectors(self, result: np.ndarray, count: int) -> np.ndarray:
        with np.errstate(over="ignore"):
            vectors = np.asarray(result, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != count:
            received = len(vectors) if vectors.ndim else 0
            raise InvalidReply(f"The embedder {self.name} returned {received} vectors for {count} texts.")
        if vectors.shape[1] != self.dim:
            raise InvalidReply(f"The embedder {self.name} returned {vectors.shape[1]} dimensions, not {self.dim}.")
        if not np.isfinite(vectors).all():
            raise InvalidReply(f"The embedder {self.name} returned a vector that is not finite.")
        if not vectors.any(axis=1).all():
            raise InvalidReply(
                f"The embedder {self.name} returned a vector of zeros, which is similar to nothing.", hint=ZEROS_HINT
            )
        return vectors
