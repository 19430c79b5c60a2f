"""Bots with and without channels, their stores, and engine contexts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.context import EngineContext
from bot.platform.models import Location, Message
from bot.store import BotStore
from tests.support import echo_language
from tests.support.bot_fixture import BotFixture, open_bot
from tests.support.clock import ManualClock
from tests.support.parsing import parse_in_this_process


@pytest.fixture(autouse=True)
def _light_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    parse_in_this_process(monkeypatch)


@pytest.fixture
async def engine_context(tmp_path: Path) -> AsyncIterator[EngineContext]:
    async with echo_language.open_engine_context(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[BotStore]:
    async with BotStore.open(tmp_path / "bot.db", ManualClock()) as opened:
        yield opened


@pytest.fixture
async def bot(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[BotFixture]:
    """A bot that was in no channel yet; `with_settings` gives it settings."""
    async with open_bot(tmp_path / "home", **getattr(request, "param", {})) as opened:
        await opened.store.hints.record_if_new("slack", "T1", "model")
        yield opened


@pytest.fixture
async def roof(bot: BotFixture) -> Location:
    """An open channel of Ada and Bob."""
    return await bot.join("ROOF", "ada", "bob")


@pytest.fixture
async def tiles(bot: BotFixture, roof: Location) -> Message:
    """Its first message, which questions find."""
    return await bot.post_indexed(roof, "ada", "The Tiles come on Monday.")


@pytest.fixture
async def hall(bot: BotFixture) -> Location:
    """An open channel of Bob."""
    return await bot.join("HALL", "bob")
