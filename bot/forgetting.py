"""Forgetting while no bot is running: what a former run keeps of a document is forgotten as if it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.house import House
from bot.listening import Listening
from bot.readers import Readers
from bot.store import Store
from engine.reading import Reader

if TYPE_CHECKING:
    from bot.desk import Desk
    from bot.settings import Settings


async def forget(desk: Desk, settings: Settings, document: str) -> bool:
    """Forget a document; says whether there was one. Raises EngineError."""
    kept = settings.root / "bot.db"
    if not kept.exists():
        return await desk.engine.forget(document)
    async with Store.open(kept) as store, Reader(desk.limits) as reader:
        house = House(desk, store, Readers({}, store, settings.member_age), {}, settings)
        return await Listening(house, reader).forget_document(document)
