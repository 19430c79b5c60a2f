"""Fifty streams of the HTTP API at once, and memory over 500: who waits how long for the first word.

`python -m benchmarks.web_streams [--streams 50] [--total 500]` runs `threadlore serve --web` as a process of its own
with a model on this machine that replies after a fixed delay. The model's own time is measured beside it: as many
streams at once from the model itself, without the program between.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import aiohttp

from benchmarks.concurrent_questions import family_mib
from benchmarks.plumbing import parse_arguments, start_model_server, start_process, temporary_folder

DELAY, PACE = "1.0", "0.05"  # seconds before a reply of the model, and between two tokens
FACTS = 200
REPLIER = "benchmarks.concurrent_questions:reply"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment_of(home: str, model: str, port: int) -> dict[str, str]:
    """The settings of a program on its own, with this model for answers."""
    settings = {
        "DATA_DIR": home,
        "LLM_MODEL": "hosted_vllm/stub",
        "LLM_API_BASE": model,
        "LLM_API_KEY": "none",
        "LLM_MAX_CONCURRENCY": "128",
        "WEB_PORT": str(port),
    }
    return {f"THREADLORE_{name}": value for name, value in settings.items()}


def run_command(environment: Mapping[str, str], *arguments: str) -> str:
    command = [sys.executable, "-m", "bot", *arguments]
    return subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True, text=True).stdout


def prepare(environment: Mapping[str, str], folder: Path) -> str:
    """Ingest the facts that questions are about; returns an access token."""
    path = folder / "cases.md"
    path.write_text(
        "\n\n".join(
            f"# Case {number}\n\nThe papers of case number {number} lie on shelf {number}." for number in range(FACTS)
        )
    )
    run_command({**environment, "THREADLORE_LLM_MODEL": ""}, "ingest", str(path))
    created = run_command(environment, "token", "create", "bench", "--per-minute", "100000", "--json")
    return str(json.loads(created)["text"])


async def ask(session: aiohttp.ClientSession, url: str, body: object, headers: Mapping[str, str]) -> float:
    """Seconds to the first words of a stream, which is read to its end and must be whole."""
    since, first, text = time.perf_counter(), 0.0, ""
    async with session.post(url, json=body, headers=headers) as response:
        response.raise_for_status()
        async for line in response.content:
            shown = line.decode()
            if not first and ("delta" in shown and "word" in shown):
                first = time.perf_counter() - since
            text += shown
    assert first, text[:300]
    assert '"type": "end"' in text or "[DONE]" in text, text[-300:]
    return first


async def ask_all(url: str, numbers: Iterable[int], token: str) -> list[float]:
    """Seconds to the first words of each of these questions at once."""
    headers = {"Authorization": f"Bearer {token}"}
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=600)) as session:
        questions = [f"Where are the papers of case number {number}?" for number in numbers]
        if url.endswith("/chat/completions"):
            bodies = [
                {"model": "stub", "stream": True, "messages": [{"role": "user", "content": question}]}
                for question in questions
            ]
            return await asyncio.gather(*(ask(session, url, body, headers) for body in bodies))
        return await asyncio.gather(*(ask(session, url, {"question": question}, headers) for question in questions))


async def wait_until_served(port: int) -> None:
    async with aiohttp.ClientSession() as session:
        for _ in range(600):
            try:
                async with session.get(f"http://127.0.0.1:{port}/api/v1/health"):
                    return
            except aiohttp.ClientError:
                await asyncio.sleep(0.1)
    raise TimeoutError("The program does not answer.")


def show(label: str, times: list[float], more: str = "") -> None:
    print(f"| {label} | {statistics.median(times):.2f} | {max(times):.2f} | {more} |", flush=True)


async def run(streams: int, total: int, folder: Path) -> None:
    """Measure, and show a table."""
    port = free_port()
    async with start_model_server(REPLIER, "--delay", DELAY, "--pace", PACE) as model:
        environment = environment_of(str(folder / "home"), model, port)
        token = prepare(environment, folder)
        url = f"http://127.0.0.1:{port}/api/v1/query/stream"
        async with start_process("-m", "bot", "serve", "--web", environment=environment) as program:
            await wait_until_served(port)
            await ask_all(url, range(1000, 1003), token)  # warm up
            print("| streams at once | first word p50 s | max s | memory MiB |\n|---|---|---|---|")
            alone = [(await ask_all(url, [number], token))[0] for number in range(2000, 2005)]
            show("1", alone, f"{family_mib(program.pid):.0f}")
            direct = f"{model}/chat/completions"
            show(f"{streams}, the model itself", await ask_all(direct, range(streams), ""))
            for round_ in range(total // streams):
                times = await ask_all(url, range(3000 + round_ * streams, 3000 + (round_ + 1) * streams), token)
                show(f"{streams}, round {round_ + 1}", times, f"{family_mib(program.pid):.0f}")


def main() -> None:
    chosen = parse_arguments(__doc__, streams=50, total=500)
    with temporary_folder() as folder:
        asyncio.run(run(chosen.streams, chosen.total, Path(folder)))


if __name__ == "__main__":
    main()
