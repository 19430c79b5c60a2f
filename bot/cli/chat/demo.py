"""Run the demo: index the town, ask four questions, then start a chat."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from bot.capabilities.requests import Ingest
from bot.cli.chat import TOWN_DIR
from bot.cli.chat.session import ChatSession
from bot.cli.render.console import Screen
from bot.plugins import load_conversation
from bot.rpc.service import connect_or_open

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.settings import Settings
    from engine import Clock

DEMO_SPACE = "demo:ploverness"


async def run_demo(settings: Settings, clock: Clock, *, keep: bool) -> None:
    """Run the demo; without a terminal it ends after the questions. Raises EngineError."""
    screen = Screen(clock)
    with _open_data_dir(settings, keep=keep) as data_dir:
        chosen = settings.model_copy(update={"data_dir": data_dir, "space": DEMO_SPACE, "retrieval_mode": "mix"})
        _print_greeting(screen, settings)
        async with connect_or_open(chosen, clock) as service:
            await screen.show(service.perform(Ingest((str(TOWN_DIR),), DEMO_SPACE)))
            dialogue = ChatSession(service, screen, DEMO_SPACE, chosen.retrieval_mode)
            await _ask_questions(dialogue, screen)
            if sys.stdin.isatty() and sys.stdout.isatty():
                screen.out.print("\nYour turn. Ask about the town:", style="bold")
                await load_conversation("console")(service, chosen, clock=clock, history=dialogue.history)


@contextmanager
def _open_data_dir(settings: Settings, *, keep: bool) -> Iterator[Path]:
    """The data directory of the demo: temporary, or kept."""
    if keep:
        yield settings.data_path / "demo"
    else:
        with tempfile.TemporaryDirectory(prefix="threadlore-demo-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)


def _print_greeting(screen: Screen, settings: Settings) -> None:
    mode = (
        f"answers written by {settings.llm_model}"
        if settings.llm_model
        else "no API key, no network: answers are quotations; set THREADLORE_LLM_MODEL to have them written"
    )
    screen.out.print(Text.assemble(("Threadlore", "bold"), f" indexes Ploverness, a fictional town ({mode}).\n"))


async def _ask_questions(dialogue: ChatSession, screen: Screen) -> None:
    for number, question in enumerate(QUESTIONS, 1):
        screen.out.print(Text.assemble((f"\n{number}. {question.text}", "bold")))
        screen.out.print(Text(question.explanation + "\n", "dim italic"))
        await dialogue.ask(question.text)


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question and what it demonstrates."""

    text: str
    explanation: str


QUESTIONS = (
    DemoQuestion(
        "How much is a return ticket on the ferry?",
        "One fact from one document: [1] links to the passage.",
    ),
    DemoQuestion(
        "Who holds permit 17-B, and what did the holder of permit 17-B promise to do before the Mending?",
        "Two sources: the permit register names the holder, a message in the harbour channel states the promise.",
    ),
    DemoQuestion(
        "Where can I find her on a Saturday?",
        "A follow-up: “her” refers to a person from the conversation.",
    ),
    DemoQuestion(
        "Which dentist do people in Ploverness go to?",
        "No document mentions one, so the correct answer is that nothing says it.",
    ),
)
