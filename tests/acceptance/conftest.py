"""Engines, and a bot in a town of either platform, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import pytest_asyncio

from bot.ingest.sync import deletions
from bot.model_setup.opened import EngineModels
from engine import Engine
from tests.conftest import is_drawn
from tests.support.engine_fixture import open_memory_engine
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot, open_live_bot, open_models
from tests.support.town.slack import SlackTown
from tests.support.toy_language import ToyLanguage

TOWNS = {"slack": SlackTown, "discord": DiscordTown}

# Stories of which small tests hold the facts, too. One in STORY_SHARE runs always; the others are long.
STORIES = frozenset(
    f"test_{name}.py"
    for name in (
        *("answers", "corrections", "damaged_files", "downtime", "event_delivery", "ingest"),
        *("interrupted_steps", "platform_features", "slack_many_channels", "slack_workspaces", "verified_answers"),
    )
)
STORY_SHARE = 2


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "platforms(*names): run a test of the whole bot on these platforms alone")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the stories that do not run always."""
    if item.path.name in STORIES and not is_drawn(item.nodeid.partition("[")[0], STORY_SHARE):
        item.add_marker("long")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of the whole bot on both platforms, of which the suite takes one, or on those that it names."""
    if "platform" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("platforms")
        metafunc.parametrize("platform", marker.args if marker else share_platforms(metafunc), scope="module")


def share_platforms(metafunc: pytest.Metafunc) -> list[Any]:
    """Both platforms; that which is not drawn by the name of the test is long."""
    drawn = crc32(metafunc.function.__name__.encode()) % len(TOWNS)
    marks = [() if place == drawn else pytest.mark.long for place in range(len(TOWNS))]
    return [pytest.param(name, marks=each) for name, each in zip(TOWNS, marks, strict=True)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def models() -> AsyncIterator[EngineModels]:
    """The offline models of a bot."""
    async with open_models() as shared:
        yield shared


@pytest_asyncio.fixture(loop_scope="module")
async def live(platform: str, tmp_path: Path, models: EngineModels) -> AsyncIterator[LiveBot[Any]]:
    """A bot on one of the platforms."""
    async with open_live_bot(TOWNS[platform](), tmp_path / "live", models) as opened:
        yield opened


@pytest.fixture
def pretend_hour_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot is away for long enough that what was said before counts as old."""
    monkeypatch.setattr(deletions, "MIN_AGE", timedelta(hours=-1))


@pytest.fixture
def language() -> ToyLanguage:
    """The language of `light`."""
    return ToyLanguage()


@pytest.fixture
async def light(tmp_path: Path, language: ToyLanguage) -> AsyncIterator[Engine]:
    """An engine with a real ledger, and graph and vectors in memory."""
    async with open_memory_engine(tmp_path / "light", language) as opened:
        yield opened
