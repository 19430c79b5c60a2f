"""How often a newer statement comes first, and how often one is wrongly taken to be replaced.

`python -m benchmarks.newer [--half choose|hold|all] [--show]` asks the question of each line of `pairs.txt` and
`near.txt` through the engine with the built-in embedder and without a model. All statements of a half are in one
channel and its files. The rules were chosen on the half "choose".
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from engine import Document, Engine, MiniLMEmbedder, Passage, Question, Scope
from engine.llm.offline.model import OfflineModel

FOLDER = Path(__file__).parent
START = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
SPACE, ROOM = "town", "square"
SPEAKERS = ("Ada", "Bob", "Cleo", "Dora")


@dataclass(frozen=True)
class Line:
    """A question with a statement and a later one, and what shows that an answer has them."""

    kind: str
    question: str
    place: str
    former: str
    new_place: str
    later: str
    former_value: str
    later_value: str
    row: int = 0


def read_lines(name: str, half: str) -> list[Line]:
    rows = [row for row in (FOLDER / name).read_text(encoding="utf-8").splitlines() if row and not row.startswith("#")]
    lines = [replace(_parse_line(row), row=at) for at, row in enumerate(rows)]
    return [line for line in lines if half == "all" or (line.row % 2 == 0) == (half == "choose")]


def _parse_line(row: str) -> Line:
    return Line(*[part.strip() for part in row.split(" ; ")])  # type: ignore[arg-type]


def build_documents(lines: list[Line], first_day: int) -> list[Document]:
    return [document for at, line in enumerate(lines) for document in _build_pair(line, first_day + at)]


def _build_pair(line: Line, day: int) -> list[Document]:
    name = f"{line.kind}-{day}"
    before, after = START + timedelta(days=day), START + timedelta(days=day + 90)
    if line.new_place == "reply":
        after = before + timedelta(minutes=40)
        passages = (_message("1", "Ada", before, line.former), _message("2", "Bob", after, line.later))
        return [Document(name, SPACE, ROOM, "#square", passages, before, kind="conversation")]
    return [
        _document(f"{name}-a", line.place, line.former, before, day),
        _document(f"{name}-b", line.new_place, line.later, after, day + 1),
    ]


def _document(key: str, place: str, text: str, time: datetime, day: int) -> Document:
    kind, _, named = place.partition(" ")
    if kind == "msg":
        return Document(
            key,
            SPACE,
            ROOM,
            "#square",
            (_message("1", named or SPEAKERS[day % 4], time, text),),
            time,
            kind="conversation",
        )
    title = f"Minutes {time:%Y-%m-%d}" if kind == "minutes" else "Handbook"
    body = (
        f"Present: Ada, Bob.\n\n{text}\n\nNext meeting as usual."
        if kind == "minutes"
        else f"Welcome to this page.\n\n{text}\n\nAsk the office if something is unclear."
    )
    return Document(key, SPACE, ROOM, title, (Passage("1", body, time=time),), time)


def _message(key: str, speaker: str, time: datetime, text: str) -> Passage:
    return Passage(key, f"[{time:%Y-%m-%d %H:%M}] {speaker}: {text}", author=speaker, time=time)


def judge_pair(line: Line, answer: str) -> str:
    at_new, at_old = answer.find(line.later_value), answer.find(line.former_value)
    if line.former_value in line.later and at_new >= 0:
        marked = [
            row
            for row in answer.splitlines()
            if line.former_value in row and "Until 2" not in row and line.later_value not in row
        ]
        first = answer.splitlines()[0]
        return "newest first" if line.later_value in first or not marked else "former first"
    if at_new < 0:
        return "only the former" if at_old >= 0 else "neither"
    return "newest first" if at_old < 0 or at_new < at_old else "former first"


def judge_near(line: Line, answer: str) -> str:
    rows = [row for row in answer.splitlines() if line.former_value in row]
    return "wrongly replaced" if any("Until 2" in row for row in rows) else "right" if rows else "not found"


async def measure(half: str, *, show: bool) -> None:
    pairs, near = read_lines("pairs.txt", half), read_lines("near.txt", half)
    embedder = MiniLMEmbedder(threads=1)
    with TemporaryDirectory() as home:
        async with Engine.open(Path(home), language=OfflineModel(embedder), embedder=embedder) as engine:
            for document in [*build_documents(pairs, 0), *build_documents(near, len(pairs))]:
                await engine.documents.add(document)
            await engine.wait_until_indexed()
            for name, lines, judge in (("pairs", pairs, judge_pair), ("near pairs", near, judge_near)):
                counts = Counter[str]()
                for line in lines:
                    answer = await (
                        await engine.ask(
                            Question(line.question, Scope(spaces=frozenset({SPACE}), rooms=frozenset({ROOM})))
                        )
                    ).collect_text()
                    verdict = judge(line, answer)
                    counts[verdict] += 1
                    if show and verdict not in {"newest first", "right"}:
                        print(f"{verdict}: [{line.kind}] {line.question}\n  {line.former} | {line.later}\n{answer}\n")
                print(f"{name} ({half}): {len(lines)}: {dict(counts)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("choose", "hold", "all"), default="choose")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    asyncio.run(measure(options.half, show=options.show))


if __name__ == "__main__":
    main()
