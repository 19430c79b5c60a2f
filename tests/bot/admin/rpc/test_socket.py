from __future__ import annotations

import asyncio
import os
import stat
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from bot.admin.requests import Ask, GetStatus, OperationRequest
from bot.admin.results import AnswerDelta, Completed
from bot.admin.rpc import socket
from engine.errors import EngineError, NotFound, StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.admin.results import OperationResult
    from bot.admin.rpc.socket import RemoteService

QUESTION = Ask("Who?", ("s",))


class Desk:
    """Answers with the question's words, then as it is told."""

    def __init__(self) -> None:
        self.heard: list[OperationRequest] = []
        self.going_on = asyncio.Event()
        self.left = asyncio.Event()
        self.error: Exception | None = None

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        self.heard.append(request)
        try:
            yield AnswerDelta("first")
            if self.error:
                raise self.error
            await self.going_on.wait()
            yield Completed("last")
        finally:
            self.left.set()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "h"
    folder.mkdir()
    return folder


async def reached(home: Path) -> RemoteService:
    remote = await socket.find_service(home)
    assert remote is not None
    return remote


async def test_a_request_is_worked_on_by_the_other_side_and_streamed_back(home: Path) -> None:
    desk = Desk()
    async with socket.serve_socket(home, desk.perform), aclosing((await reached(home)).perform(QUESTION)) as events:
        assert await anext(events) == AnswerDelta("first")
        desk.going_on.set()
        assert [event async for event in events] == [Completed("last")]
    assert desk.heard == [QUESTION]


async def test_an_error_there_is_raised_here(home: Path) -> None:
    desk = Desk()
    desk.error = NotFound("There is none.", hint="Look elsewhere.")
    async with socket.serve_socket(home, desk.perform):
        with pytest.raises(NotFound, match="There is none") as caught:
            [event async for event in (await reached(home)).perform(QUESTION)]
    assert caught.value.hint == "Look elsewhere."


async def test_a_mistake_there_is_told_and_the_next_request_is_answered(home: Path) -> None:
    desk = Desk()
    desk.error = ValueError("oops")
    async with socket.serve_socket(home, desk.perform):
        remote = await reached(home)
        with pytest.raises(EngineError, match="oops"):
            [event async for event in remote.perform(QUESTION)]
        desk.error = None
        desk.going_on.set()
        assert [event async for event in remote.perform(GetStatus(("s",)))] == [AnswerDelta("first"), Completed("last")]


async def test_who_leaves_ends_the_work(home: Path) -> None:
    desk = Desk()
    async with socket.serve_socket(home, desk.perform):
        async with aclosing((await reached(home)).perform(QUESTION)) as events:
            await anext(events)
        await asyncio.wait_for(desk.left.wait(), 5)
    assert not desk.going_on.is_set()


async def test_several_are_worked_on_at_once(home: Path) -> None:
    desk = Desk()
    async with socket.serve_socket(home, desk.perform):
        remote = await reached(home)
        one, other = remote.perform(QUESTION), remote.perform(QUESTION)
        assert [await anext(one), await anext(other)] == [AnswerDelta("first"), AnswerDelta("first")]
        desk.going_on.set()
        assert [await anext(one), await anext(other)] == [Completed("last"), Completed("last")]
        await one.aclose()
        await other.aclose()


async def test_a_program_that_ends_finishes_what_it_was_asked(home: Path) -> None:
    desk = Desk()
    async with socket.serve_socket(home, desk.perform):
        events = (await reached(home)).perform(QUESTION)
        await anext(events)
        asyncio.get_running_loop().call_soon(desk.going_on.set)
    assert [event async for event in events] == [Completed("last")]
    assert await socket.find_service(home) is None


async def test_only_the_owner_can_reach_it(home: Path) -> None:
    async with socket.serve_socket(home, Desk().perform):
        seen = socket.socket_path(home).stat()
        assert stat.S_ISSOCK(seen.st_mode)
        assert stat.S_IMODE(seen.st_mode) == 0o600
        assert seen.st_uid == os.getuid()


async def test_nobody_answers_where_nobody_listens(home: Path) -> None:
    assert await socket.find_service(home) is None
    socket.socket_path(home).write_text("no socket")
    assert await socket.find_service(home) is None


async def test_a_socket_left_behind_is_replaced(home: Path) -> None:
    socket._bind_socket(socket.socket_path(home)).close()
    assert await socket.find_service(home) is None
    async with socket.serve_socket(home, Desk().perform):
        assert await socket.find_service(home)


async def test_a_program_that_is_gone_is_told_of(home: Path) -> None:
    async with socket.serve_socket(home, Desk().perform):
        remote = await reached(home)
    with pytest.raises(StoreError, match="has stopped"):
        [event async for event in remote.perform(QUESTION)]


async def test_a_folder_with_a_long_path_is_reached_all_the_same(tmp_path: Path) -> None:
    home = tmp_path / ("long" * 40)
    assert len(os.fsencode(socket.socket_path(home))) <= socket.MAX_PATH_BYTES
    desk = Desk()
    desk.going_on.set()
    async with socket.serve_socket(home, desk.perform):
        assert [event async for event in (await reached(home)).perform(QUESTION)] == [
            AnswerDelta("first"),
            Completed("last"),
        ]
