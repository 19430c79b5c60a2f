"""Ask the questions about the invented company without a model, and count what comes of them.

`python -m benchmarks.company [--half chosen|held|all] [--show]`: "chosen" are the questions that rules were chosen on.
An answer is right if it has all words; a question without words is, if nothing is answered as if right.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.company.corpus import SPACE, CompanyQuestion, load_conversations, load_files, load_questions
from engine import Engine, MiniLMEmbedder, Question, Scope
from engine.llm.offline.model import NOTHING_FOUND
from engine.llm.offline.quoting.notices import is_closest

OUTCOMES = ("right", "nearest", "partly", "beside", "nothing", "false")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question, and in how many milliseconds."""

    question: CompanyQuestion
    text: str
    milliseconds: float

    @property
    def name(self) -> str:
        """How good the answer is.

        "nearest": what is right is shown as the closest passage; "beside": that without what is right; "false": another
        thing is answered as if right.
        """
        has_nothing, is_marked = NOTHING_FOUND in self.text, is_closest(self.text)
        if not self.question.words:
            return "right" if has_nothing or is_marked else "false"
        if has_nothing:
            return "nothing"
        plain = self.text.casefold()
        count = sum(any(word.casefold() in plain for word in words) for words in self.question.words)
        if count == len(self.question.words):
            return "nearest" if is_marked else "right"
        return "beside" if is_marked else "partly" if count else "false"


async def ask_all(questions: Iterable[CompanyQuestion]) -> list[Outcome]:
    """The outcomes of the questions, asked one after the other of a new engine."""
    with tempfile.TemporaryDirectory() as name:
        home, files = Path(name) / "data", Path(name) / "files"
        files.mkdir()
        async with Engine.open(home, embedder=await MiniLMEmbedder.open()) as engine:
            for file, text in load_files().items():
                (files / file).write_text(text, "utf-8")
                await engine.documents.add_file(files / file, space=SPACE)
            for document in load_conversations():
                await engine.documents.add(document)
            await engine.wait_until_indexed()
            return [await ask(engine, question) for question in questions]


async def ask(engine: Engine, question: CompanyQuestion) -> Outcome:
    """Ask one question."""
    began = time.perf_counter()
    answer = await engine.ask(Question(question.text, Scope.of(SPACE)))
    text = await answer.collect_text()
    return Outcome(question, text, (time.perf_counter() - began) * 1000)


def print_outcomes(outcomes: list[Outcome], *, show: bool) -> None:
    """A table of kinds and outcomes; with `show`, each answer."""
    if show:
        for outcome in outcomes:
            print(f"\n[{outcome.name}] {outcome.question.kind}: {outcome.question.text}\n{outcome.text}")
    print(f"\n{'':12}", *(f"{name:>8}" for name in OUTCOMES))
    for kind in [*dict.fromkeys(outcome.question.kind for outcome in outcomes), "all"]:
        counts = Counter(outcome.name for outcome in outcomes if kind in {outcome.question.kind, "all"})
        print(f"{kind:12}", *(f"{counts[name]:8}" for name in OUTCOMES))
    print(f"median {median(outcome.milliseconds for outcome in outcomes):.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("chosen", "held", "all"), default="all")
    parser.add_argument("--kind", default="")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    asked = [
        question
        for question in load_questions()
        if arguments.half == "all" or question.is_held_out == (arguments.half == "held")
        if arguments.kind in {"", question.kind}
    ]
    print_outcomes(asyncio.run(ask_all(asked)), show=arguments.show)


if __name__ == "__main__":
    main()
