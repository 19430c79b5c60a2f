"""Call models in a separate process, so that litellm's computations do not block the event loop."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from engine.errors import ModelUnavailable
from engine.llm.client import codec
from engine.llm.client.provider_process import ProviderProcess

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from engine.llm.client.codec import Frame
    from engine.llm.client.protocol import CallParameters, ChatReply, EmbeddingResult, RerankResult, StreamDelta


class SubprocessProvider:
    """Implements `Provider` with a `LiteLLMProvider` in another process, started on first use and after a crash."""

    def __init__(self) -> None:
        self._process: ProviderProcess | None = None
        self._start_lock = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """Process id while one runs."""
        return self._process.pid if self._process else None

    async def preload(self) -> None:
        if self._process is None:
            child = await self._ensure_process()
            async with aclosing(child.stream_request("ready", {})) as frames:
                async for _ in frames:
                    pass

    async def close(self) -> None:
        child, self._process = self._process, None
        if child is not None:
            await child.stop()

    async def chat(self, parameters: CallParameters) -> ChatReply:
        return codec.decode_reply(await self._request_one("chat", parameters))

    async def stream(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
        child = await self._ensure_process()
        async with aclosing(child.stream_request("stream", parameters)) as frames:
            async for frame in frames:
                yield codec.decode_delta(frame)

    async def embed(self, parameters: CallParameters) -> EmbeddingResult:
        return codec.decode_vectors(await self._request_one("embed", parameters))

    async def rerank(self, parameters: CallParameters) -> RerankResult:
        return codec.decode_scores(await self._request_one("rerank", parameters))

    async def _request_one(self, what: str, parameters: CallParameters) -> Frame:
        child = await self._ensure_process()
        async with aclosing(child.stream_request(what, parameters)) as frames:
            async for frame in frames:
                return frame
        raise ModelUnavailable(f"The process that calls the models returned nothing for {what}.")

    async def _ensure_process(self) -> ProviderProcess:
        async with self._start_lock:
            if self._process is None or not self._process.is_alive:
                self._process = await ProviderProcess.start()
            return self._process
