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
from engine.models import Document, Passage, Question, Within
from engine.options import Options
from engine.text.tokenizer import O200k
from tests.support.embedder import HashEmbedder
from tests.support.engines import HERE, thread
from tests.support.language import ToyLanguage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from typing import Any

START = datetime(2026, 1, 1, tzinfo=UTC)
WINDOW = 24  # messages of an open conversation
WORDS = ("ferry", "roof", "bread", "lamp", "rope", "goat", "tide", "net")


def letters(number: int) -> str:
    """A number as a word of letters: names have no digits here."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:05}")


def message(number: int, minutes: int = 0) -> Passage:
    """A message of about 25 tokens."""
    said = f"what of the {WORDS[number % len(WORDS)]} number {number}, and who looks after it?"
    when = START + timedelta(minutes=minutes or number)
    return Passage(f"m{number:06}", f"[{when:%Y-%m-%d %H:%M}] Ada: {said}", author="Ada", time=when)


@asynccontextmanager
async def opened(home: Path, language: ToyLanguage, embedder: HashEmbedder) -> AsyncIterator[Engine]:
    """An engine on the real stores."""
    async with Engine.open(home, language=language, embedder=embedder, options=Options()) as engine:
        yield engine


async def merge(home: Path, size: int) -> float:
    """Texts embedded for one more merge, in a space with so many merged names (a hundredth of the size)."""
    embedder, merged = HashEmbedder(), max(2, size // 100)
    async with opened(home, ToyLanguage(), embedder) as engine:
        lines = tuple(Passage(f"p{n}", f"A{letters(n)} met B{letters(n)}.", position=n) for n in range(merged + 1))
        await engine.add(Document("d", "here", "hall", "D", lines))
        await engine.settled()
        for number in range(merged):
            await engine.merge("here", f"A{letters(number)}", f"B{letters(number)}")
        await engine.settled()
        embedder.texts.clear()
        await engine.merge("here", f"A{letters(merged)}", f"B{letters(merged)}")
        await engine.settled()
        return len(embedder.texts)


async def a_message_in_a_thread(home: Path, size: int) -> float:
    """Milliseconds of processor time for one more message in the middle of a thread of so many."""
    async with opened(home, ToyLanguage(), HashEmbedder()) as engine:
        passages = tuple(message(n) for n in range(size))
        await engine.add(Document("d", "here", "hall", "D", passages, START, kind="conversation", open=True))
        await engine._worker.stop()
        took = []
        for number in range(5):
            since = time.process_time()
            await engine.amend("d", put=[message(size + number, minutes=size // 2)])
            took.append(time.process_time() - since)
        return 1000 * min(took)


def narrowed(within: Callable[[int], Within]) -> Callable[[Path, int], Coroutine[Any, Any, float]]:
    """Milliseconds of processor time to recall for a narrowed question, among so many messages."""

    async def cost(home: Path, size: int) -> float:
        async with opened(home, ToyLanguage(), HashEmbedder()) as engine:
            for first in range(0, size, 20):
                passages = tuple(message(n) for n in range(first, min(size, first + 20)))
                made = Document(f"d{first:06}", "here", "hall", "D", passages, kind="conversation")
                await engine.add(made)
            await engine.settled()
            question = Question("Who looks after the ferry?", HERE, within=within(size), low=("ferry",))
            took = []
            for _ in range(5):
                since = time.process_time()
                await engine.recall(question)
                took.append(time.process_time() - since)
            return 1000 * min(took)

    return cost


async def an_open_window(home: Path, size: int) -> float:
    """Tokens embedded for each token of a window, from its first message to its end."""
    embedder, count = HashEmbedder(), O200k().count
    async with opened(home, ToyLanguage(), embedder) as engine:
        await engine.add(replace(thread("w", "x"), passages=(message(0),)))
        for number in range(1, WINDOW):
            await engine.settled()
            await engine.amend("w", put=[message(number)])
        await engine.settled()
        await engine.amend("w", open=False)
        await engine.settled()
        text = sum(count(message(number).text) for number in range(WINDOW))
        return sum(count(each) for each in embedder.texts if each.startswith("[")) / text


async def a_question_asked_again(home: Path, size: int) -> float:
    """Calls for keywords of a question that is asked ten times."""
    language = ToyLanguage()
    async with opened(home, language, HashEmbedder()) as engine:
        await engine.add(replace(thread("w", "x"), passages=(message(0),)))
        await engine.settled()
        for _ in range(10):
            await engine.recall(Question("Who looks after the ferry?", HERE))
        return language.calls["condense"]


ROWS: dict[str, Callable[[Path, int], Coroutine[Any, Any, float]]] = {
    "merge, texts embedded": merge,
    "message in a thread, ms": a_message_in_a_thread,
    "question, ms": narrowed(lambda _: Within()),
    "question since yesterday, ms": narrowed(lambda size: Within(since=START + timedelta(minutes=size - 200))),
    "question since the beginning, ms": narrowed(lambda _: Within(since=START)),
    "question about one document, ms": narrowed(lambda _: Within(documents=frozenset({"d000040"}))),
    "question about an author of all, ms": narrowed(lambda _: Within(authors=frozenset({"Ada"}))),
    "open window, embedded/own tokens": an_open_window,
    "question asked ten times, keyword calls": a_question_asked_again,
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
