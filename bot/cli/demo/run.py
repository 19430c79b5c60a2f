"""The demo itself: the town is read in, the four questions are asked, then the conversation is open."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from bot.admin.requests import Ingest
from bot.admin.rpc.service import reach
from bot.cli.chat_session import Dialogue
from bot.cli.demo import TOWN
from bot.cli.demo.questions import QUESTIONS
from bot.cli.render.console import Screen
from bot.plugins import conversation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.settings import Settings

SPACE = "demo:ploverness"


async def show(settings: Settings, *, keep: bool) -> None:
    """Show all of it; without a terminal it ends after the questions. Raises EngineError."""
    screen = Screen()
    with _home(settings, keep=keep) as home:
        chosen = settings.model_copy(update={"home": home, "space": SPACE, "mode": "mix"})
        _greet(screen, settings)
        async with reach(chosen) as service:
            await screen.show(service.perform(Ingest((str(TOWN),), SPACE)))
            dialogue = Dialogue(service, screen, SPACE, chosen.mode)
            await _ask(dialogue, screen)
            if sys.stdin.isatty() and sys.stdout.isatty():
                screen.out.print("\nNow you. The town goes on:", style="bold")
                await conversation("console")(service, chosen, history=dialogue.history)


@contextmanager
def _home(settings: Settings, *, keep: bool) -> Iterator[Path]:
    """A folder that goes when the demo ends, or one that stays."""
    if keep:
        yield settings.root / "demo"
    else:
        with tempfile.TemporaryDirectory(prefix="threadlore-demo-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)


def _greet(screen: Screen, settings: Settings) -> None:
    how = (
        f"answers by {settings.model}"
        if settings.model
        else "no key, no network: answers are quotations; with THREADLORE_MODEL they are written"
    )
    screen.out.print(Text.assemble(("Threadlore", "bold"), f" reads Ploverness, a town of our invention ({how}).\n"))


async def _ask(dialogue: Dialogue, screen: Screen) -> None:
    for number, question in enumerate(QUESTIONS, 1):
        screen.out.print(Text.assemble((f"\n{number}. {question.text}", "bold")))
        screen.out.print(Text(question.note + "\n", "dim italic"))
        await dialogue.ask(question.text)
