"""What a provider of models does for us, in plain values: they can go from one process to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    import numpy as np

SETTINGS_PREFIX = (
    "THREADLORE_"  # what settings are called; the tokens of chat platforms are no business of who calls models
)
UNFINISHED = "unfinished"  # the reason of a stream that ended without one
CallParameters = dict[str, Any]  # of a call as litellm takes them: model, messages, api_base, timeout …


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """What one call took: tokens, and US dollars where the price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The whole reply of a chat call; `finish` is the provider's reason for its end."""

    text: str
    finish: str
    spent: TokenUsage


@dataclass(frozen=True, slots=True)
class StreamDelta:
    """A part of a streamed reply. `thought`: the model thinks, a sign of life. `spent` comes with one of the last.

    `finish` is the provider's reason for the end, or `UNFINISHED` where none was given; the last one counts.
    """

    text: str = ""
    finish: str = ""
    spent: TokenUsage | None = None
    thought: bool = False


@dataclass(frozen=True, slots=True)
class EmbeddingResult:
    """float32 of shape (texts, dim), in the order of the texts, as the provider gave them."""

    rows: np.ndarray
    spent: TokenUsage


@dataclass(frozen=True, slots=True)
class RerankResult:
    """Rows {index, relevance_score} as the provider gave them."""

    rows: Sequence[Mapping[str, Any]]
    spent: TokenUsage


class Provider(Protocol):
    """Calls models, once and without a time limit of its own. Everything raises ModelError."""

    async def preload(self) -> None:
        """Load what the first call would wait for."""

    async def close(self) -> None:
        """Give back what is held open; it may be used again afterwards."""

    async def chat(self, parameters: CallParameters) -> ChatReply:
        """A whole reply."""

    def stream(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
        """A reply in pieces; closing it ends the call."""

    async def embed(self, parameters: CallParameters) -> EmbeddingResult:
        """Vectors of the texts in `input`."""

    async def rerank(self, parameters: CallParameters) -> RerankResult:
        """How well `documents` fit the `query`."""
