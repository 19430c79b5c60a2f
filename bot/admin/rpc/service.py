"""Whoever works on requests: this process over its own engine, or another one over its local socket."""

from __future__ import annotations

import asyncio
import importlib
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from bot.admin.rpc import socket
from engine.errors import FolderInUse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from bot.admin.requests import Request
    from bot.admin.results import Event
    from bot.engine_context import Desk
    from bot.settings import Settings
    from engine.models import Document

PATIENCE = 10.0  # seconds that another program may take between holding the folder and answering
PAUSE = 0.1


class Service(Protocol):
    """Works on requests."""

    def perform(self, request: Request) -> AsyncGenerator[Event]:
        """What happens while the request is worked on; leaving early ends the work. Raises EngineError."""


@dataclass(frozen=True, slots=True)
class Local:
    """Our own process."""

    desk: Desk

    def perform(self, request: Request) -> AsyncGenerator[Event]:
        """What happens at our own desk."""
        from bot.admin.operations import work_on  # noqa: PLC0415  - loads what a command beside a running program spares

        return work_on(self.desk, request)


@dataclass(frozen=True, slots=True)
class Awaited:
    """A service that is opened when the first request comes; requests wait for it."""

    coming: asyncio.Future[Service]
    wanted: asyncio.Event

    async def perform(self, request: Request) -> AsyncGenerator[Event]:
        """What happens, once it can. Raises what kept the service from opening."""
        self.wanted.set()
        service = await asyncio.shield(self.coming)
        async with aclosing(service.perform(request)) as events:
            async for event in events:
                yield event


@asynccontextmanager
async def reach(settings: Settings, *, replace_embedder: bool = False) -> AsyncIterator[Service]:
    """The program that holds the data folder, or this one, which then answers to others as long as it runs.

    Raises FolderInUse if another program holds the folder and does not answer.
    """
    async with AsyncExitStack() as stack:
        remote = await socket.connected(settings.root)
        yield remote or await _own(settings, stack, replace_embedder=replace_embedder)


@asynccontextmanager
async def reach_meanwhile(settings: Settings) -> AsyncIterator[Service]:
    """As `reach`, but at once: what takes time begins beside, with the first request, and requests wait for it."""
    awaited, leaving = Awaited(asyncio.get_running_loop().create_future(), asyncio.Event()), asyncio.Event()
    holding = asyncio.create_task(_hold(settings, awaited, leaving))
    try:
        yield awaited
    finally:
        leaving.set()
        awaited.wanted.set()
        await holding


async def _hold(settings: Settings, awaited: Awaited, leaving: asyncio.Event) -> None:
    coming = awaited.coming
    await awaited.wanted.wait()
    if leaving.is_set():
        return
    try:
        async with reach(settings) as service:
            coming.set_result(service)
            await leaving.wait()
    except Exception as error:
        if coming.done():
            raise
        coming.set_exception(error)
        coming.exception()  # told to whoever asks; if nobody does, nothing was lost


async def _own(settings: Settings, stack: AsyncExitStack, *, replace_embedder: bool) -> Service:
    composition: Any = await asyncio.to_thread(importlib.import_module, "bot.bootstrap")
    able = await stack.enter_async_context(composition.skills(settings))
    until = asyncio.get_running_loop().time() + PATIENCE
    while True:
        opened = composition.desk(settings, able, replace_embedder=replace_embedder)
        try:
            desk = await stack.enter_async_context(opened)
        except FolderInUse:
            # Another program may just be starting (its socket is not there yet) or just be ending.
            if remote := await socket.connected(settings.root):
                return remote
            if asyncio.get_running_loop().time() > until:
                raise
            await asyncio.sleep(PAUSE)
        else:
            kept = replace(desk, forget=partial(_forget, desk, settings), replace=partial(_replace, desk, settings))
            local = Local(kept)
            await stack.enter_async_context(socket.served(settings.root, local.perform))
            return local


async def _replace(desk: Desk, settings: Settings, document: Document) -> bool:
    forgetting: Any = await asyncio.to_thread(importlib.import_module, "bot.admin.offline_forget")
    return bool(await forgetting.replace(desk, settings, document))


async def _forget(desk: Desk, settings: Settings, document: str) -> bool:
    forgetting: Any = await asyncio.to_thread(
        importlib.import_module, "bot.admin.offline_forget"
    )  # other commands spare it
    return bool(await forgetting.forget(desk, settings, document))
