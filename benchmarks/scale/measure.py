"""Open a filled data directory, or database, as the program does, and measure.

`measure HOME DOCUMENTS SPACES FACTS ADDRESS AMOUNT [DATABASE]` prints a JSON line at each step. The model is a server
at ADDRESS, called through litellm in its own process; questions bring their keywords, so that retrieval calls no model.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.plumbing import resident_mib
from benchmarks.scale.corpus import Corpus, QuestionEmbedder
from engine import Engine, EngineOptions, Question
from engine.llm.client.client import ModelClient
from engine.llm.client.subprocess import SubprocessProvider
from engine.llm.config import CallTimeouts, ModelConfig
from engine.llm.remote_model import LiteLLMModel, LLMConfig
from engine.memory import raise_gc_threshold
from engine.text.tokenizer import O200kTokenizer

SCOPES = (1, 20, 200)  # spaces
MODES = ("mix", "local", "naive")
WARM_UP = 5  # questions
LOADING_SECONDS = 15.0  # after the first question, in which large tables of vectors are read into memory


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


def report(event: str, **figures: object) -> None:
    print(json.dumps({"event": event, **figures}), flush=True)


async def run(home: Path, corpus: Corpus, address: str, amount: int, database: str = "") -> None:
    provider = SubprocessProvider()
    calls = ModelClient(16, CallTimeouts(), provider)
    model = LiteLLMModel(LLMConfig(ModelConfig("hosted_vllm/stub", api_base=address)), calls, O200kTokenizer().count)
    preload = asyncio.create_task(calls.preload())
    options = replace(EngineOptions(), cache_answers=False, database=database)
    async with Engine.open(home, language=model, embedder=QuestionEmbedder(), options=options) as engine:
        report("open")
        [question] = corpus.build_questions(min(SCOPES), 1)
        answer = await engine.ask(question)
        report("first context", stages={name: round(spent, 1) for name, spent in answer.context.timings.items()})
        await anext(aiter(answer))
        report("first word")
        await answer.aclose()
        await asyncio.gather(preload, asyncio.sleep(LOADING_SECONDS))
        for spaces in (scope for scope in SCOPES if scope <= corpus.spaces):
            for mode in MODES:
                found = await measure_retrieval(engine, corpus, spaces, mode, amount)
                report("retrieval", **{name: getattr(found, name) for name in RetrievalFigures.__slots__})
        report("memory", main=resident_mib("self"), model=resident_mib(provider.pid or "self"))
    await calls.close()


def main() -> None:
    raise_gc_threshold()  # as the program does
    home, documents, spaces, facts, address, amount, *database = sys.argv[1:]
    asyncio.run(run(Path(home), Corpus(int(documents), int(spaces), int(facts)), address, int(amount), *database))


if __name__ == "__main__":
    main()
