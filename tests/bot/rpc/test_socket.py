from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from bot.capabilities.requests import Ask, AtSpace, GetStatus, OperationRequest
from bot.capabilities.results import AnswerDelta, Completed, OperationResult
from bot.rpc import codec, socket
from bot.rpc.socket import RemoteService
from engine.errors import EngineError, NotFound, StoreError
from tests.support.patience import PATIENCE

QUESTION, FIRST, LAST = Ask("Who?"), AnswerDelta("first"), Completed("last")


class Operations:
    """Answers in two pieces: the second one when it may, or an error instead."""

    def __init__(self, error: Exception | None = None, *, finish: bool = False) -> None:
        self.requests: list[OperationRequest] = []
        self.may_finish = asyncio.Event()
        self.ended = asyncio.Event()
        self.error = error
        if finish:
            self.may_finish.set()

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        self.requests.append(request)
        try:
            yield FIRST
            if self.error:
                raise self.error
            await self.may_finish.wait()
            yield LAST
        finally:
            self.ended.set()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "h"
    folder.mkdir()
    return folder


async def connect(home: Path) -> RemoteService:
    remote = await socket.find_service(home)
    assert remote is not None
    return remote


async def collect(remote: RemoteService, request: OperationRequest = QUESTION) -> list[OperationResult]:
    return [event async for event in remote.perform(request)]


async def test_results_are_streamed_and_several_requests_run_at_once(home: Path) -> None:
    operations = Operations()
    async with socket.serve_socket(home, operations.perform):
        remote = await connect(home)
        one, other = remote.perform(QUESTION), remote.perform(QUESTION)
        assert [await anext(one), await anext(other)] == [FIRST, FIRST]
        operations.may_finish.set()
        assert [[event async for event in each] for each in (one, other)] == [[LAST], [LAST]]
    assert operations.requests == [QUESTION, QUESTION]


@pytest.mark.parametrize(
    ("error", "kind", "hint"),
    [
        (NotFound("There is none.", hint="Look elsewhere."), NotFound, "Look elsewhere."),
        (ValueError("What Mina wrote."), EngineError, "Its log says more."),
    ],
)
async def test_an_error_there_is_raised_here_and_the_next_request_is_answered(
    home: Path, error: Exception, kind: type[EngineError], hint: str
) -> None:
    operations = Operations(error, finish=True)
    async with socket.serve_socket(home, operations.perform):
        remote = await connect(home)
        with pytest.raises(kind, match=r"none|ValueError") as caught:
            await collect(remote)
        assert "Mina" not in str(caught.value)
        assert not hint or caught.value.hint == hint
        operations.error = None
        assert await collect(remote, AtSpace("s", GetStatus())) == [FIRST, LAST]


@pytest.mark.long
async def test_a_slow_reader_holds_back_the_operation(home: Path) -> None:
    made = 0

    async def export(request: OperationRequest) -> AsyncGenerator[OperationResult]:
        nonlocal made
        for _number in range(400):
            made += 1
            yield AnswerDelta("x" * 100_000)

    async with socket.serve_socket(home, export):
        async with aclosing((await connect(home)).perform(QUESTION)) as events:
            await anext(events)
            seen = -1
            while seen != made:  # until nothing more is made
                seen = made
                await asyncio.sleep(0.05)
            assert made < 40
        assert len(await collect(await connect(home))) == 400


async def test_leaving_ends_the_operation(home: Path) -> None:
    operations = Operations()
    async with socket.serve_socket(home, operations.perform):
        async with aclosing((await connect(home)).perform(QUESTION)) as events:
            await anext(events)
        await asyncio.wait_for(operations.ended.wait(), PATIENCE)
    assert not operations.may_finish.is_set()


async def test_a_program_that_stops_finishes_its_operations_and_is_gone(home: Path) -> None:
    operations = Operations()
    async with socket.serve_socket(home, operations.perform):
        remote = await connect(home)
        events = remote.perform(QUESTION)
        await anext(events)
        asyncio.get_running_loop().call_soon(operations.may_finish.set)
    assert [event async for event in events] == [LAST]
    assert await socket.find_service(home) is None
    with pytest.raises(StoreError, match="has ended"):
        await collect(remote)


@pytest.mark.parametrize("turns", range(6))
async def test_whoever_connects_first_as_the_program_stops_is_let_go(
    home: Path, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def call(function: Callable[..., object], *arguments: object) -> object:
        return function(*arguments)

    monkeypatch.setattr(asyncio, "to_thread", call)  # it would take any number of turns of the loop
    async with socket.serve_socket(home, Operations().perform):
        await asyncio.sleep(0)
        reader, writer = await asyncio.open_unix_connection(socket.socket_path(home))
        for _ in range(turns):
            await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        with suppress(ConnectionError):
            assert await reader.read() == b""
    writer.close()


async def test_only_the_owner_can_reach_it(home: Path) -> None:
    async with socket.serve_socket(home, Operations().perform):
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
    async with socket.serve_socket(home, Operations().perform):
        assert await socket.find_service(home)


async def test_input_that_is_no_request_leaves_the_server_running(home: Path) -> None:
    path = socket.socket_path(home)
    async with asyncio.timeout(PATIENCE), socket.serve_socket(home, Operations(finish=True).perform):
        key = f"Authorization: Bearer {socket.read_key(home)}\r\n".encode()
        for sent in (b"nonsense\n", b"POST / HTTP/1.1\r\nHost: x\r\n" + key + b"Content-Length: 2\r\n\r\n{}"):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(sent)
            assert b"kind" in await reader.read(999) or sent.startswith(b"nonsense")
            writer.close()
        assert await collect(await connect(home)) == [FIRST, LAST]
        _, silent = await asyncio.open_unix_connection(path)  # does not delay the end
        await asyncio.sleep(0.05)
    silent.close()


CHUNK = b"%x\r\n%b\r\n" % (len(codec.encode(FIRST)), codec.encode(FIRST))


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNK, "has stopped"),
        (b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n", "refused the command .413 Too Large"),
    ],
    ids=["interrupted", "refused"],
)
async def test_a_response_without_an_end_is_an_error(home: Path, response: bytes, message: str) -> None:
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"}\n")
        writer.write(response)
        writer.close()

    server = await asyncio.start_unix_server(respond, socket.socket_path(home))
    with pytest.raises(StoreError, match=message):
        await collect(await connect(home))
    server.close()


async def test_a_folder_with_a_long_path_is_reached(tmp_path: Path) -> None:
    home = tmp_path / ("long" * 40)
    assert len(os.fsencode(socket.socket_path(home))) <= socket.MAX_PATH_BYTES
    async with socket.serve_socket(home, Operations(finish=True).perform):
        assert await collect(await connect(home)) == [FIRST, LAST]


async def test_a_request_without_the_key_of_the_data_directory_is_refused(home: Path) -> None:
    operations = Operations(finish=True)
    async with socket.serve_socket(home, operations.perform):
        remote = await connect(home)
        for key in ("", "wrong", remote.key[:-1], "é"):
            with pytest.raises(StoreError, match="refused the command"):
                await collect(replace(remote, key=key))
        assert operations.requests == []
        assert await collect(remote) == [FIRST, LAST]
        file = home / socket.KEY_NAME
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert remote.key not in repr(remote)


async def test_each_process_has_a_key_of_its_own(home: Path) -> None:
    found = []
    for _ in range(2):
        async with socket.serve_socket(home, Operations(finish=True).perform):
            found.append((await connect(home)).key)
    assert len(set(found)) == 2
    assert all(len(each) >= 40 for each in found)
