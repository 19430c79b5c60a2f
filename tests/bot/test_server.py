"""The server: platforms are connected until they are stopped, and commands beside it share its folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from bot.capabilities.requests import AtSpace, Forget
from bot.capabilities.results import Forgotten
from bot.errors import PlatformError, PortInUse, SetupError
from bot.rpc import socket
from bot.server import PlatformConnection, _run_until_stopped, running_bot
from bot.settings import load_settings
from bot.store import AnswerResult, AnswerSource
from engine.clock import SYSTEM_CLOCK
from engine.scheduling.supervisor import Supervisor
from tests.support.builders import make_answer
from tests.support.echo_language import open_engine_context
from tests.support.engine_fixture import doc
from tests.support.patience import PATIENCE

SOURCE = AnswerSource(1, "old", "", "Ada met Bob.", "old", "1", "here", "here")
LATER = PlatformError("Later.")


async def test_commands_are_served_while_the_bot_runs_and_redact_its_answers() -> None:
    settings = load_settings()
    async with open_engine_context(settings.data_path) as context, running_bot(context, settings) as bot:
        await context.engine.documents.add(doc("old", "Ada met Bob."))
        await context.engine.wait_until_indexed()
        await bot.store.answers.begin(make_answer())
        await bot.store.answers.finish("a1", AnswerResult("Ada met Bob. [1]", (SOURCE,), frozenset({"old"})))
        remote = await socket.find_service(settings.data_path)
        assert remote is not None
        *_, done = [event async for event in remote.perform(AtSpace("here", Forget("old")))]
        assert isinstance(done, Forgotten)
        assert replace(done, receipt={}) == Forgotten(
            "Forgotten: old. Its bytes leave the disk within 10 minutes.", "Old", 1, "hall", keys=("old",)
        )
        stored = await bot.store.answers.get("a1")
        assert stored is not None
        assert (stored.state, stored.text, stored.sources) == ("redacted", "", ())
    assert await socket.find_service(settings.data_path) is None


class FailingAdapter:
    """Raises one failure an attempt; then it runs until it is stopped, with one failure at the end."""

    def __init__(self, *failures: Exception, at_end: Exception | None = None) -> None:
        self.stop = asyncio.Event()
        self.failures = list(failures)
        self.at_end = at_end
        self.attempts = 0
        self.up = asyncio.Event()

    async def __call__(self) -> None:
        self.attempts += 1
        if self.failures:
            raise self.failures.pop(0)
        self.up.set()
        await self.stop.wait()
        if self.at_end:
            raise self.at_end


async def serve(*adapters: FailingAdapter, wait: float = 0.001) -> None:
    """Run adapters as the server does."""
    supervisor, stop = Supervisor(SYSTEM_CLOCK, first_wait=wait, longest_wait=wait), asyncio.Event()
    for adapter in adapters:
        adapter.stop = stop
    connections = [PlatformConnection(f"p{number}", adapter, stop) for number, adapter in enumerate(adapters)]
    try:
        await _run_until_stopped({connection.start(supervisor): connection for connection in connections}, stop)
    finally:
        await supervisor.stop()


@asynccontextmanager
async def serving(*adapters: FailingAdapter, wait: float = 0.001) -> AsyncIterator[asyncio.Task[None]]:
    """Adapters that are stopped in the end, once the last one is up."""
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        task = group.create_task(serve(*adapters, wait=wait))
        await adapters[-1].up.wait()
        yield task
        adapters[-1].stop.set()


@pytest.mark.parametrize(
    "failure",
    [
        *(LATER, PortInUse("The API cannot listen."), OSError("Name or service not known")),
        AttributeError("'NoneType' object has no attribute 'sequence'"),
    ],
)
async def test_what_may_pass_is_tried_again(failure: Exception) -> None:
    adapter = FailingAdapter(*[failure] * 5)
    async with serving(adapter):
        assert adapter.attempts == 6


async def test_what_only_a_person_can_change_ends_the_server() -> None:
    adapter = FailingAdapter(LATER, SetupError("Slack does not accept the token."))
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(SetupError, match="does not accept"):
            await serve(adapter)
    assert adapter.attempts == 2


async def test_a_platform_that_ends_leaves_the_other_alone() -> None:
    bad, good = FailingAdapter(SetupError("No.")), FailingAdapter(*[LATER] * 3)
    async with serving(bad, good) as task:
        assert (bad.attempts, task.done()) == (1, False)


@pytest.mark.parametrize("lost", [FailingAdapter(LATER), FailingAdapter(at_end=OSError("the socket is gone"))])
async def test_a_stop_waits_for_no_further_attempt(lost: FailingAdapter) -> None:
    async with serving(lost, FailingAdapter(), wait=1000.0):
        pass
    assert lost.attempts == 1
