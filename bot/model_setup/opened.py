"""The models of an engine, opened."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.text.speech.kinds.passing import read_passing
from bot.text.speech.kinds.weights import read_weights
from engine import UsageMeter
from engine.errors import EngineError

if TYPE_CHECKING:
    from engine import Embedder, LanguageModel, ModelClient, ModelConfig, Reranker


@dataclass(frozen=True, slots=True)
class EngineModels:
    """The models of an engine. `calls`: the client that they share, if any calls a provider. `vision`: for pictures."""

    language: LanguageModel
    embedder: Embedder
    reranker: Reranker | None = None
    calls: ModelClient | None = None
    vision: ModelConfig | None = None

    async def warm_up(self) -> None:
        """Preload what tells messages apart, and the embedder, for short and for long texts.

        Errors of the embedder are ignored; later calls report them.
        The process that calls a language model starts with the first call.
        """
        await asyncio.to_thread(read_weights)
        await asyncio.to_thread(read_passing)
        with suppress(EngineError):
            await self.embedder.embed(["warm", "a text that is as long as a question"], UsageMeter())
