"""Who is answered, and how fast, while somebody keeps the doors of a real program busy.

`python -m benchmarks.door [--connections 205] [--seconds 5]` runs `threadlore serve --web` as a process of its own,
opens that many connections on each of which an attack stands still, renews those that the server closed, and meanwhile
asks from the same address and from another one: a probe, a login with a wrong token, and documents with a token. It
exits with 1 if one of them is not answered within two seconds.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.plumbing import parse_arguments, start_process, temporary_folder
from benchmarks.web_streams import environment_of, free_port, prepare, wait_until_served

HERE, ATTACKER = "127.0.0.1", "127.0.0.2"
LIMIT_SECONDS = 2.0  # in which everybody else is answered
RENEW_SECONDS = 1.0  # after which a connection that the server closed is opened again; a flood is no matter of places
Attack = Mapping[str, bytes]


def build_request(method: str, path: str, *headers: str, body: str = "") -> bytes:
    lines = (f"{method} {path} HTTP/1.1", "Host: localhost", "Origin: http://localhost", *headers, "", body)
    return "\r\n".join(lines).encode()


def list_attacks(token: str) -> Attack:
    """What is sent on each connection, by what it is."""
    unfinished, bearer = "Content-Length: 500", f"Authorization: Bearer {token}"
    return {
        "nothing": b"",
        "half a head": b"GET / HTTP/1.1\r\nHost: loc",
        "login form": build_request("POST", "/login", unfinished, body="t"),
        "body of a probe": build_request("GET", "/api/v1/health", unfinished, body="t"),
        "body of a page": build_request("GET", "/", unfinished, body="t"),
        "guessed token": build_request("POST", "/api/v1/query", "Authorization: Bearer x", unfinished, body="t"),
        "body of another token": build_request("POST", "/api/v1/query", bearer, unfinished, body="t"),
    }


@dataclass
class Holder:
    """Connections on which an attack stands still; one that the server closes is opened again."""

    port: int
    sent: bytes
    source: str
    opened: int = 0
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def hold(self) -> None:
        while True:
            try:
                reader, writer = await asyncio.open_connection(HERE, self.port, local_addr=(self.source, 0))
                self.opened += 1
                writer.write(self.sent)
                while await reader.read(65536):
                    pass
                writer.close()
            except OSError:
                pass
            await asyncio.sleep(RENEW_SECONDS)


@asynccontextmanager
async def holding(port: int, sent: bytes, source: str, connections: int) -> AsyncIterator[Holder]:
    holder = Holder(port, sent, source)
    holder.tasks = [asyncio.create_task(holder.hold()) for _ in range(connections)]
    try:
        await asyncio.sleep(1)
        yield holder
    finally:
        for task in holder.tasks:
            task.cancel()
        await asyncio.gather(*holder.tasks, return_exceptions=True)


async def ask(port: int, sent: bytes) -> tuple[int, float]:
    """The status of an answer (0: none), and the seconds until it came."""
    began = time.perf_counter()
    try:
        async with asyncio.timeout(30):
            reader, writer = await asyncio.open_connection(HERE, port)
            writer.write(sent)
            line = await reader.readline()
            writer.close()
    except OSError:
        line = b""
    return int(line.split()[1]) if line else 0, time.perf_counter() - began


async def measure(port: int, token: str, seconds: float) -> dict[str, list[tuple[int, float]]]:
    """The answers to others meanwhile, by who asks."""
    asking = {
        "probe": build_request("GET", "/api/v1/health", "Connection: close"),
        "login": build_request("POST", "/login", "Connection: close", "Content-Length: 7", body="token=x"),
        "token": build_request("GET", "/api/v1/documents", "Connection: close", f"Authorization: Bearer {token}"),
    }
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in asking}
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        for name, sent in asking.items():
            found[name].append(await ask(port, sent))
    return found


WANTED = {"probe": 200, "login": 401, "token": 200}


def describe(name: str, source: str, opened: int, found: Mapping[str, Sequence[tuple[int, float]]]) -> bool:
    """Show a line; whether everybody was answered in time. Failed logins are limited to twenty a minute (429)."""
    is_good, cells = True, list[str]()
    for who, answers in found.items():
        good = [taken for status, taken in answers if status in {WANTED[who], 429}]
        is_good &= len(good) == len(answers) and max(good, default=LIMIT_SECONDS) < LIMIT_SECONDS
        cells.append(f"{len(good)}/{len(answers)}, {1000 * max(good, default=0.0):.0f} ms")
    print(f"| {name} | {source} | {opened} | {' | '.join(cells)} |", flush=True)
    return is_good


async def run(connections: int, seconds: float, folder: Path) -> bool:
    """Measure each attack from both addresses, and show a table."""
    port = free_port()
    environment = {**environment_of(str(folder / "home"), "http://127.0.0.1:9", port), "THREADLORE_LLM_MODEL": ""}
    token, other = prepare(environment, folder), prepare(environment, folder)
    is_good = True
    async with start_process("-m", "bot", "serve", "--web", environment=environment):
        await wait_until_served(port)
        print("| attack | from | connections opened | probe | login | token |\n|---|---|---|---|---|---|")
        is_good &= describe("none", "-", 0, await measure(port, token, seconds))
        for name, sent in list_attacks(other).items():
            for label, source in (("the same address", HERE), ("another one", ATTACKER)):
                async with holding(port, sent, source, connections) as holder:
                    found = await measure(port, token, seconds)
                is_good &= describe(name, label, holder.opened, found)
    return is_good


def main() -> None:
    chosen = parse_arguments(__doc__, connections=205, seconds=5)
    with temporary_folder() as folder:
        if not asyncio.run(run(chosen.connections, chosen.seconds, Path(folder))):
            sys.exit(1)


if __name__ == "__main__":
    main()
