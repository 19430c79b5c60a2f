"""Large files from end to end: a log, a PDF, tables, records and a chat, each parsed, stored and asked meanwhile.

`python -m benchmarks.large_files [log pdf csv xlsx records chat]`, each in a process of its own. The vectors are
hashed words and facts come from a rule, so that parsing and storing are measured; a part is found by its words once it
is stored.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from random import Random

import psutil  # type: ignore[import-untyped]

from engine import Document, Engine, EngineOptions, FileParser, ParserLimits, Question, Scope
from tests.engine.parsers.samples import pdf, xlsx
from tests.support.fake_embedder import HashEmbedder
from tests.support.toy_language import ToyLanguage

WORDS = ("ferry", "harbor", "ledger", "winter", "morning", "captain", "repair", "budget", "engine", "signal", "island")
SPACE, ROOM = "bench", "files"
SCOPE = Scope.of(SPACE)
LOG_SIZE, PAGES, ROWS, RECORDS, MESSAGES = 10 * 2**20, 2000, 1_000_000, 200_000, 100_000


def make_log(random: Random) -> bytes:
    line = "2026-11-23T10:00:00Z INFO {} ".format
    lines = (line(" ".join(random.choices(WORDS, k=8))) + str(number) for number in range(LOG_SIZE // 80))
    return "\n".join(lines).encode()


def make_pdf(random: Random) -> bytes:
    return pdf([[" ".join(random.choices(WORDS, k=10)) + "." for _ in range(45)] for _ in range(PAGES)])


def make_csv(random: Random) -> bytes:
    rows = (f"{number},{random.choice(WORDS)} {random.choice(WORDS)},{number % 9973}" for number in range(ROWS))
    return "\n".join(("id,name,amount", *rows)).encode()


def make_chat(random: Random) -> bytes:
    moment, lines = datetime(2026, 1, 1, tzinfo=UTC), []
    for number in range(MESSAGES):
        moment += timedelta(seconds=random.choice((20, 60, 1500)))
        text = " ".join(random.choices(WORDS, k=12))
        lines.append(json.dumps({"id": str(number), "user": "ada", "text": text, "time": moment.isoformat()}))
    return "\n".join(lines).encode()


def make_workbook(random: Random) -> bytes:
    rows = ((number, f"{random.choice(WORDS)} {random.choice(WORDS)}", number % 9973) for number in range(ROWS))
    return xlsx({"Data": chain([("id", "name", "amount")], rows)})


def make_records(random: Random) -> bytes:
    lines = (
        json.dumps({"order": number, "item": " ".join(random.choices(WORDS, k=6)), "place": {"shelf": number % 97}})
        for number in range(RECORDS)
    )
    return "\n".join(lines).encode()


FILES: dict[str, tuple[str, Callable[[Random], bytes]]] = {
    "log": ("server.log", make_log),
    "pdf": ("book.pdf", make_pdf),
    "csv": ("table.csv", make_csv),
    "xlsx": ("table.xlsx", make_workbook),
    "records": ("orders.jsonl", make_records),
    "chat": ("chat.jsonl", make_chat),
}


@asynccontextmanager
async def open_engine() -> AsyncIterator[Engine]:
    with tempfile.TemporaryDirectory() as home:
        options = EngineOptions(extraction_concurrency=1)
        async with Engine.open(home, language=ToyLanguage(), embedder=HashEmbedder(), options=options) as engine:
            yield engine


async def watch_memory(parser: FileParser, peaks: dict[str, int]) -> None:
    """Record the largest resident memory of the worker and of this process, in bytes."""
    while True:
        for name, pid in {"worker": parser._processes[0].pid, "program": os.getpid()}.items():
            if pid:
                peaks[name] = max(peaks.get(name, 0), psutil.Process(pid).memory_info().rss)
        await asyncio.sleep(0.05)


async def measure(kind: str) -> None:
    """Parse and store one file, and print a row of the table."""
    name, make = FILES[kind]
    data, peaks, parts, first = make(Random(1)), dict[str, int](), 0, 0.0
    base = psutil.Process().memory_info().rss
    async with FileParser(ParserLimits(workers=1)) as parser, open_engine() as engine:
        watch = asyncio.create_task(watch_memory(parser, peaks))
        began = time.monotonic()
        async with aclosing(parser.stream(name, data)) as documents:
            async for document in documents:
                await engine.documents.add(
                    Document(f"{name}#{document.key}", SPACE, ROOM, document.title, document.passages, kind="file")
                )
                parts += 1
                if not first:
                    found = await engine.retrieve(Question("harbor ledger", SCOPE, mode="naive"))
                    first = time.monotonic() - began
                    assert found.sources
        took = time.monotonic() - began
        watch.cancel()
    print(
        f"| {kind}, {len(data) / 2**20:.0f} MiB | {parts} | {first:.1f} s | {took:.0f} s"
        f" | {peaks['worker'] / 2**20:.0f} MiB | {(peaks['program'] - base) / 2**20:.0f} MiB |",
        flush=True,
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("kinds", nargs="*", choices=[[], *FILES], default=[])
    chosen = options.parse_args().kinds
    if len(chosen) == 1:
        asyncio.run(measure(chosen[0]))
        return
    print("| file | parts | first part found | all stored | peak of the parser | growth of the program |")
    print("|---|---|---|---|---|---|")
    for kind in chosen or FILES:
        subprocess.run([sys.executable, "-m", "benchmarks.large_files", kind], check=True, cwd=Path.cwd())


if __name__ == "__main__":
    main()
