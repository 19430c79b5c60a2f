"""How fast documents go in, whether it stays so, and what the folder is like at several sizes.

`python -m benchmarks.ingest --documents 1000 10000 50000` lets one folder grow. At each size it waits until all is
settled, then until the stores have put themselves in order, and measures recall, memory and disk. Every model call
really goes through litellm to the local stub (a process of its own), which answers at once. With `--databases files
postgres`, files are measured, then a PostgreSQL server that is started for the run, with its data in memory where there
is enough. With `--processes 3`, two more engines share the work on the database, each with a stub of its own. A line
tells how long the lock of writers was held, at what, and how many waited for it; with `--transactions`, a table follows
of what each kind of write costs while its transaction holds the lock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import statistics
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from benchmarks.hashing import HashingEmbedder
from benchmarks.plumbing import (
    disk_mib,
    resident_mib,
    start_model_server,
    start_postgres,
    start_process,
    temporary_folder,
)
from benchmarks.synthetic import build_document, build_names
from benchmarks.writer_lock import measured_transactions, watched_lock
from engine import Engine, EngineOptions, Question, Scope
from engine.llm.client.client import ModelClient
from engine.llm.client.subprocess import SubprocessProvider
from engine.llm.config import CallTimeouts, ModelConfig
from engine.llm.remote_model import LiteLLMModel, LLMConfig
from engine.memory import raise_gc_threshold
from engine.text.tokenizer import O200kTokenizer

SCOPE = Scope(frozenset({"bench"}), frozenset())
SEARCHES = ("vectors chunks", "vectors entities", "vectors relations", "words", "graph")
SLICES = 5
MAX_PENDING = 100  # documents that may wait to be read, so that adding does not run far ahead of the work
CHECK_EVERY = 20  # documents from one look at how many wait to the next
QUESTIONS = 60
REST, LONGEST_REST = 15.0, 240.0  # seconds; the stores put themselves in order when nothing is written
CALM, LOOK = 0.1, 3.0  # of a core, and seconds for which it is looked at


@dataclass(frozen=True, slots=True)
class SizeFigures:
    """What a folder of that size came to: documents a second from the first on, and by slice; ms of recall; MiB."""

    documents: int
    rate: float
    slices: list[float]
    recall: dict[str, float]
    slowest: float
    resident: float
    disk: float


@asynccontextmanager
async def open_llm(apart: SubprocessProvider) -> AsyncIterator[LiteLLMModel]:
    """The real language on the stub, as `hosted_vllm`: the same wire, without the SDK of a provider in between."""
    async with start_model_server("benchmarks.synthetic:build_reply") as base:
        calls = ModelClient(16, CallTimeouts(), apart)
        await calls.preload()
        try:
            yield LiteLLMModel(LLMConfig(ModelConfig("hosted_vllm/stub", api_base=base)), calls, O200kTokenizer().count)
        finally:
            await calls.close()


async def ingest(engine: Engine, count: int, start: int = 0) -> list[float]:
    """Add documents and wait until all are settled; gives documents read a second by slice.

    The last slice ends when all is settled, not read alone.
    """
    rates: list[float] = []
    size, told, since = count // SLICES, 0, time.perf_counter()

    def cut(read: int) -> None:
        nonlocal told, since
        now = time.perf_counter()
        rates.append((read - told) / (now - since))
        told, since = read, now

    for added in range(1, count + 1):
        await engine.documents.add(build_document(start + added - 1))
        if added % CHECK_EVERY == 0 or added == count:
            may_wait = MAX_PENDING if added < count else size
            while (unread := (await engine.maintenance.get_status(SCOPE)).unextracted) > may_wait:  # noqa: ASYNC110 - no event tells of it
                await asyncio.sleep(0.02)
            if added - unread >= size * (len(rates) + 1) and len(rates) < SLICES - 1:
                cut(added - unread)
    await engine.wait_until_indexed()
    cut(count)
    return rates


async def measure_retrieval(engine: Engine, count: int = QUESTIONS) -> tuple[dict[str, float], float]:
    """Median milliseconds of recall in mix mode by stage, and the median of the slowest single search."""
    names, times = build_names(), list[float]()
    stages: list[Mapping[str, float]] = []
    for number in range(count + 5):
        a, b = names[(number * 37) % 3000], names[(number * 101 + 7) % 3000]
        question = Question(f"What does {a} do for {b} in the case?", SCOPE, high=("case", "pays"), low=(a, b))
        since = time.perf_counter()
        stages.append((await engine.retrieve(question)).timings)
        times.append((time.perf_counter() - since) * 1000)
    times, stages = times[5:], stages[5:]
    medians = {name: statistics.median(stage.get(name, 0.0) for stage in stages) for name in sorted({*chain(*stages)})}
    slowest = statistics.median(max(stage.get(name, 0.0) for name in SEARCHES) for stage in stages)
    return {"all": statistics.median(times), **medians}, slowest


async def wait_until_idle() -> None:
    """Until the stores have put themselves in order, which shows in what this process still computes."""
    since = time.monotonic()
    while (waited := time.monotonic() - since) < LONGEST_REST:
        before = time.process_time()
        await asyncio.sleep(LOOK)
        if waited > REST and time.process_time() - before < CALM * LOOK:
            return


@asynccontextmanager
async def helping_processes(count: int, home: Path, options: EngineOptions) -> AsyncIterator[list[Process]]:
    """More processes that share the work on the database."""
    processes = list[Process]()
    async with AsyncExitStack() as stack:
        for number in range(count):
            arguments = ("-m", "benchmarks.ingest", "--help-out", options.database, "--home", f"{home}-{number}")
            processes.append(await stack.enter_async_context(start_process(*arguments)))
            await read_line(processes[-1])
        yield processes


async def read_line(process: Process) -> str:
    """The next line that a process prints."""
    assert process.stdout is not None
    if not (line := await process.stdout.readline()):
        raise RuntimeError("A process has ended before it said what was asked.")
    return line.decode()


async def help_out(home: Path, options: EngineOptions) -> None:
    """Share the work on the database until the process is ended; print the costs of transactions when asked to."""
    with measured_transactions() as meter:
        async with (
            open_llm(SubprocessProvider()) as model,
            Engine.open(home, language=model, embedder=HashingEmbedder(), options=options),
        ):
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, lambda: print(meter.to_json(), flush=True))
            print("ready", flush=True)
            await asyncio.Event().wait()


@asynccontextmanager
async def shown_transactions(documents: int, helpers: Sequence[Process]) -> AsyncIterator[None]:
    """Print what the transactions of all processes cost meanwhile, for each document."""
    with measured_transactions() as meter:
        yield
    for helper in helpers:
        helper.send_signal(signal.SIGUSR1)
        while not (line := await read_line(helper)).startswith("{"):  # a message of its log
            continue
        meter.add_json(line)
    print(meter.format_table(documents), flush=True)


async def run(
    sizes: list[int], home: Path, options: EngineOptions, processes: int = 1, *, transactions: bool = False
) -> None:
    """Let one folder grow from nothing to each of the sizes, and show a row at each.

    `transactions`: and, the first time, what they cost.
    """
    spent, held, slices, apart = 0.0, 0, list[float](), SubprocessProvider()
    async with (
        open_llm(apart) as model,
        Engine.open(home, language=model, embedder=HashingEmbedder(), options=options) as engine,
        helping_processes(processes - 1, home, options) as helpers,
    ):
        for size in sorted(sizes):
            since = time.perf_counter()
            async with AsyncExitStack() as watching:
                if options.database:
                    await watching.enter_async_context(watched_lock(options.database))
                if transactions and options.database and not held:
                    await watching.enter_async_context(shown_transactions(size, helpers))
                slices += await ingest(engine, size - held, held)
            spent, held = spent + time.perf_counter() - since, size
            after = resident_mib("self", apart.pid or "self")
            await wait_until_idle()
            stages, slowest = await measure_retrieval(engine)
            memory = max(after, resident_mib("self", apart.pid or "self"))
            figures = SizeFigures(size, size / spent, slices, stages, slowest, memory, disk_mib(home))
            print_figures("postgres" if options.database else "files", figures)


def print_figures(database: str, figures: SizeFigures) -> None:
    """One row of the table, and the stages of recall."""
    slices = " ".join(f"{rate:.0f}" for rate in figures.slices)
    last_to_first = figures.slices[-1] / figures.slices[0]
    print(
        f"| {database} | {figures.documents:,} | {figures.rate:.1f} | {slices} | {last_to_first:.2f} "
        f"| {figures.recall['all']:.0f} | {figures.recall['all'] / figures.slowest:.1f} "
        f"| {figures.resident:.0f} | {figures.disk:.0f} |"
    )
    print("  " + json.dumps({stage: round(spent, 1) for stage, spent in figures.recall.items()}), flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--graph", choices=["kuzu", "ladybug"], default="kuzu")
    parser.add_argument("--databases", choices=["files", "postgres"], nargs="+", default=["files"])
    parser.add_argument("--home", type=Path, help="keep the folder here")
    parser.add_argument("--processes", type=int, default=1, help="engines that share the work on the database")
    parser.add_argument("--transactions", action="store_true", help="show what each kind of write costs")
    parser.add_argument("--help-out", default="", help="share the work on the database with this address")
    chosen = parser.parse_args()
    raise_gc_threshold()  # as the program does
    if chosen.help_out:
        asyncio.run(help_out(chosen.home, replace(EngineOptions(), database=chosen.help_out, cache_answers=False)))
    columns = ("database", "documents", "docs/s", "by slices", "last/first", "recall p50 ms", "x slowest search")
    print(f"| {' | '.join(columns)} | MiB resident | on disk |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for database in chosen.databases:
        with temporary_folder() as folder, start_postgres() if database == "postgres" else nullcontext("") as url:
            options = EngineOptions(database=url, graph_backend=chosen.graph, cache_answers=False)
            processes = chosen.processes if url else 1
            home = chosen.home or Path(folder) / "home"
            asyncio.run(run(chosen.documents, home, options, processes, transactions=chosen.transactions))


if __name__ == "__main__":
    main()
