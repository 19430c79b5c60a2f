"""A bot stands by while another process must be alone on the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from bot import bootstrap
from bot.monitoring.health import ServerHealth, ServerState
from bot.monitoring.metrics import Metrics
from bot.rpc import standby
from bot.settings import Settings
from bot.store import BotStore, postgres
from engine.clock import SYSTEM_CLOCK
from engine.errors import DatabaseInUse, DatabaseReadOnly, DatabaseUnreachable, NewerSchema, StoreError
from engine.scheduling.supervisor import Supervisor
from engine.storage.postgres.process_registry import ProcessRegistry
from engine.storage.sql.schema_source import Migration, run
from tests.support.patience import PATIENCE
from tests.support.town.live_bot import ISOLATED, open_models


def new_health() -> ServerHealth:
    return ServerHealth(Metrics(SYSTEM_CLOCK))


async def wait_until_standing_by(health: ServerHealth) -> None:
    async with asyncio.timeout(PATIENCE):
        while health.state is not ServerState.STANDING_BY:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.01)


async def test_a_bot_waits_while_another_process_is_alone_on_the_database(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "STANDBY_SECONDS", 0.05)
    first, second = (
        Settings(data_dir=tmp_path / name, database=SecretStr(postgres_url), **ISOLATED) for name in ("first", "second")
    )
    health = new_health()
    async with open_models() as models, AsyncExitStack() as stack:
        async with bootstrap.open_engine(first, models, SYSTEM_CLOCK, replace_embedder=True):
            waiting = asyncio.create_task(
                standby.open_when_free(stack, second, models, SYSTEM_CLOCK, asyncio.Event(), health)
            )
            await wait_until_standing_by(health)
            assert not waiting.done()
        context = await waiting
        assert context is not None
        assert context.engine.database


BREAKING = Migration(run(postgres="ALTER TABLE opt_out RENAME TO left_out;"))


async def test_a_bot_of_a_newer_version_waits_until_those_of_the_former_one_have_ended(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "STANDBY_SECONDS", 0.05)
    settings = Settings(data_dir=tmp_path, database=SecretStr(postgres_url), **ISOLATED)
    health, supervisor = new_health(), Supervisor(SYSTEM_CLOCK)
    async with open_models() as models, AsyncExitStack() as stack:
        async with (
            ProcessRegistry.open(postgres_url, supervisor, SYSTEM_CLOCK) as registry,
            BotStore.open(postgres_url, SYSTEM_CLOCK, registry.id) as older,
        ):
            former = postgres.SCHEMA
            newer_source = replace(former.source, tables=(), migrations=(*former.source.migrations, BREAKING))
            monkeypatch.setattr(postgres, "SCHEMA", replace(former, source=newer_source))
            waiting = asyncio.create_task(
                standby.open_when_free(stack, settings, models, SYSTEM_CLOCK, asyncio.Event(), health)
            )
            await wait_until_standing_by(health)
            await older.opt_outs.opt_out("slack", "T1", "ada")
            assert not waiting.done()
        context = await waiting
        assert context is not None
        with pytest.raises(psycopg.errors.UndefinedTable):
            async with BotStore.open(postgres_url, SYSTEM_CLOCK, context.engine.processes.id) as newer:
                await newer.opt_outs.opt_out("slack", "T1", "bob")
    await supervisor.stop()


async def test_a_bot_that_stands_by_can_be_stopped(tmp_path: Path, postgres_url: str) -> None:
    stop, health = asyncio.Event(), new_health()
    first, second = (
        Settings(data_dir=tmp_path / name, database=SecretStr(postgres_url), **ISOLATED) for name in ("first", "second")
    )
    async with (
        open_models() as models,
        AsyncExitStack() as stack,
        bootstrap.open_engine(first, models, SYSTEM_CLOCK, replace_embedder=True),
    ):
        waiting = asyncio.create_task(standby.open_when_free(stack, second, models, SYSTEM_CLOCK, stop, health))
        await wait_until_standing_by(health)
        stop.set()
        assert await waiting is None


async def test_a_stand_by_outlives_a_server_that_restarts_and_reports_what_only_a_person_can_fix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures: list[StoreError] = [
        DatabaseReadOnly("On."),
        DatabaseInUse("Held."),
        DatabaseUnreachable("Restarting."),
        NewerSchema("New."),
    ]

    @asynccontextmanager
    async def fail(*_: object) -> AsyncIterator[None]:
        raise failures.pop(0)
        yield

    monkeypatch.setattr(standby, "STANDBY_SECONDS", 0.01)
    monkeypatch.setattr(bootstrap, "open_engine", fail)
    async with open_models() as models, AsyncExitStack() as stack:
        with pytest.raises(NewerSchema):
            await standby.open_when_free(
                stack, Settings(**ISOLATED), models, SYSTEM_CLOCK, asyncio.Event(), new_health()
            )
        failures = [DatabaseUnreachable("Not there.")]
        with pytest.raises(DatabaseUnreachable):
            await standby.open_when_free(
                stack, Settings(**ISOLATED), models, SYSTEM_CLOCK, asyncio.Event(), new_health()
            )
