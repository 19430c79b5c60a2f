"""Questions during ingest: `python -m benchmarks.questions_during_ingest --documents 10000`.

Milliseconds from asking to the first word, while that many chunks are being ingested, and idle before and after that,
since there is more to search by then; in one run. Every model call goes through litellm to the local stub.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from benchmarks.hashing import HashingEmbedder
from benchmarks.ingest import SCOPE, ingest, open_llm, wait_until_idle
from benchmarks.plumbing import milliseconds, parse_arguments, print_spread, temporary_folder
from benchmarks.synthetic import build_names
from engine import Engine, EngineOptions, Question
from engine.llm.client.subprocess import SubprocessProvider
from engine.memory import raise_gc_threshold

QUESTIONS = 50
BEFORE = 500  # documents that are there already, so that idle questions have something to find


async def measure_first_words(engine: Engine, numbers: Iterator[int], asked: int, pause: float = 0.0) -> list[float]:
    """Milliseconds to the first word of each question."""
    names, times = build_names(), list[float]()
    for _ in range(asked):
        number = next(numbers)
        a, b = names[(number * 37) % 1500], names[(number * 101 + 7) % 1500]

        async def wait_for_first_word(text: str = f"What does {a} do for {b} in the case {number}?") -> None:
            answer = await engine.ask(Question(text, SCOPE))
            await anext(aiter(answer))
            await answer.aclose()

        times.append(await milliseconds(wait_for_first_word()))
        await asyncio.sleep(pause)
    return times


async def run(documents: int, home: Path) -> tuple[dict[str, list[float]], bool]:
    """First words before, during and after the ingest; and whether the ingest outlasted the questions."""
    options, numbers = replace(EngineOptions(), cache_answers=False), count()
    async with (
        open_llm(SubprocessProvider()) as model,
        Engine.open(home, language=model, embedder=HashingEmbedder(), options=options) as engine,
    ):
        await ingest(engine, BEFORE)
        await measure_first_words(engine, numbers, 5)
        times = {"idle before": await measure_first_words(engine, numbers, QUESTIONS)}
        ingesting = asyncio.create_task(ingest(engine, documents, BEFORE))
        await asyncio.sleep(5)
        times["while ingesting"] = await measure_first_words(engine, numbers, QUESTIONS, pause=0.5)
        outlasted = not ingesting.done()
        ingesting.cancel()
        await asyncio.gather(ingesting, return_exceptions=True)
        await engine.wait_until_indexed()
        await wait_until_idle()
        times["idle after"] = await measure_first_words(engine, numbers, QUESTIONS)
    return times, outlasted


def main() -> None:
    documents = parse_arguments(__doc__, documents=10_000).documents
    raise_gc_threshold()  # as the program does
    with temporary_folder() as folder:
        times, outlasted = asyncio.run(run(documents, Path(folder)))
    print("| first word | p50 ms | p95 ms |\n|---|---|---|")
    for name, spent in times.items():
        print_spread(name, spent)
    idle = [*times["idle before"], *times["idle after"]]
    ratio = statistics.median(times["while ingesting"]) / statistics.median(idle)
    print(f"ratio of p50 to all idle ones: {ratio:.2f}; the ingest outlasted them: {outlasted}")


if __name__ == "__main__":
    main()
