"""Check the vectors of an embedder before they are stored or searched with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import PROVIDER_ERRORS, EngineError, InvalidReply, ModelRefused, PromptTooLong
from engine.llm.base import CrossLingualEmbedder, QueryEmbedder, embed_queries, guard_plugin_call
from engine.scheduling.foreground import foreground_calls
from engine.text.similarity import SimilarityScale, unit_vectors
from engine.text.word_lists import word_set

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from engine.llm.base import Embedder
    from engine.usage import UsageMeter


ZEROS_HINT = "Check that THREADLORE_EMBEDDING_MODEL is a model for embeddings, and that its server has loaded it."
PROBE_TEXT = "Hello."  # a text that every embedder accepts
# Texts about nothing in common: what two of them have in common, any two texts have. Those in other languages are
# compared with the English ones only: in a language that an embedder was not trained on, all texts are alike to it.
LEAST_SIMILARITY = 0.17  # of what is found; texts that do not answer are above it, too
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
# Single words, which some embedders find much more alike than texts.
UNRELATED_WORDS = sorted(
    word_set(
        """
        violin penguin invoice border snow heizung briefmarke löwe gipfel kragen teclado aceituna puente abuela lluvia
        boulanger marin genou orage facture dentista telhado cebola rapaz azul
        """
    )
)
# Errors whose class says what is at fault. After any other error, the text is at fault if the probe text succeeds.
REFUSALS = (ModelRefused, PromptTooLong)


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
    _word_scales: list[SimilarityScale] = field(default_factory=list)

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
    def least_similarity(self) -> float:
        """The least similarity of what is found, unless a question has its own."""
        return self.embedder.least_similarity if isinstance(self.embedder, CrossLingualEmbedder) else LEAST_SIMILARITY

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

    async def embed_words(self, words: Sequence[str], meter: UsageMeter) -> tuple[np.ndarray, SimilarityScale]:
        """The vectors of words, and the scale of its cosines of single words, which is measured by the first call."""
        unrelated = [] if self._word_scales else UNRELATED_WORDS
        vectors = unit_vectors(await self.embed([*words, *unrelated], meter))
        if unrelated:
            cosines = vectors[len(words) :] @ vectors[len(words) :].T
            pairs = cosines[np.eye(*cosines.shape) == 0]
            self._word_scales[:] = [SimilarityScale(max(0.0, float(pairs.mean())))]
        return vectors[: len(words)], self._word_scales[0]

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
