"""The API over a small engine: Ada's token reads a note, and not the secret beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import httpx
import pytest
from fastapi import FastAPI

from adapters.web.app import build_app
from bot.capabilities.access.control import AccessControl
from bot.permissions.audience import ResolvedScope
from bot.rpc.service import LocalService
from bot.store import BotStore, Permission, Subject
from engine import Engine
from engine.clock import SYSTEM_CLOCK
from engine.models import Document, Passage
from tests.support import echo_language
from tests.support.services import build_deps

HERE, VAULT = "console:local", "slack:T1:VAULT"
NOTE = "The ferry Gudgeon leaves at noon. Mina sells the tickets."
SECRET = "zircon"


class GappedAccess(AccessControl):
    """Access control that knows what it could not check."""

    gap: Literal["", "checking", "partial"] = ""

    async def resolve_scope(self, subject: Subject) -> ResolvedScope:
        return replace(await super().resolve_scope(subject), gap=self.gap)


@dataclass
class Api:
    """The application, as a client in the same process calls it."""

    client: httpx.AsyncClient
    app: FastAPI
    access: GappedAccess
    engine: Engine
    token: str = ""

    async def create_token(self, *permissions: Permission, limit: int = 1000) -> str:
        return (await self.access.create_token("t", Subject(space=HERE), permissions, limit, None))[1]

    async def call(self, method: str, path: str, *, token: str | None = None, body: object = None) -> httpx.Response:
        """Call with Ada's token; `token` is another one, "" none at all."""
        used = self.token if token is None else token
        headers = {"Authorization": f"Bearer {used}"} if used else {}
        return await self.client.request(method, path, headers=headers, json=body)


@asynccontextmanager
async def open_api(tmp_path: Path) -> AsyncIterator[Api]:
    async with (
        BotStore.open(tmp_path / "bot.db", SYSTEM_CLOCK) as store,
        echo_language.open_engine_context(tmp_path / "home") as engine_context,
    ):
        access = GappedAccess(store, SYSTEM_CLOCK)
        for space, text in ((HERE, NOTE), (VAULT, f"The password of the vault is {SECRET}.")):
            passage = Passage("1", text, link="https://t.example/note")
            await engine_context.engine.documents.add(
                Document(f"note:{space}", space, f"{space}:room", "Note", (passage,))
            )
        await engine_context.engine.wait_until_indexed()
        service = LocalService(build_deps(engine_context, store, access))
        app = build_app(service, service.clock)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            api = Api(client, app, access, engine_context.engine)
            api.token = await api.create_token("ask", "read", "write")
            yield api


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    async with open_api(tmp_path) as api:
        yield api
