"""Forgetting while no bot is running: what a former run keeps of a document is forgotten as if it did."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.context import House
from bot.ingest.service import Listening
from bot.permissions.resolver import Readers
from bot.store import Store
from engine.parsers import Reader

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.engine_context import Desk
    from bot.settings import Settings
    from engine.models import Document


async def forget(desk: Desk, settings: Settings, document: str) -> bool:
    """Forget a document; says whether there was one. Raises EngineError."""
    async with _listening(desk, settings) as listening:
        return await (listening.forget_document if listening else desk.engine.forget)(document)


async def replace(desk: Desk, settings: Settings, document: Document) -> bool:
    """Take in a document that was known before; says whether it changed. Raises EngineError."""
    async with _listening(desk, settings) as listening:
        return await (listening.replace_document if listening else desk.engine.add)(document)


@asynccontextmanager
async def _listening(desk: Desk, settings: Settings) -> AsyncIterator[Listening | None]:
    """What a former run keeps; None if there was none."""
    kept = settings.root / "bot.db"
    if not kept.exists():
        yield None
        return
    async with Store.open(kept) as store, Reader(desk.limits) as reader:
        house = House(desk, store, Readers({}, store, settings.member_age), {}, settings)
        yield Listening(house, reader)
