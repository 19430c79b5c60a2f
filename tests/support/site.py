"""The page over a small engine, served on a port of loopback, for a browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from adapters.web.app import build_app
from adapters.web.pages.session import PageOptions
from adapters.web.protocol import Server, bind
from bot.capabilities.access.control import AccessControl
from bot.rpc.service import LocalService
from bot.store import BotStore, Permission, Subject
from engine.clock import SYSTEM_CLOCK
from engine.models import Document, Passage, Prompt
from engine.scheduling.supervisor import child_task
from engine.usage import UsageMeter
from tests.support import echo_language
from tests.support.patience import PATIENCE
from tests.support.services import build_deps

HERE, VAULT = "console:local", "slack:T1:VAULT"
SECRET = "zircon"
LINK, CREW_LINK = "https://t.example/note", "https://t.example/crew"
OWNED = "document.title = 'owned'"
HOSTILE = (
    f'The mill Barbel grinds at night. <script>{OWNED}</script> <img src=x onerror="{OWNED}"> '
    f"[here](javascript:{OWNED}) ![x](https://evil.example/p.png) https://evil.example/x"
)
ALL_PERMISSIONS: tuple[Permission, ...] = ("ask", "read", "write", "manage")


class StagedLanguage(echo_language.EchoLanguage):
    """Says the first words of each answer, and the rest of it once `released` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.released = asyncio.Event()
        self.released.set()
        self.is_closed = asyncio.Event()

    async def answer(self, prompt: Prompt, meter: UsageMeter) -> AsyncGenerator[str, None]:
        yield "Indeed, that is known. It says:\n\n"
        try:
            await self.released.wait()
        finally:
            self.is_closed.set()
        async for piece in super().answer(prompt, meter):
            yield piece


@dataclass
class Site:
    """A running server, and what tests change about it."""

    url: str
    app: FastAPI
    language: StagedLanguage
    access: AccessControl

    async def create_token(self, space: str, *permissions: Permission) -> str:
        subject, granted = Subject(space=space), permissions or ALL_PERMISSIONS
        return (await self.access.create_token("Ada", subject, granted, 10_000, None))[1]


@asynccontextmanager
async def open_site(home: Path) -> AsyncIterator[Site]:
    """Serve a note, a hostile file, and a secret in another space. Each question is answered anew: tests share it."""
    language = StagedLanguage()
    async with (
        BotStore.open(home / "bot.db", SYSTEM_CLOCK) as store,
        echo_language.open_engine_context(home / "home", language, cache_answers=False) as engine_context,
    ):
        for document in _build_documents():
            await engine_context.engine.documents.add(document)
        await engine_context.engine.wait_until_indexed()
        access = AccessControl(store, SYSTEM_CLOCK)
        service = LocalService(build_deps(engine_context, store, access))
        app = build_app(service, service.clock, PageOptions(HERE, "always"))
        async with open_server(app) as url:
            yield Site(url, app, language, access)


@asynccontextmanager
async def open_server(app: FastAPI) -> AsyncIterator[str]:
    """Serve an application on a free port of loopback; gives its address."""
    server = Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", ws="none"))
    with bind("127.0.0.1", 0) as bound:
        async with child_task(server.serve(sockets=[bound]), "site") as serving:
            yield f"http://localhost:{bound.getsockname()[1]}"
            server.should_exit = server.force_exit = True
            async with asyncio.timeout(PATIENCE):
                await serving


def _build_documents() -> list[Document]:
    note = Passage("1", "The ferry Gudgeon leaves at **noon**. Mina sells the tickets.", link=LINK, author="Mina")
    hostile = Passage("1", HOSTILE, author=f"<b onclick={OWNED}>Eve")
    crew = Passage("1", "Otto met Perla. Perla knows Quentin. Quentin owns Rosalba.", link=CREW_LINK, author="Mina")
    secret = Passage("1", f"The password of the vault Pike is {SECRET}.")
    return [
        Document("note", HERE, f"{HERE}:harbor", "Harbor", (note,)),
        Document("mill", HERE, f"{HERE}:mill", f'"><img src=x onerror="{OWNED}">', (hostile,)),
        Document("crew", HERE, f"{HERE}:harbor", "Crew", (crew,)),
        Document("vault", VAULT, f"{VAULT}:vault", "Vault", (secret,)),
    ]
