"""What a line means: a question, or a word with a slash."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.text import Text

from adapters.console.commands import COMMANDS, show_help
from bot.admin.requests import GetStatus
from bot.admin.results import StatusResult
from bot.text.format import pluralize
from engine import child_task
from engine.errors import EngineError, InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from typing import Any

    from bot.cli.chat_session import ChatSession

EXIT_COMMANDS = ("quit", "exit")
WORD_COMMANDS = (*EXIT_COMMANDS, "help")


class ChatLoop:
    """Obeys one line after another. `interruptible`: Ctrl-C stops the answer, not the program."""

    def __init__(self, dialogue: ChatSession, *, interruptible: bool) -> None:
        self._session = dialogue
        self._interruptible = interruptible

    async def greet(self) -> None:
        """Say how much is known, once that can be said. Raises what keeps the service from opening."""
        seen = await self._session.screen.collect(self._session.service.perform(GetStatus((self._session.space,))))
        known = sum(sum(event.status.documents.values()) for event in seen if isinstance(event, StatusResult))
        what = f"{pluralize(known, 'document')} here" if known else "Nothing here yet: `threadlore ingest PATH`"
        self._session.screen.out.print(Text(f"{what}. /help shows what else there is, Ctrl-D leaves.", "dim"))

    async def handle_line(self, line: str) -> bool:
        """Do what a line says, and tell what went wrong; False: the person leaves."""
        line = normalize_line(line)
        word, _, rest = line.removeprefix("/").partition(" ")
        slash = line.startswith("/")
        if slash and word in EXIT_COMMANDS:
            return False
        try:
            work = self._run_command(word, rest.strip()) if slash else self._session.ask(line)
            if not await self._run_to_end(work):
                self._session.screen.out.print(Text("\n(stopped)", "dim"))
        except EngineError as error:
            self._session.screen.show_error(error)
        return True

    async def _run_command(self, word: str, rest: str) -> None:
        if word not in COMMANDS:
            await show_help(self._session, "")
            raise InvalidQuestion(f"There is no command /{word}.", hint="A question needs no slash.")
        _, _, command = COMMANDS[word]
        await command(self._session, rest)

    async def _run_to_end(self, work: Coroutine[Any, Any, None]) -> bool:
        """Whether the work came to its end, and was not stopped by Ctrl-C."""
        if not self._interruptible:
            await work
            return True
        async with child_task(work) as task:
            with _on_interrupt(task.cancel):
                await asyncio.wait({task})
            return not task.cancelled()


def normalize_line(line: str) -> str:
    """A line as it is obeyed: one that only says exit, quit or help is meant as the command, not as a question."""
    line = line.strip()
    word = line.casefold().rstrip(".!")
    return f"/{word}" if word in WORD_COMMANDS else line


@contextmanager
def _on_interrupt(stop: Callable[[], object]) -> Iterator[None]:
    """Let Ctrl-C do this, and nothing else, for a while."""
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
