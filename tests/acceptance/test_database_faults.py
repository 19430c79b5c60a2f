"""Every program that runs for long comes back by itself after a fault of its database, or ends; and says what it is.

Each is a process of its own, on a server of its own that ends connections, hangs, or takes no changes.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.rpc.lifecycle import LEAVE_SECONDS
from bot.rpc.session import PATIENCE_SECONDS, RETURN_SECONDS
from engine.errors import LOST
from tests.support.faulty_postgres import FaultyPostgres, open_faulty_postgres
from tests.support.patience import PATIENCE
from tests.support.town.cluster import open_cluster
from tests.support.town.slack import SlackTown, find_free_port

pytestmark = pytest.mark.long

FACT = "The ferry Gudgeon leaves at noon."
QUESTION = "When does the Gudgeon leave?"
PROBE_LIMIT = 5.0  # seconds for the answer of a probe, whatever hangs


@pytest.fixture
def postgres() -> Iterator[FaultyPostgres]:
    with open_faulty_postgres() as found:
        yield found


@dataclass
class Program:
    """`threadlore …` on the database, with its ports."""

    folder: Path
    url: str
    web: int
    monitoring: int
    token: str = ""

    @property
    def environment(self) -> dict[str, str]:
        given = {
            "DATA_DIR": str(self.folder / "home"),
            "DATABASE": self.url,
            "WEB_PORT": str(self.web),
            "MONITORING_PORT": str(self.monitoring),
        }
        own = {f"THREADLORE_{name}": value for name, value in given.items()}
        return os.environ | own | {"PYTHONUNBUFFERED": "1"}

    async def run(self, *words: str) -> str:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", *words, env=self.environment, stdout=PIPE
        )
        out, _ = await process.communicate()
        assert process.returncode == 0
        return out.decode()

    @asynccontextmanager
    async def running(self, *words: str) -> AsyncIterator[Process]:
        with (self.folder / "log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bot", *words, env=self.environment, stdin=PIPE, stdout=PIPE, stderr=log
            )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def fill(self) -> None:
        """Store when the ferry leaves, and create an access token."""
        (self.folder / "ferry.txt").write_text(FACT, encoding="utf-8")
        await self.run("ingest", str(self.folder / "ferry.txt"))
        self.token = json.loads(await self.run("token", "create", "t", "--permission", "ask", "--json"))["text"]

    async def is_answered(self) -> bool:
        status, answer = await self.ask()
        return status == 200 and "noon" in answer

    async def ask(self) -> tuple[int, str]:
        """The status and the answer of the API; 0 if nobody listens."""
        headers = {"Authorization": f"Bearer {self.token}"}
        try:
            async with (
                aiohttp.ClientSession(headers=headers) as http,
                http.post(f"http://127.0.0.1:{self.web}/api/v1/query", json={"question": QUESTION}) as response,
            ):
                return response.status, await response.text()
        except aiohttp.ClientConnectionError:
            return 0, ""


async def probe(port: int, path: str) -> tuple[int, dict[str, Any]]:
    """What a probe says, within a bounded time; 0 if nobody listens."""
    limit = aiohttp.ClientTimeout(total=PROBE_LIMIT + 1)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit) as http,
            http.get(f"http://127.0.0.1:{port}{path}") as response,
        ):
            return response.status, await response.json()
    except aiohttp.ClientConnectionError:
        return 0, {}


async def wait_until(holds: Callable[[], Awaitable[object]], seconds: float = PATIENCE) -> None:
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110 - other processes have no event for it
            await asyncio.sleep(0.1)


async def open_program(folder: Path, postgres: FaultyPostgres) -> Program:
    """A program whose database knows when the ferry leaves."""
    program = Program(folder, postgres.url, find_free_port(), find_free_port())
    await program.fill()
    return program


async def test_the_page_and_the_api_come_back_after_each_fault(tmp_path: Path, postgres: FaultyPostgres) -> None:
    program = await open_program(tmp_path, postgres)

    async def is_ready() -> bool:
        return (await probe(program.monitoring, "/readyz"))[0] == 200

    async with program.running("serve", "--web"):
        await wait_until(is_ready)
        assert await program.is_answered()

        postgres.end_connections()
        await wait_until(program.is_answered, 15)
        await wait_until(is_ready, 15)

        with postgres.hanging():
            for port, path in ((program.monitoring, "/healthz"), (program.web, "/api/v1/health")):
                status, page = await probe(port, path)
                assert status in {200, 503}
                assert page["status"] != "ok"
            assert (await probe(program.monitoring, "/readyz"))[0] == 503
            await asyncio.sleep(12 + PATIENCE_SECONDS)  # the loss is noticed
            _, page = await probe(program.monitoring, "/healthz")
            assert page["status"] == "degraded"
            assert (await probe(program.monitoring, "/readyz"))[0] == 503
            assert (await program.ask())[0] == 503
        await wait_until(is_ready)
        assert await program.is_answered()

        postgres.set_read_only(on=True)

        async def says_read_only() -> bool:
            return "takes no changes" in str(await probe(program.monitoring, "/healthz"))

        await wait_until(says_read_only)
        assert await is_ready()
        assert await program.is_answered()
        postgres.set_read_only(on=False)

        async def is_well() -> bool:
            return (await probe(program.web, "/api/v1/health"))[1] == {"status": "ok"}

        await wait_until(is_well, 120)


Fault = Callable[[FaultyPostgres], Awaitable[None]]
NOTICED_SECONDS = 12  # after which a program knows that its server hangs


async def cut(postgres: FaultyPostgres) -> None:
    postgres.end_connections()


async def hang(postgres: FaultyPostgres) -> None:
    with postgres.hanging():
        await asyncio.sleep(NOTICED_SECONDS)


async def take_no_changes(postgres: FaultyPostgres) -> None:
    """From now on."""
    postgres.set_read_only(on=True)
    await asyncio.sleep(NOTICED_SECONDS)


by_fault = pytest.mark.parametrize("fault", [cut, hang, take_no_changes])


@by_fault
async def test_an_assistant_is_answered_after_a_fault(tmp_path: Path, postgres: FaultyPostgres, fault: Fault) -> None:
    program = await open_program(tmp_path, postgres)
    async with program.running("mcp") as process:
        number = 0

        async def call(method: str, parameters: dict[str, Any]) -> dict[str, Any]:
            nonlocal number
            number += 1
            assert process.stdin is not None
            assert process.stdout is not None
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            await process.stdin.drain()
            async with asyncio.timeout(PATIENCE):
                while True:
                    found: dict[str, Any] = json.loads(await process.stdout.readline())
                    if found.get("id") == number:
                        return found

        client = {"name": "test", "version": "1"}
        await call("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})

        async def is_answered() -> bool:
            answer = await call("tools/call", {"name": "ask", "arguments": {"question": QUESTION}})
            return "noon" in str(answer)

        assert await is_answered()
        await fault(postgres)
        await wait_until(is_answered, 20)
        assert (await probe(program.monitoring, "/readyz"))[0] == 200


@by_fault
async def test_a_conversation_goes_on_after_a_fault(tmp_path: Path, postgres: FaultyPostgres, fault: Fault) -> None:
    program = await open_program(tmp_path, postgres)
    async with program.running("chat") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        async def is_answered() -> bool:
            stdin.write(QUESTION.encode() + b"\n/help\n")
            await stdin.drain()
            lines = b""
            async with asyncio.timeout(PATIENCE):
                while b"list these commands" not in lines:
                    lines += await stdout.readline()
            return b"noon" in lines

        assert await is_answered()
        await fault(postgres)
        await wait_until(is_answered, 20)


@contextmanager
def cutting(postgres: FaultyPostgres) -> Iterator[None]:
    postgres.end_connections()
    yield


@pytest.mark.parametrize("fault", [cutting, FaultyPostgres.hanging])
async def test_the_bot_ends_without_its_database_with_a_sentence_and_a_status(
    tmp_path: Path,
    postgres: FaultyPostgres,
    fault: Callable[[FaultyPostgres], AbstractContextManager[None]],
) -> None:
    async with open_cluster(SlackTown(), postgres.url, tmp_path) as cluster:
        await cluster.start(0)
        process = cluster.processes.pop(0)
        with fault(postgres):
            async with asyncio.timeout(9 + LEAVE_SECONDS + 10):
                assert await process.wait() == 1
        assert LOST in cluster.read_log(0)


async def test_the_bot_stays_while_its_database_takes_no_changes_and_then_answers(
    tmp_path: Path, postgres: FaultyPostgres
) -> None:
    monitoring = find_free_port()
    async with open_cluster(SlackTown(), postgres.url, tmp_path, monitoring_port=str(monitoring)) as cluster:
        town = cluster.town
        town.add_channel("square", "ada bob")
        await cluster.start(0)
        await town.say_fact("square", FACT)
        await cluster.wait_until_idle()
        postgres.set_read_only(on=True)

        async def says_read_only() -> bool:
            return "takes no changes" in str(await probe(monitoring, "/healthz"))

        await wait_until(says_read_only)
        assert (await probe(monitoring, "/readyz"))[0] == 200
        asked = await town.ask("ada", "square", QUESTION)
        await asyncio.sleep(10)  # longer than a loss of the registration takes
        assert town.posts(asked) == []
        assert cluster.processes[0].returncode is None
        postgres.set_read_only(on=False)
        await cluster.wait_for(lambda: any(cluster.count_answers(asked)))


async def test_a_page_takes_over_when_the_process_beside_it_is_killed(tmp_path: Path) -> None:
    program = Program(tmp_path, "", find_free_port(), find_free_port())
    await program.fill()
    async with program.running("chat") as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdin.write(QUESTION.encode() + b"\n")
        async with asyncio.timeout(PATIENCE):
            while b"noon" not in await holder.stdout.readline():
                pass
        async with program.running("serve", "--web"):
            await wait_until(program.is_answered)
            holder.kill()
            await wait_until(program.is_answered, RETURN_SECONDS + PATIENCE)
            assert (await probe(program.web, "/api/v1/health"))[1] == {"status": "ok"}
