"""A service for programs that run for long: it outlives the process, or the connection, that it uses.

It stands on the process that holds the data directory, or on an engine of its own. When that process ends, another one
or this one takes over; when the connection to the database is lost, the engine is opened again. Requests meanwhile wait
for a moment, and then fail with the reason.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from bot.capabilities.requests import CheckHealth
from bot.monitoring.report import HealthState
from bot.rpc import socket
from bot.rpc.lifecycle import end_block, ending_in_time
from bot.rpc.service import LocalService, open_service
from bot.rpc.socket import HolderEnded, HolderUnreached
from engine.errors import (
    LOST,
    DatabaseBusy,
    DatabaseInUse,
    DatabaseLost,
    DatabaseReadOnly,
    DatabaseUnreachable,
    DataDirInUse,
    EngineError,
    StoreError,
)
from engine.scheduling.supervisor import cancel_tasks, child_task, describe_error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from bot.capabilities.requests import OperationRequest
    from bot.capabilities.results import OperationResult
    from bot.monitoring.metrics import Metrics
    from bot.rpc.service import AdminService
    from bot.settings import Settings
    from engine import Clock

log = structlog.get_logger(__name__)

CHECK_SECONDS = 2.0  # between two looks for the process that holds the data directory
RETURN_SECONDS = 15.0  # for that process to be started again, before this one takes over its work
RETRY_SECONDS = 1.0  # between two attempts to open the engine again
PATIENCE_SECONDS = 5.0  # that a request waits for a service
MAY_PASS = (DatabaseUnreachable, DatabaseLost, DatabaseInUse, DatabaseBusy, DatabaseReadOnly, DataDirInUse)
REOPENING = "It is being opened again. If this goes on, check the database server."
HOLDER_ENDED = "The process that held the data directory has ended."
TAKING_OVER = "Another one takes over within seconds. Try again."
IDLE_SECONDS = 4.0  # for running requests to end before a bot gets the data directory; meanwhile others wait
CLOSE_SECONDS = 60.0  # for an engine that is handed over to be closed
HANDED_OVER = "A bot has started, and takes over the data directory."


class ServiceSession:
    """The service, opened anew whenever it has ended. `failed` is set with an error that only a person can mend."""

    def __init__(
        self, settings: Settings, clock: Clock, metrics: Metrics | None = None, *, is_lazy: bool = False
    ) -> None:
        self._is_lazy = is_lazy
        self._settings = settings
        self._clock = clock
        self._metrics = metrics
        self._service: AdminService | None = None
        self._trouble: Exception | None = None  # why there is no service
        self._has_changed = asyncio.Event()  # the service, or the reason
        self._is_gone = asyncio.Event()  # a request did not reach the service
        self._requested = asyncio.Event()
        self._bot_starts = asyncio.Event()  # and asks for the data directory
        self._was_open = False
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def holds_data(self) -> bool:
        """Whether the engine is in this process, and not in one beside it."""
        return isinstance(self._service, LocalService)

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        """Perform a request. Raises the reason if there is no service within a few seconds."""
        for is_last in (False, True):
            service = await self.wait_until_open()
            try:
                async with aclosing(service.perform(request)) as results:
                    async for result in results:
                        yield result
            except HolderEnded as error:
                if service is self._service:  # it may tell of its end after another one took over
                    self._is_gone.set()
                if is_last or not isinstance(error, HolderUnreached):
                    raise
            else:
                break

    async def wait_until_open(self) -> AdminService:
        """The service. Raises the error of opening it, and the reason if it is not opened again in a few seconds."""
        self._requested.set()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS if self._was_open else None):
                while self._service is None or self._is_gone.is_set() or self._bot_starts.is_set():
                    if self.failed.done():
                        self.failed.result()
                    await self._has_changed.wait()
                    if self._trouble is not None and not self._was_open:
                        raise self._trouble
        except TimeoutError:
            raise copy_error(self._trouble or tell_end_of_holder()) from None
        return self._service

    async def list_problems(self) -> list[str]:
        """Why requests cannot be answered, or what else is wrong."""
        return list((await self._check_health()).reasons)

    async def list_obstacles(self) -> list[str]:
        """Why requests cannot be answered."""
        found = await self._check_health()
        return [] if found.is_ready else list(found.reasons) or [f"The process that holds the data is {found.status}."]

    async def _check_health(self) -> HealthState:
        if self._service is None or self._is_gone.is_set():
            is_idle = not self._was_open and self._trouble is None  # nothing was asked yet
            reason = str(self._trouble or tell_end_of_holder())
            return HealthState("ok") if is_idle else HealthState("degraded", (reason,), is_ready=False)
        async with aclosing(self._service.perform(CheckHealth())) as results:
            async for result in results:
                if isinstance(result, HealthState):
                    return result
        return HealthState("degraded", is_ready=False)

    async def run(self) -> None:
        """Open the service with the first request, and again after each end, until cancelled or `failed`."""
        while not self.failed.done():
            await self._requested.wait()
            stack = AsyncExitStack()
            try:
                opening = open_service(
                    self._settings, self._clock, metrics=self._metrics, hand_over=self._bot_starts.set
                )
                service = await stack.enter_async_context(opening)
            except Exception as error:  # noqa: BLE001 - those who asked, or the program, raise it
                await self._handle_failure(error)
                continue
            try:
                self._provide(service)
                ended = await self._wait_for_end(service)
            except BaseException:
                await stack.aclose()
                raise
            await self._end(ended, stack)

    def observe_end(self, running: asyncio.Task[None]) -> None:
        """Fail with the unexpected error that ended `run`."""
        if not running.cancelled() and not self.failed.done():
            self.failed.set_exception(running.exception() or RuntimeError("The session ended."))
            self.failed.exception()  # raised by others
            self._announce()

    async def _handle_failure(self, error: Exception) -> None:
        """Try again after a failure that may pass; what is met at the first opening is told, and tried when asked."""
        self._trouble = error
        if not self._was_open:
            self._requested.clear()
            self._announce()
        elif isinstance(error, MAY_PASS):
            log.warning("session.not_opened", error=str(error))
            await asyncio.sleep(RETRY_SECONDS)
        else:
            self.failed.set_exception(error)
            self.failed.exception()  # raised by others
            self._announce()

    async def _end(self, ended: StoreError, stack: AsyncExitStack) -> None:
        """Close what has ended; nothing of it may keep this process from going on."""
        self._service, self._trouble = None, ended
        log.warning("session.service_ended", error=str(ended))
        is_lost = isinstance(ended, DatabaseLost)
        with ending_in_time(ended, None if is_lost else CLOSE_SECONDS):
            try:
                await stack.aclose()
            except Exception as error:  # noqa: BLE001 - it has ended, and its data is safe
                log.warning("session.not_closed", error=describe_error(error))
        if is_lost:
            return
        self._requested.clear()
        if await self._wait_for_successor() or not self._is_lazy:
            self._requested.set()
        elif not self._requested.is_set():  # as at its start: a program that is not used keeps no other from starting
            self._trouble, self._was_open = None, False

    def _provide(self, service: AdminService) -> None:
        self._service, self._trouble, self._was_open = service, None, True
        self._is_gone.clear()
        self._bot_starts.clear()
        self._announce()

    def _announce(self) -> None:
        """Wake those who wait now."""
        self._has_changed.set()
        self._has_changed.clear()

    async def _wait_for_end(self, service: AdminService) -> StoreError:
        if isinstance(service, LocalService):
            return await self._wait_for_loss_or_bot(service)
        while not self._is_gone.is_set():
            try:
                async with asyncio.timeout(CHECK_SECONDS):
                    await self._is_gone.wait()
            except TimeoutError:
                if await socket.find_service(self._settings.data_path) != service:
                    break
        return tell_end_of_holder()

    async def _wait_for_loss_or_bot(self, service: LocalService) -> StoreError:
        async with child_task(service.deps.engine.processes.lost.wait(), "watch database") as losing:
            while not losing.done():
                async with child_task(self._bot_starts.wait(), "watch for a bot") as starting:
                    await asyncio.wait({losing, starting}, return_when=asyncio.FIRST_COMPLETED)
                if not losing.done() and await self._becomes_idle(service) and not losing.done():
                    return StoreError(HANDED_OVER, hint=TAKING_OVER)
        return DatabaseLost(LOST, hint=REOPENING)

    async def _becomes_idle(self, service: LocalService) -> bool:
        """Whether the running requests end soon; if they do not, the bot has to ask again."""
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                await service.running.idle.wait()
        except TimeoutError:
            self._bot_starts.clear()
            self._announce()
            return False
        return True

    async def _wait_for_successor(self) -> bool:
        """Wait for another process to hold the data directory, as long as one takes to start; whether there is one."""
        until = self._clock.monotonic() + RETURN_SECONDS
        while self._clock.monotonic() < until:
            if await socket.find_service(self._settings.data_path) is not None:
                return True
            await asyncio.sleep(RETRY_SECONDS)
        return False


def tell_end_of_holder() -> StoreError:
    """Why there is no service between two holders of the data directory."""
    return StoreError(HOLDER_ENDED, hint=TAKING_OVER)


def copy_error(error: Exception) -> Exception:
    """The same error without the traces of where it was raised before."""
    return type(error)(str(error), hint=error.hint) if isinstance(error, EngineError) else error


def wrap_error(error: BaseException | None) -> EngineError:
    """The error that ends a program, as one that can be shown."""
    return error if isinstance(error, EngineError) else EngineError(f"Unexpected error: {error!r}.")


@asynccontextmanager
async def open_session(
    settings: Settings, clock: Clock, metrics: Metrics | None = None, *, lazily: bool = False
) -> AsyncIterator[ServiceSession]:
    """A session; it is opened at once, or `lazily` with the first request. Raises the error of opening.

    If it cannot be opened again, the block is cancelled, and the error is raised; the process has seconds to leave.
    """
    session = ServiceSession(settings, clock, metrics, is_lazy=lazily)
    running = asyncio.create_task(session.run(), name="session")
    running.add_done_callback(session.observe_end)
    try:
        if not lazily:
            await session.wait_until_open()
        async with asyncio.timeout(None) as limit:
            session.failed.add_done_callback(lambda failed: end_block(limit, wrap_error(failed.exception())))
            yield session
    except TimeoutError:
        if session.failed.done():
            session.failed.result()
        raise
    finally:
        await cancel_tasks(running)
