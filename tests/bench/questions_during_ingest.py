"""Questions while documents pour in: `python -m tests.bench.questions_during_ingest --documents 10000`.

Milliseconds from asking to the first word, while that many chunks are being ingested, and idle before and after that,
since there is more to search by then; in one run. Every model call goes through litellm to the local stub.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from engine import Engine, EngineOptions, Question
from engine.llm.client.subprocess import SubprocessProvider
from engine.memory import raise_gc_threshold
from tests.bench.hashing import HashingEmbedder
from tests.bench.ingest import SCOPE, ingest, open_llm, wait_until_idle
from tests.bench.synthetic import build_names

QUESTIONS = 50
BEFORE = 500  # documents that are there already, so that idle questions have something to find


async def measure_first_token(engine: Engine, number: int) -> float:
    """Milliseconds to the first word of one question."""
    everyone = build_names()
    a, b = everyone[(number * 37) % 1500], everyone[(number * 101 + 7) % 1500]
    since = time.perf_counter()
    answer = await engine.ask(Question(f"What does {a} do for {b} in the case {number}?", SCOPE))
    async for _ in answer:
        spent = (time.perf_counter() - since) * 1000
        break
    await answer.aclose()
    return spent


async def run(count: int, home: Path) -> tuple[list[float], list[float], list[float], bool]:
    """First words idle, during the ingest, and idle after it; and whether the ingest outlasted the questions."""
    options = replace(EngineOptions(), cache_answers=False)
    async with (
        open_llm(SubprocessProvider()) as model,
        Engine.open(home, language=model, embedder=HashingEmbedder(), options=options) as engine,
    ):
        await ingest(engine, BEFORE)
        for number in range(5):
            await measure_first_token(engine, number)
        idle = [await measure_first_token(engine, number) for number in range(QUESTIONS)]
        pouring = asyncio.create_task(ingest(engine, count, BEFORE))
        await asyncio.sleep(5)
        busy = []
        for number in range(QUESTIONS):
            busy.append(await measure_first_token(engine, number + QUESTIONS))
            await asyncio.sleep(0.5)
        lasted = not pouring.done()
        pouring.cancel()
        await asyncio.gather(pouring, return_exceptions=True)
        await engine.wait_until_indexed()
        await wait_until_idle()
        after = [await measure_first_token(engine, number + 2 * QUESTIONS) for number in range(QUESTIONS)]
    return idle, busy, after, lasted


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    chosen = parser.parse_args()
    raise_gc_threshold()  # as the program does
    with tempfile.TemporaryDirectory(prefix="threadlore-bench-") as folder:
        idle, busy, after, lasted = asyncio.run(run(chosen.documents, Path(folder)))
    print("| first word | p50 ms | p95 ms |")
    print("|---|---|---|")
    for name, spent in (("idle before", idle), ("while ingesting", busy), ("idle after", after)):
        print(f"| {name} | {statistics.median(spent):.0f} | {statistics.quantiles(spent, n=20)[-1]:.0f} |")
    ratio = statistics.median(busy) / statistics.median([*idle, *after])
    print(f"ratio of p50 to all idle ones: {ratio:.2f}; the ingest outlasted them: {lasted}")


if __name__ == "__main__":
    main()
