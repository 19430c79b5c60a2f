"""A program that runs for long outlives the process, or the connection, that its service stands on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot import bootstrap
from bot.capabilities.deps import Deps
from bot.capabilities.requests import AtSpace, ListDocuments, OperationRequest
from bot.capabilities.results import DocumentList, OperationResult
from bot.context import EngineContext
from bot.model_setup.opened import EngineModels
from bot.monitoring.health import ServerHealth
from bot.monitoring.metrics import Metrics
from bot.rpc import lifecycle, session, socket, standby
from bot.rpc.service import AdminService, LocalService, connect_or_open, open_service
from bot.rpc.session import ServiceSession, open_session
from bot.rpc.socket import HolderEnded, RemoteService
from bot.server import running_bot
from bot.settings import Settings, load_settings
from engine import Clock
from engine.clock import SYSTEM_CLOCK
from engine.errors import (
    DatabaseLost,
    DatabaseUnreachable,
    DataDirInUse,
    EngineError,
    NewerSchema,
    NotFound,
    StoreError,
)
from tests.bot.capabilities.conftest import NoParts
from tests.support.echo_language import open_engine_context
from tests.support.engine_fixture import wait_until
from tests.support.patience import PATIENCE
from tests.support.town.live_bot import open_models

ALL, EMPTY = AtSpace("here", ListDocuments()), [DocumentList(())]
UNREACHABLE = DatabaseUnreachable("The server does not answer.")


@dataclass
class Engines:
    """Opens engines without the heavy stores; some attempts fail."""

    failures: list[EngineError] = field(default_factory=list)
    opened: list[EngineContext] = field(default_factory=list)

    @asynccontextmanager
    async def open_engine(
        self, settings: Settings, models: EngineModels, clock: Clock, *, replace_embedder: bool = False
    ) -> AsyncIterator[EngineContext]:
        if self.failures:
            raise self.failures.pop(0)
        async with open_engine_context(settings.data_path) as context:
            self.opened.append(context)
            yield context

    def lose(self) -> None:
        """Let the last engine notice that others may have taken over its work."""
        self.opened[-1].engine.processes.lost.set()


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Engines:
    found = Engines()
    monkeypatch.setattr(bootstrap, "open_engine", found.open_engine)
    for name in ("CHECK_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(session, name, 0.01)
    monkeypatch.setattr(session, "RETURN_SECONDS", 0.05)
    monkeypatch.setattr(standby, "STANDBY_SECONDS", 0.01)
    monkeypatch.setattr(lifecycle, "LEAVE_SECONDS", PATIENCE)  # it would end the tests
    return found


async def perform(service: ServiceSession, request: OperationRequest = ALL) -> list[OperationResult]:
    async with asyncio.timeout(PATIENCE):
        return [event async for event in service.perform(request)]


def record_ends(monkeypatch: pytest.MonkeyPatch) -> list[EngineError]:
    """Let no timer end the tests; the errors with which they would."""
    ends = list[EngineError]()

    def record(error: EngineError, _: float | None = None) -> threading.Timer:
        ends.append(error)
        return threading.Timer(PATIENCE, ends.clear)  # it is not started

    monkeypatch.setattr(lifecycle, "end_later", record)
    return ends


@asynccontextmanager
async def other_process(settings: Settings) -> AsyncIterator[None]:
    """A process that holds the data directory."""
    async with (
        open_engine_context(settings.data_path) as context,
        socket.serve_socket(settings.data_path, LocalService(Deps(context, NoParts())).perform),
    ):
        yield


async def test_a_lazy_session_opens_the_folder_with_its_first_request(engines: Engines) -> None:
    settings = load_settings()
    async with open_session(settings, SYSTEM_CLOCK, lazily=True):
        pass
    async with open_session(settings, SYSTEM_CLOCK, lazily=True) as lazy:
        assert not settings.data_path.exists()
        assert await lazy.list_obstacles() == []
        assert await perform(lazy) == EMPTY
    assert await socket.find_service(settings.data_path) is None


async def test_an_error_of_opening_is_raised_by_the_request_and_the_next_one_tries_again(engines: Engines) -> None:
    engines.failures += [NotFound("There is no disk."), UNREACHABLE]
    async with open_session(load_settings(), SYSTEM_CLOCK, lazily=True) as lazy:
        with pytest.raises(NotFound, match="no disk"):
            await perform(lazy)
        assert await lazy.list_obstacles() == ["There is no disk."]
        with pytest.raises(DatabaseUnreachable):
            await perform(lazy)
        assert await perform(lazy) == EMPTY


async def test_what_keeps_a_session_from_opening_at_its_start_ends_the_program(engines: Engines) -> None:
    engines.failures.append(UNREACHABLE)
    with pytest.raises(DatabaseUnreachable):
        async with open_session(load_settings(), SYSTEM_CLOCK):
            raise AssertionError("it was opened")


async def test_the_engine_is_opened_again_when_its_connection_is_lost(engines: Engines) -> None:
    async with open_session(load_settings(), SYSTEM_CLOCK) as service:
        assert await perform(service) == EMPTY
        engines.failures += [UNREACHABLE] * 3
        engines.lose()
        await wait_until(lambda: len(engines.opened) == 2)
        assert await perform(service) == EMPTY
        assert await service.list_obstacles() == []


async def test_requests_fail_with_the_reason_until_the_engine_is_open_again(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "PATIENCE_SECONDS", 0.05)
    async with open_session(load_settings(), SYSTEM_CLOCK) as service:
        engines.failures += [UNREACHABLE] * 10_000
        engines.lose()
        await wait_until(lambda: len(engines.failures) < 10_000)
        with pytest.raises(DatabaseUnreachable, match="does not answer"):
            await perform(service)
        assert await service.list_obstacles() == ["The server does not answer."]
        monkeypatch.setattr(session, "PATIENCE_SECONDS", PATIENCE)
        engines.failures.clear()
        await wait_until(lambda: len(engines.opened) == 2)
        assert await perform(service) == EMPTY


async def test_a_program_whose_engine_cannot_be_opened_again_ends_in_time(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = record_ends(monkeypatch)

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), open_session(load_settings(), SYSTEM_CLOCK):
            engines.failures.append(NewerSchema("A later version wrote it."))
            engines.lose()
            await asyncio.Event().wait()

    with pytest.raises(NewerSchema):
        await run()
    assert str(ends[-1]) == "A later version wrote it."


@asynccontextmanager
async def beside_another(
    settings: Settings, *, lazily: bool = False
) -> AsyncIterator[tuple[ServiceSession, AsyncExitStack]]:
    """A session beside a process that holds the data directory, and the stack that ends that process."""
    async with AsyncExitStack() as holder:
        await holder.enter_async_context(other_process(settings))
        async with open_session(settings, SYSTEM_CLOCK, lazily=lazily) as service:
            assert await perform(service) == EMPTY
            yield service, holder


async def test_a_session_that_breaks_ends_the_program(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    record_ends(monkeypatch)

    async def fail(_: ServiceSession, service: AdminService) -> StoreError:
        await service.deps.engine.processes.lost.wait()  # type: ignore[attr-defined]
        raise ValueError("a bug")

    monkeypatch.setattr(ServiceSession, "_wait_for_end", fail)

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), open_session(load_settings(), SYSTEM_CLOCK):
            engines.lose()
            await asyncio.Event().wait()

    with pytest.raises(ValueError, match="a bug"):
        await run()


async def test_a_single_command_ends_when_its_connection_is_lost(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = record_ends(monkeypatch)

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), connect_or_open(load_settings(), SYSTEM_CLOCK):
            engines.lose()
            await asyncio.Event().wait()

    with pytest.raises(DatabaseLost):
        await run()
    assert [type(end) for end in ends] == [DatabaseLost]


async def test_a_process_beside_another_one_takes_over_when_that_ends(engines: Engines) -> None:
    async with beside_another(load_settings()) as (service, holder):
        assert engines.opened == []
        await holder.aclose()
        assert await perform(service) == EMPTY
        assert len(engines.opened) == 1


async def test_a_process_beside_another_one_takes_over_without_a_request(engines: Engines) -> None:
    async with beside_another(load_settings()) as (_, holder):
        await holder.aclose()
        await wait_until(lambda: len(engines.opened) == 1)


async def test_a_lazy_session_beside_another_process_takes_over_with_its_next_request(engines: Engines) -> None:
    async with beside_another(load_settings(), lazily=True) as (service, holder):
        await holder.aclose()

        async def is_idle() -> bool:
            return await service.list_obstacles() == [] and await socket.find_service(load_settings().data_path) is None

        await wait_until(lambda: service._service is None)
        await wait_until(is_idle)
        assert engines.opened == []
        assert await perform(service) == EMPTY
        assert len(engines.opened) == 1


@dataclass
class FormerHolder:
    """A process whose stream breaks off when it may; the socket does not find it any more."""

    may_break: asyncio.Event = field(default_factory=asyncio.Event)

    async def perform(self, _: OperationRequest) -> AsyncGenerator[OperationResult]:
        yield EMPTY[0]
        await self.may_break.wait()
        raise HolderEnded("It has stopped.")


async def test_who_reads_the_rest_of_a_stream_after_the_takeover_leaves_the_new_service_alone(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    former, openings = FormerHolder(), 0

    @asynccontextmanager
    async def open_second(settings: Settings, clock: Clock, **given: Any) -> AsyncIterator[AdminService]:
        nonlocal openings
        openings += 1
        if openings == 1:
            yield former
            return
        async with open_service(settings, clock, **given) as service:
            yield service

    monkeypatch.setattr(session, "open_service", open_second)
    monkeypatch.setattr(session, "PATIENCE_SECONDS", 0.05)
    async with open_session(load_settings(), SYSTEM_CLOCK) as service, aclosing(service.perform(ALL)) as slow:
        assert await anext(slow) == EMPTY[0]
        await wait_until(lambda: isinstance(service._service, LocalService))
        former.may_break.set()
        with pytest.raises(HolderEnded):
            await anext(slow)
        assert await service.list_obstacles() == []
        assert await perform(service) == EMPTY


async def test_a_session_whose_process_is_gone_is_not_ready_and_fails_with_a_reason(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "PATIENCE_SECONDS", 0.05)
    async with beside_another(load_settings()) as (service, holder):
        monkeypatch.setattr(ServiceSession, "_end", wait_forever)
        await holder.aclose()
        for _ in range(2):
            with pytest.raises(StoreError, match="has ended"):
                await perform(service)
            assert await service.list_obstacles() == [session.HOLDER_ENDED]


async def wait_forever(*_: object) -> None:
    await asyncio.Event().wait()


async def test_a_process_that_is_started_again_is_found_with_its_new_key(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "CHECK_SECONDS", PATIENCE)  # only a request notices
    settings = load_settings()
    async with beside_another(settings) as (service, holder):
        await holder.aclose()
        async with other_process(settings):
            assert await perform(service) == EMPTY
            assert engines.opened == []


@pytest.mark.parametrize("lazily", [True, False])
async def test_a_session_hands_over_to_a_bot_that_starts_and_becomes_its_client(
    engines: Engines, monkeypatch: pytest.MonkeyPatch, *, lazily: bool
) -> None:
    monkeypatch.setattr(session, "RETURN_SECONDS", PATIENCE)
    settings = load_settings()
    async with open_session(settings, SYSTEM_CLOCK, lazily=lazily) as service, AsyncExitStack() as stack:
        assert await perform(service) == EMPTY
        async with starting_bot(settings, stack):
            assert len(engines.opened) == 2
            assert await perform(service) == EMPTY
            assert isinstance(service._service, RemoteService)
            assert await service.list_obstacles() == []
            monkeypatch.setattr(session, "RETURN_SECONDS", 0.05)
        await stack.aclose()
        await wait_until(lambda: service._service is None)
        assert await perform(service) == EMPTY  # the bot has ended again
        assert len(engines.opened) == 3


async def test_a_bot_stands_by_until_the_requests_of_a_session_have_ended(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "IDLE_SECONDS", 0.02)
    monkeypatch.setattr(session, "RETURN_SECONDS", PATIENCE)
    settings = load_settings()
    async with open_session(settings, SYSTEM_CLOCK) as service, AsyncExitStack() as stack:
        own = await service.wait_until_open()
        assert isinstance(own, LocalService)
        with own.running.counting():
            starting = asyncio.create_task(enter(stack, starting_bot(settings, stack)))
            for _ in range(3):
                await wait_until(service._bot_starts.is_set)
                await wait_until(lambda: not service._bot_starts.is_set())
                assert await perform(service) == EMPTY
            assert not starting.done()
        async with asyncio.timeout(PATIENCE):
            await starting
        assert len(engines.opened) == 2


async def test_a_bot_takes_nothing_from_another_bot_or_a_command(engines: Engines) -> None:
    settings = load_settings()
    async with connect_or_open(settings, SYSTEM_CLOCK), AsyncExitStack() as stack:
        with pytest.raises(DataDirInUse):
            async with starting_bot(settings, stack):
                raise AssertionError("it was opened")
    async with AsyncExitStack() as first, AsyncExitStack() as second, starting_bot(settings, first):
        with pytest.raises(DataDirInUse):
            async with starting_bot(settings, second):
                raise AssertionError("it was opened")


async def enter(stack: AsyncExitStack, opened: AbstractAsyncContextManager[None]) -> None:
    await stack.enter_async_context(opened)


@asynccontextmanager
async def starting_bot(settings: Settings, stack: AsyncExitStack) -> AsyncIterator[None]:
    """A bot that starts; its engine ends with the stack."""
    models = await stack.enter_async_context(open_models())
    health = ServerHealth(Metrics(SYSTEM_CLOCK))
    async with asyncio.timeout(PATIENCE):
        context = await standby.open_when_free(stack, settings, models, SYSTEM_CLOCK, asyncio.Event(), health)
    assert context is not None
    async with running_bot(context, settings, health):
        health.become_ready()
        yield
