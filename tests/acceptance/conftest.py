"""Engines for the stories, and a whole bot on Slack; those on Discord share one bot in a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.support.engine_fixture import open_memory_engine
from tests.support.town import slack_bot
from tests.support.toy_language import ToyLanguage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.bootstrap import EngineModels
    from engine import Engine
    from tests.support.town.slack_bot import SlackBotFixture


@pytest.fixture
def language() -> ToyLanguage:
    """The language of `light`."""
    return ToyLanguage()


@pytest.fixture
async def light(tmp_path: Path, language: ToyLanguage) -> AsyncIterator[Engine]:
    """An engine with a real ledger, and graph and vectors in memory."""
    async with open_memory_engine(tmp_path / "light", language) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def able() -> AsyncIterator[EngineModels]:
    """What a bot on Slack can do, loaded once for the stories of a module."""
    async with slack_bot.open_skills() as shared:
        yield shared


@pytest_asyncio.fixture(loop_scope="module")
async def house(tmp_path: Path, able: EngineModels) -> AsyncIterator[SlackBotFixture]:
    """A bot on Slack for one story alone."""
    async with slack_bot.open_slack_bot(tmp_path / "house", able) as lived_in:
        yield lived_in
