"""`threadlore retention confirm` without a running bot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.capabilities.offline_forget import confirm_retention
from bot.capabilities.operations import run_operation
from bot.capabilities.requests import ConfirmRetention
from bot.capabilities.results import Completed
from bot.context import EngineContext
from bot.store import BotStore
from bot.store.schedules.retention import HeldDeletion, RetentionRecord
from engine import SYSTEM_CLOCK
from engine.errors import NotFound, StoreError
from tests.support.fake_platform import START
from tests.support.plain_settings import plain_settings


async def test_a_deletion_that_waits_is_confirmed_while_no_bot_runs(engine_context: EngineContext) -> None:
    settings = plain_settings(data_dir=engine_context.engine.data_dir.path)
    context = replace(engine_context, confirm_retention=lambda: confirm_retention(engine_context, settings))
    with pytest.raises(NotFound):
        [_ async for _ in run_operation(context, ConfirmRetention())]
    held = HeldDeletion("amount", START, 1234, 5678, START)
    async with BotStore.open(settings.store_place, SYSTEM_CLOCK) as store:
        await store.retention.save(RetentionRecord(30, START, held))
    done = [each async for each in run_operation(context, ConfirmRetention())]
    assert done == [Completed("Confirmed: 1,234 documents of 5,678 from before 2026-11-20 will be deleted.")]
    async with BotStore.open(settings.store_place, SYSTEM_CLOCK) as store:
        assert await store.retention.load() == RetentionRecord(30, START, held, confirmed=START)


async def test_an_engine_alone_has_no_deletions_to_confirm(engine_context: EngineContext) -> None:
    with pytest.raises(StoreError):
        [_ async for _ in run_operation(engine_context, ConfirmRetention())]
