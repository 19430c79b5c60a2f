"""Commands reach the program that holds the folder, open it themselves, or read the ledger alone."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot import bootstrap
from bot.capabilities.access.requests import ListTokens
from bot.capabilities.deps import Deps
from bot.capabilities.requests import (
    Ask,
    AtSpace,
    CheckHealth,
    Forget,
    GetStatus,
    ListDocuments,
    OperationRequest,
    Verify,
)
from bot.capabilities.results import DocumentList, Forgotten, OperationResult, StatusResult, TokenList
from bot.context import EngineContext
from bot.model_setup.opened import EngineModels
from bot.monitoring.health import ServerHealth
from bot.monitoring.metrics import Metrics
from bot.monitoring.report import HealthState
from bot.rpc import service, socket
from bot.rpc.ledger_service import LedgerService, connect_or_open_ledger
from bot.rpc.service import AdminService, LocalService, connect_or_open
from bot.rpc.socket import RemoteService
from bot.settings import Settings, load_settings
from bot.store import AnswerResult, BotStore
from engine import Clock
from engine.clock import SYSTEM_CLOCK
from engine.data_dir import DataDir
from engine.errors import CorruptLedger, DataDirInUse, ModelUnavailable
from tests.bot.capabilities.conftest import NoParts, last
from tests.support.builders import make_answer
from tests.support.echo_language import EchoLanguage, open_engine_context
from tests.support.engine_fixture import doc
from tests.support.file_lock import hold_lock

ALL, EMPTY = AtSpace("here", ListDocuments()), [DocumentList(())]
ROOT = Path(__file__).parents[4]
HEAVY = {"lancedb", "kuzu", "onnxruntime", "litellm", "numpy", "pyarrow", "tiktoken"}
LOADED = """
import sys
from typer.testing import CliRunner
from bot.__main__ import app
for command in ("status", "documents"):
    done = CliRunner().invoke(app, [command])
    assert done.exit_code == 0, done.output
print(*(name for name in sys.modules if "." not in name))
"""


@pytest.fixture(autouse=True)
def _light_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines without the heavy stores."""

    @asynccontextmanager
    async def open_engine(
        settings: Settings, models: EngineModels, clock: Clock, *, replace_embedder: bool = False
    ) -> AsyncIterator[EngineContext]:
        async with open_engine_context(settings.data_path) as context:
            yield context

    monkeypatch.setattr(bootstrap, "open_engine", open_engine)


async def perform(service: AdminService, request: OperationRequest = ALL) -> list[OperationResult]:
    return [event async for event in service.perform(request)]


async def test_the_first_opens_the_folder_and_the_second_is_answered_by_it() -> None:
    async with (
        connect_or_open(load_settings(), SYSTEM_CLOCK) as first,
        connect_or_open(load_settings(), SYSTEM_CLOCK) as second,
    ):
        assert isinstance(first, LocalService)
        assert isinstance(second, RemoteService)
        assert await perform(second) == EMPTY


async def test_all_requests_of_tokens_share_one_database(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[str]()
    open_store = BotStore.open

    @asynccontextmanager
    async def counted(place: Any, *arguments: Any) -> AsyncIterator[BotStore]:
        async with open_store(place, *arguments) as store:
            opened.append("open")
            yield store
        opened.append("closed")

    monkeypatch.setattr(BotStore, "open", counted)
    async with connect_or_open(load_settings(), SYSTEM_CLOCK) as reached:
        results = await asyncio.gather(*(perform(reached, ListTokens()) for _ in range(3)))
        assert results == [[TokenList(())]] * 3
        assert opened == ["open"]
    assert opened == ["open", "closed"]


async def test_a_program_that_is_still_starting_is_waited_for() -> None:
    settings = load_settings()

    async def connect() -> list[OperationResult]:
        async with connect_or_open(settings, SYSTEM_CLOCK) as reached:
            return await perform(reached)

    async with open_engine_context(settings.data_path) as context:
        connecting = asyncio.create_task(connect())
        await asyncio.sleep(0)
        async with socket.serve_socket(settings.data_path, LocalService(Deps(context, NoParts())).perform):
            assert await connecting == EMPTY


async def test_what_is_forgotten_without_the_bot_is_redacted_in_its_answers() -> None:
    settings = load_settings()
    async with (
        open_engine_context(settings.data_path) as context,
        BotStore.open(settings.data_path / "bot.db", SYSTEM_CLOCK) as store,
    ):
        await context.engine.documents.add(doc("old", "Ada met Bob."))
        await store.answers.begin(make_answer())
        await store.answers.finish("a1", AnswerResult("Ada met Bob.", documents=frozenset({"old"})))
    async with connect_or_open(settings, SYSTEM_CLOCK) as reached:
        gone = Forgotten("Forgotten: old", "Old", 1, "hall", keys=("old",))
        [done] = [each for each in await perform(reached, AtSpace("here", Forget("old"))) if type(each) is Forgotten]
        assert done.receipt["counts"]["answers"] == 1
        assert replace(done, receipt={}) == gone
    async with BotStore.open(settings.data_path / "bot.db", SYSTEM_CLOCK) as store:
        stored = await store.answers.get("a1")
        assert stored is not None
        assert (stored.state, stored.text) == ("redacted", "")


async def test_a_program_that_holds_the_folder_without_answering_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "START_SECONDS", 0.0)
    settings = load_settings()
    with DataDir(settings.data_path).acquire_lock(), pytest.raises(DataDirInUse):
        async with connect_or_open(settings, SYSTEM_CLOCK):
            pass


async def test_the_health_of_a_process_says_that_its_questions_fail(tmp_path: Path) -> None:
    language, metrics = EchoLanguage(), Metrics(SYSTEM_CLOCK)
    language.failing["answer", ""] = ModelUnavailable("The model does not answer.")
    health = ServerHealth(metrics)
    health.become_ready()
    async with open_engine_context(tmp_path, language) as context:
        await context.engine.documents.add(doc("a", "Ada met Bob."))
        await context.engine.wait_until_indexed()
        local = LocalService(Deps(context, NoParts(), metrics, health))
        assert await perform(local, CheckHealth()) == [HealthState("ok")]
        for _ in range(4):
            with pytest.raises(ModelUnavailable):
                await perform(local, AtSpace("here", Ask("Who is Ada?")))
        found = last(await perform(local, CheckHealth()), HealthState)
        assert (found.status, found.is_ready) == ("degraded", True)
        assert "4 of the last 4 questions failed" in found.reasons[0]


async def test_the_ledger_alone_gives_the_numbers_of_the_engine() -> None:
    settings, requests = load_settings(), (AtSpace("here", GetStatus()), ALL, AtSpace("elsewhere", GetStatus()))
    async with open_engine_context(settings.data_path) as context:
        await context.engine.documents.add(doc("a", "Ada met Bob."))
        await context.engine.wait_until_indexed()
        expected = [await perform(LocalService(Deps(context, NoParts())), request) for request in requests]
    async with connect_or_open_ledger(settings, SYSTEM_CLOCK) as ledger:
        assert isinstance(ledger, LedgerService)
        assert [await perform(ledger, request) for request in requests] == expected
        with pytest.raises(TypeError):
            await perform(ledger, Verify())


async def test_a_new_ledger_is_empty_and_a_damaged_one_is_refused() -> None:
    settings = load_settings()
    async with connect_or_open_ledger(settings, SYSTEM_CLOCK) as ledger:
        assert await perform(ledger) == EMPTY
    (settings.data_path / "ledger.db").write_bytes(b"damaged " * 1000)
    with pytest.raises(CorruptLedger):
        async with connect_or_open_ledger(settings, SYSTEM_CLOCK):
            raise AssertionError("it was opened")


async def test_for_numbers_too_a_program_that_holds_the_folder_is_asked() -> None:
    settings = load_settings()
    async with (
        open_engine_context(settings.data_path) as context,
        socket.serve_socket(settings.data_path, LocalService(Deps(context, NoParts())).perform),
        connect_or_open_ledger(settings, SYSTEM_CLOCK) as reached,
    ):
        await context.engine.documents.add(doc("a", "Ada met Bob."))
        status = last(await perform(reached, AtSpace("here", GetStatus())), StatusResult).status
        assert sum(status.documents.values()) == 1


@pytest.mark.long
def test_numbers_and_lists_load_nothing_heavy(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "THREADLORE_DATA_DIR": str(tmp_path / "home")}
    command = [sys.executable, "-c", LOADED]
    loaded = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
    assert HEAVY & set(loaded) == set()


async def test_a_lock_of_another_program_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "FOREIGN_SECONDS", 0.0)
    settings = load_settings()
    settings.data_path.mkdir(parents=True)
    with hold_lock(settings.data_path / "lock"), pytest.raises(DataDirInUse, match="not one that wrote its number"):
        async with connect_or_open(settings, SYSTEM_CLOCK):
            pass
