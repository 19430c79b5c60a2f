"""Ask forty questions in each language about the messages of an invented club, without a model; count right answers.

`python -m benchmarks.languages [de es …] [--half chosen|held|all] [--show]`: "held": fifteen of each, whose failures
were seen once while rules were written. An answer is right if it has one of the words of its question; one of a
question that nobody can answer is, if nothing is answered as if right. It is 20 March 2026.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.company.__main__ import Outcome, print_outcomes
from benchmarks.company.corpus import SPACE, CompanyQuestion
from engine import Document, Engine, MiniLMEmbedder, Passage, Question, Scope
from engine.clock import Clock
from engine.parsers.chat_export import CONVERSATION_GAP
from engine.text.cleanup import render_message_line
from engine.text.conversations.disentanglement import ConversationWindows, Utterance
from engine.text.overviews import apply_overview_request, by_author

FOLDER = Path(__file__).parent
NOW = datetime(2026, 3, 20, 10, tzinfo=UTC)
HELD_OUT = (2, 5, 7)  # of eight questions
WINDOW_TOKENS = 400
_MESSAGE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d) ([^:]+): (.*)")


class FixedClock(Clock):
    """A clock that stands still at `NOW`; its monotonic time goes on."""

    def now(self) -> datetime:
        return NOW


def load_questions(language: str) -> list[CompanyQuestion]:
    """The questions in a language: `question => word|other word`, or `-` for one without an answer."""
    _, _, part = (FOLDER / f"{language}.txt").read_text("utf-8").partition("---\n")
    found = []
    for number, line in enumerate(part.splitlines()):
        text, _, words = line.partition(" => ")
        groups = () if words == "-" else (tuple(words.split("|")),)
        found.append(CompanyQuestion(language, number % 8 in HELD_OUT, text, groups))
    return found


def load_conversations(language: str) -> Iterator[Document]:
    """The messages in a language as the bot stores them."""
    part, _, _ = (FOLDER / f"{language}.txt").read_text("utf-8").partition("---\n")
    windows, by_window = ConversationWindows(CONVERSATION_GAP, WINDOW_TOKENS), dict[str, list[Passage]]()
    for number, match in enumerate(map(_MESSAGE.fullmatch, part.splitlines())):
        assert match
        sent, author, text = datetime.fromisoformat(f"{match[1]}+00:00"), match[2], match[3]
        key = f"{language}-{number}"
        window = windows.assign(Utterance(key, author, text, sent), len(text) // 4)
        line = render_message_line(sent, author, text)
        by_window.setdefault(window, []).append(Passage(key, line, f"{author}, {line[1:17]}", "", author, sent))
    for key, passages in by_window.items():
        yield Document(f"{SPACE}:{key}", SPACE, f"{SPACE}:{language}", "club", tuple(passages), kind="conversation")


async def run(language: str, half: str, *, show: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        async with Engine.open(Path(name), embedder=await MiniLMEmbedder.open(), clock=FixedClock()) as engine:
            for document in load_conversations(language):
                await engine.documents.add(document)
            await engine.wait_until_indexed()
            asked = [q for q in load_questions(language) if half == "all" or q.is_held_out == (half == "held")]
            print_outcomes([await ask(engine, question) for question in asked], show=show)


async def ask(engine: Engine, asked: CompanyQuestion) -> Outcome:
    """Ask a question as the bot does: overviews of a time are recognized."""
    began = time.perf_counter()
    question, overview = by_author(Question(asked.text, Scope.of(SPACE)), NOW)
    answer = await engine.ask(apply_overview_request(question, overview) if overview else question)
    text = await answer.collect_text()
    return Outcome(asked, text, (time.perf_counter() - began) * 1000)


def main() -> None:
    known = sorted(path.stem for path in FOLDER.glob("*.txt"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=known)
    parser.add_argument("--half", choices=("chosen", "held", "all"), default="all")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    for language in arguments.languages:
        asyncio.run(run(language, arguments.half, show=arguments.show))


if __name__ == "__main__":
    main()
