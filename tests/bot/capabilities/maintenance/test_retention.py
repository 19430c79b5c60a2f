"""`threadlore retention confirm` without a running bot."""

from __future__ import annotations

import pytest

from bot.bootstrap import LazyParts
from bot.capabilities.deps import Deps
from bot.capabilities.requests import ConfirmRetention
from bot.capabilities.results import Completed
from bot.context import EngineContext
from bot.store import BotStore
from bot.store.schedules.retention import HeldDeletion, RetentionRecord
from engine.clock import SYSTEM_CLOCK
from engine.errors import NotFound
from tests.bot.capabilities.conftest import run
from tests.support.fake_platform import START
from tests.support.plain_settings import plain_settings


async def test_a_deletion_that_waits_is_confirmed_while_no_bot_runs(engine_context: EngineContext) -> None:
    settings, held = (
        plain_settings(data_dir=engine_context.engine.data_dir.path),
        HeldDeletion("amount", START, 1234, 5678, START),
    )
    async with BotStore.open(settings.store_place, SYSTEM_CLOCK) as store:
        await store.retention.save(RetentionRecord(30, START, held))
    parts = LazyParts(engine_context, settings)
    done = await run(Deps(engine_context, parts), ConfirmRetention())
    await parts.close()
    assert done == [Completed("Confirmed: 1,234 documents of 5,678 from before 2026-11-20 will be deleted.")]
    async with BotStore.open(settings.store_place, SYSTEM_CLOCK) as store:
        assert await store.retention.load() == RetentionRecord(30, START, held, confirmed=START)


async def test_without_a_deletion_that_waits_there_is_nothing_to_confirm(deps: Deps) -> None:
    with pytest.raises(NotFound):
        await run(deps, ConfirmRetention())
