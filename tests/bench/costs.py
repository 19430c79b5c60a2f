"""What single steps cost as a folder grows: `python -m tests.bench.costs [--small N] [--large N]`.

Each row is measured in a small and in a large folder: texts or tokens that are embedded, calls that are made, or
milliseconds of processor time. What is bounded does not grow with the folder.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from engine.engine import Engine
from engine.models import Document, Filters, Passage, Question
from engine.options import EngineOptions
from engine.text.tokenizer import O200kTokenizer
from tests.support.engine_fixture import HERE, thread
from tests.support.fake_embedder import HashEmbedder
from tests.support.toy_language import ToyLanguage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from typing import Any

START = datetime(2026, 1, 1, tzinfo=UTC)
WINDOW = 24  # messages of an open conversation
WORDS = ("ferry", "roof", "bread", "lamp", "rope", "goat", "tide", "net")


def number_word(number: int) -> str:
    """A number as a word of letters: names have no digits here."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:05}")


def build_message(number: int, minutes: int = 0) -> Passage:
    """A message of about 25 tokens."""
    said = f"what of the {WORDS[number % len(WORDS)]} number {number}, and who looks after it?"
    when = START + timedelta(minutes=minutes or number)
    return Passage(f"m{number:06}", f"[{when:%Y-%m-%d %H:%M}] Ada: {said}", author="Ada", time=when)


@asynccontextmanager
async def open_bench_engine(home: Path, language: ToyLanguage, embedder: HashEmbedder) -> AsyncIterator[Engine]:
    """An engine on the real stores."""
    async with Engine.open(home, language=language, embedder=embedder, options=EngineOptions()) as engine:
        yield engine


async def measure_merge(home: Path, size: int) -> float:
    """Texts embedded for one more merge, in a space with so many merged names (a hundredth of the size)."""
    embedder, merged = HashEmbedder(), max(2, size // 100)
    async with open_bench_engine(home, ToyLanguage(), embedder) as engine:
        lines = tuple(
            Passage(f"p{n}", f"A{number_word(n)} met B{number_word(n)}.", position=n) for n in range(merged + 1)
        )
        await engine.add(Document("d", "here", "hall", "D", lines))
        await engine.wait_until_indexed()
        for number in range(merged):
            await engine.merge("here", f"A{number_word(number)}", f"B{number_word(number)}")
        await engine.wait_until_indexed()
        embedder.texts.clear()
        await engine.merge("here", f"A{number_word(merged)}", f"B{number_word(merged)}")
        await engine.wait_until_indexed()
        return len(embedder.texts)


async def measure_thread_message(home: Path, size: int) -> float:
    """Milliseconds of processor time for one more message in the middle of a thread of so many."""
    async with open_bench_engine(home, ToyLanguage(), HashEmbedder()) as engine:
        passages = tuple(build_message(n) for n in range(size))
        await engine.add(Document("d", "here", "hall", "D", passages, START, kind="conversation", is_open=True))
        await engine._worker.stop()
        took = []
        for number in range(5):
            since = time.process_time()
            await engine.amend("d", upsert=[build_message(size + number, minutes=size // 2)])
            took.append(time.process_time() - since)
        return 1000 * min(took)


def measure_filtered(within: Callable[[int], Filters]) -> Callable[[Path, int], Coroutine[Any, Any, float]]:
    """Milliseconds of processor time to recall for a narrowed question, among so many messages."""

    async def cost(home: Path, size: int) -> float:
        async with open_bench_engine(home, ToyLanguage(), HashEmbedder()) as engine:
            for first in range(0, size, 20):
                passages = tuple(build_message(n) for n in range(first, min(size, first + 20)))
                made = Document(f"d{first:06}", "here", "hall", "D", passages, kind="conversation")
                await engine.add(made)
            await engine.wait_until_indexed()
            question = Question("Who looks after the ferry?", HERE, filters=within(size), low=("ferry",))
            took = []
            for _ in range(5):
                since = time.process_time()
                await engine.retrieve(question)
                took.append(time.process_time() - since)
            return 1000 * min(took)

    return cost


async def measure_open_window(home: Path, size: int) -> float:
    """Tokens embedded for each token of a window, from its first message to its end."""
    embedder, count = HashEmbedder(), O200kTokenizer().count
    async with open_bench_engine(home, ToyLanguage(), embedder) as engine:
        await engine.add(replace(thread("w", "x"), passages=(build_message(0),)))
        for number in range(1, WINDOW):
            await engine.wait_until_indexed()
            await engine.amend("w", upsert=[build_message(number)])
        await engine.wait_until_indexed()
        await engine.amend("w", is_open=False)
        await engine.wait_until_indexed()
        text = sum(count(build_message(number).text) for number in range(WINDOW))
        return sum(count(each) for each in embedder.texts if each.startswith("[")) / text


async def measure_repeated_question(home: Path, size: int) -> float:
    """Calls for keywords of a question that is asked ten times."""
    language = ToyLanguage()
    async with open_bench_engine(home, language, HashEmbedder()) as engine:
        await engine.add(replace(thread("w", "x"), passages=(build_message(0),)))
        await engine.wait_until_indexed()
        for _ in range(10):
            await engine.retrieve(Question("Who looks after the ferry?", HERE))
        return language.calls["condense"]


ROWS: dict[str, Callable[[Path, int], Coroutine[Any, Any, float]]] = {
    "merge, texts embedded": measure_merge,
    "message in a thread, ms": measure_thread_message,
    "question, ms": measure_filtered(lambda _: Filters()),
    "question since yesterday, ms": measure_filtered(lambda size: Filters(since=START + timedelta(minutes=size - 200))),
    "question since the beginning, ms": measure_filtered(lambda _: Filters(since=START)),
    "question about one document, ms": measure_filtered(lambda _: Filters(documents=frozenset({"d000040"}))),
    "question about an author of all, ms": measure_filtered(lambda _: Filters(authors=frozenset({"Ada"}))),
    "open window, embedded/own tokens": measure_open_window,
    "question asked ten times, keyword calls": measure_repeated_question,
}


def main() -> None:
    """Print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=int, default=1000)
    parser.add_argument("--large", type=int, default=10_000)
    options = parser.parse_args()
    out = sys.stdout.write
    out(f"{'messages':42}{options.small:>10,}{options.large:>10,}\n")
    for name, cost in ROWS.items():
        made = list[float]()
        for size in (options.small, options.large):
            with tempfile.TemporaryDirectory() as home:
                made.append(asyncio.run(cost(Path(home), size)))
        out(f"{name:42}{made[0]:>10.1f}{made[1]:>10.1f}\n")


if __name__ == "__main__":
    main()
