"""Open a filled data directory, or database, as the program does, and measure.

`measure HOME DOCUMENTS SPACES FACTS ADDRESS AMOUNT MEMORY LOADING MODES UPKEEP [DATABASE]` prints a JSON line at each
step. The model is a server at ADDRESS, called through litellm in its own process; questions bring their keywords, so
that retrieval calls no model.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, cycle
from pathlib import Path

from benchmarks.plumbing import resident_mib
from benchmarks.scale.corpus import Corpus, QuestionEmbedder
from engine import Engine, EngineOptions, Question
from engine.llm.client.client import ModelClient
from engine.llm.client.subprocess import SubprocessProvider
from engine.llm.config import CallTimeouts, ModelConfig
from engine.llm.remote_model import LiteLLMModel, LLMConfig
from engine.memory import raise_gc_threshold
from engine.options import CopySizes
from engine.text.tokenizer import O200kTokenizer

SCOPES = (1, 20, 200)  # spaces
WARM_UP = 5  # questions
FORGOTTEN = 20  # documents, before a compaction
PAUSE_SECONDS = 0.5  # of somebody who asks, and of somebody who writes


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """Milliseconds of retrieval: wall, processor (mean), and the median of each stage."""

    spaces: int
    mode: str
    p50: float
    p95: float
    processor: float
    stages: dict[str, float]


async def measure_retrieval(engine: Engine, corpus: Corpus, spaces: int, mode: str, amount: int) -> RetrievalFigures:
    """Retrieve for different questions, one after the other."""
    questions: Iterable[Question] = corpus.build_questions(spaces, amount + WARM_UP)
    times, stages, processor = list[float](), list[dict[str, float]](), 0.0
    for number, question in enumerate(questions):
        began, busy = time.perf_counter(), time.process_time()
        context = await engine.retrieve(replace(question, mode=mode))  # type: ignore[arg-type]  # one of MODES
        if number >= WARM_UP:
            times.append((time.perf_counter() - began) * 1000)
            processor += (time.process_time() - busy) * 1000
            stages.append(dict(context.timings))
    names = sorted({name for stage in stages for name in stage})
    medians = {name: round(statistics.median(stage.get(name, 0.0) for stage in stages), 1) for name in names}
    p95 = statistics.quantiles(times, n=20)[-1]
    return RetrievalFigures(spaces, mode, statistics.median(times), p95, processor / len(times), medians)


@dataclass(slots=True)
class Beside:
    """What is asked and written while something else runs, in milliseconds."""

    engine: Engine
    corpus: Corpus
    asked: list[float] = field(default_factory=list)
    written: list[float] = field(default_factory=list)
    _unfinished: str = ""  # the document that is written, and forgotten at the end if its writer is cancelled

    async def run(self, work: Awaitable[object]) -> float:
        """Ask and write, one after the other, until the work is done; returns its seconds.

        Raises what asking or writing raised meanwhile.
        """
        began = time.perf_counter()
        users = [asyncio.create_task(each()) for each in (self._ask, self._write)]
        try:
            await work
            seconds = time.perf_counter() - began
        finally:
            for user in users:
                user.cancel()
            ended = await asyncio.gather(*users, return_exceptions=True)
            await self.engine.documents.forget(self._unfinished)
        for error in ended:
            if isinstance(error, BaseException) and not isinstance(error, asyncio.CancelledError):
                raise error
        return seconds

    async def _ask(self) -> None:
        for question in cycle(self.corpus.build_questions(min(20, self.corpus.spaces), 40)):
            began = time.perf_counter()
            await self.engine.retrieve(question)
            self.asked.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(PAUSE_SECONDS)

    async def _write(self) -> None:
        for number in count(self.corpus.documents):
            began, self._unfinished = time.perf_counter(), f"doc-{number}"
            await self.engine.documents.add(self.corpus.build_document(number))
            self.written.append((time.perf_counter() - began) * 1000)
            await self.engine.documents.forget(self._unfinished)
            await asyncio.sleep(PAUSE_SECONDS)


async def measure_upkeep(engine: Engine, corpus: Corpus, folder: Path) -> None:
    """Compact and back up, while others ask and write."""
    for number in range(min(FORGOTTEN, corpus.documents)):
        await engine.documents.forget(f"doc-{number}")
    for name, work in (("compaction", engine.maintenance.compact), ("backup", partial(_back_up, engine, folder))):
        beside = Beside(engine, corpus)
        seconds = await beside.run(work())
        figures = {"asked": describe(beside.asked), "written": describe(beside.written)}
        report("upkeep", work=name, seconds=round(seconds, 1), **figures)


async def _back_up(engine: Engine, folder: Path) -> None:
    file = folder / "backup.db"
    await engine.maintenance.backup(file)
    file.unlink()


def describe(times: list[float]) -> dict[str, float]:
    """How many, their median, and the longest."""
    return {"n": len(times), "p50": round(statistics.median(times or [0.0])), "max": round(max(times, default=0.0))}


def report(event: str, **figures: object) -> None:
    print(json.dumps({"event": event, **figures}), flush=True)


@dataclass(frozen=True, slots=True)
class Run:
    """`amount`: of questions for each scope and mode. `memory`: MiB that the process stays below; 0: the default.

    `loading`: seconds after the first question, in which large tables of vectors are read into memory.
    """

    amount: int
    memory: int
    loading: float
    modes: tuple[str, ...]
    has_upkeep: bool = False
    database: str = ""

    @property
    def options(self) -> EngineOptions:
        """The options of the engine."""
        copies = CopySizes.divide(self.memory << 20, has_database=bool(self.database)) if self.memory else CopySizes()
        return replace(
            EngineOptions(),
            cache_answers=False,
            database=self.database,
            vector_cache_bytes=copies.vectors,
            word_cache_bytes=copies.words,
            graph_cache_bytes=copies.graph,
        )


async def run(home: Path, corpus: Corpus, address: str, chosen: Run) -> None:
    provider = SubprocessProvider()
    calls = ModelClient(16, CallTimeouts(), provider)
    model = LiteLLMModel(LLMConfig(ModelConfig("hosted_vllm/stub", api_base=address)), calls, O200kTokenizer().count)
    preload = asyncio.create_task(calls.preload())
    async with Engine.open(home, language=model, embedder=QuestionEmbedder(), options=chosen.options) as engine:
        report("open")
        [question] = corpus.build_questions(min(SCOPES), 1)
        answer = await engine.ask(question)
        report("first context", stages={name: round(spent, 1) for name, spent in answer.context.timings.items()})
        await anext(aiter(answer))
        report("first word")
        await answer.aclose()
        report("memory", main=resident_mib("self"), own=anonymous_mib(), model=resident_mib(provider.pid or "self"))
        await asyncio.gather(preload, asyncio.sleep(chosen.loading))
        for spaces in (scope for scope in SCOPES if scope <= corpus.spaces):
            for mode in chosen.modes:
                found = await measure_retrieval(engine, corpus, spaces, mode, chosen.amount)
                report("retrieval", **{name: getattr(found, name) for name in RetrievalFigures.__slots__})
        report("memory", main=resident_mib("self"), own=anonymous_mib(), model=resident_mib(provider.pid or "self"))
        if chosen.has_upkeep:
            await measure_upkeep(engine, corpus, home.parent)
    await calls.close()


def anonymous_mib() -> float:
    """MiB of memory of this process that no file holds."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


def main() -> None:
    raise_gc_threshold()  # as the program does
    home, documents, spaces, facts, address, amount, memory, loading, modes, upkeep, *database = sys.argv[1:]
    chosen = Run(int(amount), int(memory), float(loading), tuple(modes.split(",")), bool(int(upkeep)), *database)
    asyncio.run(run(Path(home), Corpus(int(documents), int(spaces), int(facts)), address, chosen))


if __name__ == "__main__":
    main()
