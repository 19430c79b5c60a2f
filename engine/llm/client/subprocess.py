"""Models are called in a process of their own, so that what litellm computes holds nobody else up."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from engine.errors import Unavailable
from engine.llm.client import codec
from engine.llm.client.provider_process import Child

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from engine.llm.client.codec import Frame
    from engine.llm.client.protocol import Parameters, Piece, Reply, Scores, Vectors


class Apart:
    """Implements `Provider` with a `Direct` in another process: started when first needed, and again once it died."""

    def __init__(self) -> None:
        self._child: Child | None = None
        self._starting = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """The process id while one runs."""
        return self._child.pid if self._child else None

    async def ready(self) -> None:
        if self._child is None:
            child = await self._running()
            async with aclosing(child.frames("ready", {})) as frames:
                async for _ in frames:
                    pass

    async def close(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.end()

    async def chat(self, parameters: Parameters) -> Reply:
        return codec.reply(await self._one("chat", parameters))

    async def stream(self, parameters: Parameters) -> AsyncGenerator[Piece]:
        child = await self._running()
        async with aclosing(child.frames("stream", parameters)) as frames:
            async for frame in frames:
                yield codec.piece(frame)

    async def embed(self, parameters: Parameters) -> Vectors:
        return codec.vectors(await self._one("embed", parameters))

    async def rerank(self, parameters: Parameters) -> Scores:
        return codec.scores(await self._one("rerank", parameters))

    async def _one(self, what: str, parameters: Parameters) -> Frame:
        child = await self._running()
        async with aclosing(child.frames(what, parameters)) as frames:
            async for frame in frames:
                return frame
        raise Unavailable(f"The process that calls the models said nothing to {what}.")

    async def _running(self) -> Child:
        async with self._starting:
            if self._child is None or not self._child.alive:
                self._child = await Child.start()
            return self._child
