"""What a line means: a question, or a word with a slash."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.text import Text

from adapters.console.commands import COMMANDS, show_help
from bot.admin.requests import Tell
from bot.admin.results import Told
from bot.cli.render.tables import counted
from engine.errors import BadQuestion, EngineError
from engine.scheduling.tasks import child_task

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from typing import Any

    from bot.cli.chat_session import Dialogue

LEAVING = ("quit", "exit")
BARE = (*LEAVING, "help")


class Conversation:
    """Obeys one line after another. `interruptible`: Ctrl-C stops the answer, not the program."""

    def __init__(self, dialogue: Dialogue, *, interruptible: bool) -> None:
        self._dialogue = dialogue
        self._interruptible = interruptible

    async def greet(self) -> None:
        """Say how much is known, once that can be said. Raises what keeps the service from opening."""
        seen = await self._dialogue.screen.gather(self._dialogue.service.perform(Tell((self._dialogue.space,))))
        known = sum(sum(event.status.documents.values()) for event in seen if isinstance(event, Told))
        what = f"{counted(known, 'document')} here" if known else "Nothing here yet: `threadlore ingest PATH`"
        self._dialogue.screen.out.print(Text(f"{what}. /help shows what else there is, Ctrl-D leaves.", "dim"))

    async def obey(self, line: str) -> bool:
        """Do what a line says, and tell what went wrong; False: the person leaves."""
        line = spelled_out(line)
        word, _, rest = line.removeprefix("/").partition(" ")
        slash = line.startswith("/")
        if slash and word in LEAVING:
            return False
        try:
            work = self._command(word, rest.strip()) if slash else self._dialogue.ask(line)
            if not await self._finished(work):
                self._dialogue.screen.out.print(Text("\n(stopped)", "dim"))
        except EngineError as error:
            self._dialogue.screen.trouble(error)
        return True

    async def _command(self, word: str, rest: str) -> None:
        if word not in COMMANDS:
            await show_help(self._dialogue, "")
            raise BadQuestion(f"There is no command /{word}.", hint="A question needs no slash.")
        _, _, command = COMMANDS[word]
        await command(self._dialogue, rest)

    async def _finished(self, work: Coroutine[Any, Any, None]) -> bool:
        """Whether the work came to its end, and was not stopped by Ctrl-C."""
        if not self._interruptible:
            await work
            return True
        async with child_task(work) as task:
            with _interrupt(task.cancel):
                await asyncio.wait({task})
            return not task.cancelled()


def spelled_out(line: str) -> str:
    """A line as it is obeyed: one that only says exit, quit or help is meant as the command, not as a question."""
    line = line.strip()
    word = line.casefold().rstrip(".!")
    return f"/{word}" if word in BARE else line


@contextmanager
def _interrupt(stop: Callable[[], object]) -> Iterator[None]:
    """Let Ctrl-C do this, and nothing else, for a while."""
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
