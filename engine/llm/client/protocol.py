"""Protocol of a model provider, its plain values, and their form as JSON between processes."""

from __future__ import annotations

import base64
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from engine import errors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    import numpy as np

    from engine.llm.formats.outcomes import Outcome
    from engine.usage import Purpose

SETTINGS_PREFIX = "THREADLORE_"  # prefix of settings; the tokens of chat platforms must not reach the provider process
UNFINISHED = "unfinished"  # finish reason of a stream that ended without one
CallParameters = dict[str, Any]  # parameters of a litellm call: model, messages, api_base, timeout …

Frame = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Usage of one call: tokens, and US dollars if the price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class ChatReply:
    """Whole reply of a chat call; `finish` is the provider's finish reason."""

    text: str
    finish: str
    spent: TokenUsage


@dataclass(frozen=True, slots=True)
class StreamDelta:
    """Part of a streamed reply. `thought`: the model is thinking. `spent` comes with one of the last parts.

    `finish` is the provider's finish reason, or `UNFINISHED` if there is none; the last one counts.
    """

    text: str = ""
    finish: str = ""
    spent: TokenUsage | None = None
    thought: bool = False


@dataclass(frozen=True, slots=True)
class EmbeddingResult:
    """The vectors as float32 of shape (texts, dim), in the order of the texts, as the provider returned them."""

    rows: np.ndarray
    spent: TokenUsage


@dataclass(frozen=True, slots=True)
class RerankResult:
    """Rows {index, relevance_score} as the provider returned them."""

    rows: Sequence[Mapping[str, Any]]
    spent: TokenUsage


@dataclass(frozen=True, slots=True)
class ModelTraits:
    """What is known of a model without asking it: its context window and the longest reply in tokens, 0 if unknown.

    `window_origin`: "provider", "map" (litellm's) or "". `effort`: the lowest effort of reasoning that would be sent.
    `input_price`, `output_price`: US dollars of a token, if `price_known`.
    """

    window: int = 0
    window_origin: str = ""
    output_limit: int = 0
    reasons: bool = False
    effort: str = ""
    price_known: bool = False
    input_price: float = 0.0
    output_price: float = 0.0


def _ignore(*_observed: object) -> None:
    """Observe nothing."""


@dataclass(frozen=True, slots=True)
class CallObservers:
    """Who is told of calls.

    `call` receives the purpose and the seconds of each finished call, without its wait for a slot; `outcome` the
    purpose of a reply and what it gave, from those who judge it.
    """

    call: Callable[[Purpose, float], None] = _ignore
    outcome: Callable[[Purpose, Outcome], None] = _ignore


UNOBSERVED = CallObservers()


class Provider(Protocol):
    """Calls models, once and without a timeout of its own. All methods raise ModelError."""

    async def preload(self) -> None:
        """Load what would delay the first call."""

    async def close(self) -> None:
        """Release open resources; the provider can be used again afterwards."""

    async def chat(self, parameters: CallParameters) -> ChatReply:
        """A whole reply."""

    def stream(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
        """Stream a reply; closing the stream ends the call."""

    async def embed(self, parameters: CallParameters) -> EmbeddingResult:
        """Vectors of the texts in `input`."""

    async def rerank(self, parameters: CallParameters) -> RerankResult:
        """Relevance of `documents` for the `query`."""


@runtime_checkable
class DescribingProvider(Protocol):
    """A provider that also says what is known of a model without a call of it."""

    async def describe(self, parameters: CallParameters) -> ModelTraits:
        """What is known of a model; what its provider does not tell is left open."""


def encode_result(value: ChatReply | StreamDelta | EmbeddingResult | RerankResult | ModelTraits) -> Frame:
    """Encode the result of a call."""
    if isinstance(value, EmbeddingResult):
        import numpy as np  # noqa: PLC0415 - 16 MiB of memory, which a process without embeddings does without

        rows = np.ascontiguousarray(value.rows, dtype="<f4")
        encoded = base64.b64encode(rows.tobytes()).decode()
        return {"rows": encoded, "shape": rows.shape, "spent": asdict(value.spent)}
    if isinstance(value, RerankResult):
        rows_of_scores = [{key: row.get(key) for key in ("index", "relevance_score")} for row in value.rows]
        return {"rows": rows_of_scores, "spent": asdict(value.spent)}
    return asdict(value)


def decode_reply(frame: Frame) -> ChatReply:
    """Decode a whole reply."""
    return ChatReply(frame["text"], frame["finish"], TokenUsage(**frame["spent"]))


def decode_delta(frame: Frame) -> StreamDelta:
    """Decode a part of a reply."""
    spent = frame["spent"]
    return StreamDelta(frame["text"], frame["finish"], TokenUsage(**spent) if spent else None, frame["thought"])


def decode_vectors(frame: Frame) -> EmbeddingResult:
    """Read the vectors of an embedder from the bytes of a frame."""
    import numpy as np  # noqa: PLC0415 - see above

    rows = np.frombuffer(base64.b64decode(frame["rows"]), dtype="<f4").reshape(frame["shape"])
    return EmbeddingResult(rows, TokenUsage(**frame["spent"]))


def decode_scores(frame: Frame) -> RerankResult:
    """Read the scores of a reranker from a frame: one row for each question."""
    return RerankResult(frame["rows"], TokenUsage(**frame["spent"]))


def encode_error(error: errors.ModelError) -> Frame:
    """Encode the error of a failed call."""
    return {"error": type(error).__name__, "message": str(error), "details": error.details}


def decode_error(frame: Frame) -> errors.ModelError:
    """Decode an error to its own class."""
    kind: type[errors.ModelError] = getattr(errors, frame["error"])
    return kind(frame["message"], **frame["details"])
