"""What single steps cost as a folder grows: `python -m benchmarks.costs [--small N] [--large N]`.

Each row is measured in a small and in a large folder, in milliseconds of processor time. What is bounded does not grow
with the folder. Texts that are embedded and calls that are made are bounded by tests in tests/engine.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.plumbing import milliseconds, parse_arguments, temporary_folder
from engine import Engine
from engine.models import Document, Filters, Passage, Question
from tests.support.engine_fixture import HERE, open_engine

START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = ("ferry", "roof", "bread", "lamp", "rope", "goat", "tide", "net")


def build_message(number: int, minutes: int = 0) -> Passage:
    """A message of about 25 tokens."""
    text = f"what of the {WORDS[number % len(WORDS)]} number {number}, and who looks after it?"
    when = START + timedelta(minutes=minutes or number)
    return Passage(f"m{number:06}", f"[{when:%Y-%m-%d %H:%M}] Ada: {text}", author="Ada", time=when)


@asynccontextmanager
async def open_with_messages(home: Path, size: int, *, each: int, is_open: bool = False) -> AsyncIterator[Engine]:
    """An engine with so many messages, in conversations of `each`."""
    async with open_engine(home) as engine:
        for first in range(0, size, each):
            passages = tuple(build_message(n) for n in range(first, min(size, first + each)))
            document = Document(f"d{first:06}", "here", "hall", "D", passages, START, kind="conversation")
            await engine.documents.add(replace(document, is_open=is_open))
        yield engine


async def measure_thread_message(home: Path, size: int) -> dict[str, float]:
    """One more message in the middle of a thread of so many."""
    async with open_with_messages(home, size, each=size, is_open=True) as engine:
        await engine._worker.stop()
        messages = [build_message(size + number, minutes=size // 2) for number in range(5)]
        spent = [
            await milliseconds(engine.documents.amend("d000000", [message]), time.process_time) for message in messages
        ]
    return {"message in a thread, ms": min(spent)}


async def measure_questions(home: Path, size: int) -> dict[str, float]:
    """Retrieving for filtered questions, among so many messages."""
    filters = {
        "question, ms": Filters(),
        "question since yesterday, ms": Filters(since=START + timedelta(minutes=size - 200)),
        "question since the beginning, ms": Filters(since=START),
        "question about one document, ms": Filters(documents=frozenset({"d000040"})),
        "question about an author of all, ms": Filters(authors=frozenset({"Ada"})),
    }
    async with open_with_messages(home, size, each=20) as engine:
        await engine.wait_until_indexed()
        question, spent = Question("Who looks after the ferry?", HERE, low=("ferry",)), dict[str, float]()
        for name, within in filters.items():
            asked = replace(question, filters=within)
            spent[name] = min([await milliseconds(engine.retrieve(asked), time.process_time) for _ in range(5)])
    return spent


def main() -> None:
    sizes = parse_arguments(__doc__, small=1000, large=10_000)
    print(f"{'messages':42}{sizes.small:>10,}{sizes.large:>10,}")
    for measure in (measure_thread_message, measure_questions):
        found = []
        for size in (sizes.small, sizes.large):
            with temporary_folder() as home:
                found.append(asyncio.run(measure(Path(home), size)))
        for name, spent in found[0].items():
            print(f"{name:42}{spent:>10.1f}{found[1][name]:>10.1f}")


if __name__ == "__main__":
    main()
