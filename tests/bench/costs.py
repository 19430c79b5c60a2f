"""What single steps cost as a folder grows: `python -m tests.bench.costs [--small N] [--large N]`.

Each row is measured in a small and in a large folder: texts or tokens that are embedded, calls that are made, or
milliseconds of processor time. What is bounded does not grow with the folder.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.models import Document, Filters, Passage, Question
from engine.text.tokenizer import O200kTokenizer
from tests.bench.plumbing import milliseconds, parse_arguments, temporary_folder
from tests.support.engine_fixture import HERE, open_engine, thread
from tests.support.fake_embedder import HashEmbedder
from tests.support.toy_language import ToyLanguage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from typing import Any

    from engine import Engine

START = datetime(2026, 1, 1, tzinfo=UTC)
WINDOW = 24  # messages of an open conversation
WORDS = ("ferry", "roof", "bread", "lamp", "rope", "goat", "tide", "net")


def build_message(number: int, minutes: int = 0) -> Passage:
    """A message of about 25 tokens."""
    text = f"what of the {WORDS[number % len(WORDS)]} number {number}, and who looks after it?"
    when = START + timedelta(minutes=minutes or number)
    return Passage(f"m{number:06}", f"[{when:%Y-%m-%d %H:%M}] Ada: {text}", author="Ada", time=when)


def name_pair(number: int) -> tuple[str, str]:
    """Two names of letters: names have no digits here."""
    letters = "".join(chr(ord("a") + int(digit)) for digit in f"{number:05}")
    return f"A{letters}", f"B{letters}"


@asynccontextmanager
async def open_with_messages(home: Path, size: int, *, each: int, is_open: bool = False) -> AsyncIterator[Engine]:
    """An engine with so many messages, in conversations of `each`."""
    async with open_engine(home) as engine:
        for first in range(0, size, each):
            passages = tuple(build_message(n) for n in range(first, min(size, first + each)))
            document = Document(f"d{first:06}", "here", "hall", "D", passages, START, kind="conversation")
            await engine.add(replace(document, is_open=is_open))
        yield engine


async def measure_merge(home: Path, size: int) -> float:
    """Texts embedded for one more merge, in a space with so many merged names (a hundredth of the size)."""
    embedder = HashEmbedder()
    async with open_engine(home, embedder=embedder) as engine:
        pairs = [name_pair(number) for number in range(max(2, size // 100) + 1)]
        lines = tuple(Passage(a, f"{a} met {b}.", position=n) for n, (a, b) in enumerate(pairs))
        await engine.add(Document("d", "here", "hall", "D", lines))
        await engine.wait_until_indexed()
        for name, into in pairs[:-1]:
            await engine.merge("here", name, into)
        await engine.wait_until_indexed()
        embedder.texts.clear()
        await engine.merge("here", *pairs[-1])
        await engine.wait_until_indexed()
        return len(embedder.texts)


async def measure_thread_message(home: Path, size: int) -> float:
    """Milliseconds of processor time for one more message in the middle of a thread of so many."""
    async with open_with_messages(home, size, each=size, is_open=True) as engine:
        await engine._worker.stop()
        messages = [build_message(size + number, minutes=size // 2) for number in range(5)]
        return min([await milliseconds(engine.amend("d000000", [each]), time.process_time) for each in messages])


async def measure_question(within: Callable[[int], Filters], home: Path, size: int) -> float:
    """Milliseconds of processor time to retrieve for a narrowed question, among so many messages."""
    async with open_with_messages(home, size, each=20) as engine:
        await engine.wait_until_indexed()
        question = Question("Who looks after the ferry?", HERE, filters=within(size), low=("ferry",))
        return min([await milliseconds(engine.retrieve(question), time.process_time) for _ in range(5)])


async def measure_open_window(home: Path, size: int) -> float:
    """Tokens embedded for each token of a window, from its first message to its end."""
    embedder, count = HashEmbedder(), O200kTokenizer().count
    async with open_engine(home, embedder=embedder) as engine:
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
    async with open_engine(home, language) as engine:
        await engine.add(replace(thread("w", "x"), passages=(build_message(0),)))
        await engine.wait_until_indexed()
        for _ in range(10):
            await engine.retrieve(Question("Who looks after the ferry?", HERE))
        return language.calls["condense"]


FILTERS: dict[str, Callable[[int], Filters]] = {
    "question, ms": lambda _: Filters(),
    "question since yesterday, ms": lambda size: Filters(since=START + timedelta(minutes=size - 200)),
    "question since the beginning, ms": lambda _: Filters(since=START),
    "question about one document, ms": lambda _: Filters(documents=frozenset({"d000040"})),
    "question about an author of all, ms": lambda _: Filters(authors=frozenset({"Ada"})),
}
ROWS: dict[str, Callable[[Path, int], Coroutine[Any, Any, float]]] = {
    "merge, texts embedded": measure_merge,
    "message in a thread, ms": measure_thread_message,
    **{name: partial(measure_question, within) for name, within in FILTERS.items()},
    "open window, embedded/own tokens": measure_open_window,
    "question asked ten times, keyword calls": measure_repeated_question,
}


def main() -> None:
    sizes = parse_arguments(__doc__, small=1000, large=10_000)
    print(f"{'messages':42}{sizes.small:>10,}{sizes.large:>10,}")
    for name, measure in ROWS.items():
        print(f"{name:42}", end="")
        for size in (sizes.small, sizes.large):
            with temporary_folder() as home:
                print(f"{asyncio.run(measure(Path(home), size)):>10.1f}", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
