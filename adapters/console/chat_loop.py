"""Handle the lines of a terminal chat: questions and slash commands; lines of a pipe are read and echoed."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.text import Text

from adapters.console.commands import COMMANDS, show_help
from bot.capabilities.requests import GetStatus
from bot.capabilities.results import StatusResult
from bot.text.format import pluralize
from bot.text.terminal import strip_control_chars
from engine.errors import EngineError, InvalidQuestion
from engine.scheduling.supervisor import child_task

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
    from typing import Any

    from bot.cli.chat.session import ChatSession
    from bot.cli.render.console import Screen

EXIT_COMMANDS = ("quit", "exit")
WORD_COMMANDS = (*EXIT_COMMANDS, "help")


class ChatLoop:
    """Handles one line after another. `interruptible`: Ctrl-C stops the answer, not the program."""

    def __init__(self, session: ChatSession, *, interruptible: bool) -> None:
        self._session = session
        self._interruptible = interruptible

    async def greet(self) -> None:
        """Show the number of documents. Raises the error that keeps the service from opening."""
        results = await self._session.screen.collect(self._session.perform(GetStatus()))
        document_count = sum(
            sum(event.status.documents.values()) for event in results if isinstance(event, StatusResult)
        )
        summary = (
            f"{pluralize(document_count, 'document')} here"
            if document_count
            else "Nothing here yet: `threadlore ingest PATH`"
        )
        self._session.screen.out.print(Text(f"{summary}. /help lists the commands, Ctrl-D quits.", "dim"))

    async def handle_line(self, line: str) -> bool:
        """Run a line and show errors. Returns False if the user leaves."""
        line = normalize_line(line)
        name, _, rest = line.removeprefix("/").partition(" ")
        is_command = line.startswith("/")
        if is_command and name in EXIT_COMMANDS:
            return False
        try:
            coroutine = self._run_command(name, rest.strip()) if is_command else self._session.ask(line)
            if not await self._run_to_end(coroutine):
                self._session.screen.out.print(Text("\n(stopped)", "dim"))
        except EngineError as error:
            self._session.screen.show_error(error)
        return True

    async def _run_command(self, name: str, rest: str) -> None:
        if name not in COMMANDS:
            await show_help(self._session, "")
            raise InvalidQuestion(f"Unknown command /{name}.", hint="Questions need no slash.")
        _, _, command = COMMANDS[name]
        await command(self._session, rest)

    async def _run_to_end(self, coroutine: Coroutine[Any, Any, None]) -> bool:
        """Run to the end; False if Ctrl-C stopped it."""
        if not self._interruptible:
            await coroutine
            return True
        async with child_task(coroutine) as task:
            with _on_interrupt(task.cancel):
                await asyncio.wait({task})
            return not task.cancelled()


def normalize_line(line: str) -> str:
    """Strip a line; a bare exit, quit or help becomes the slash command."""
    line = line.strip()
    name = line.casefold().rstrip(".!")
    return f"/{name}" if name in WORD_COMMANDS else line


@contextmanager
def _on_interrupt(stop: Callable[[], object]) -> Iterator[None]:
    """Replace the effect of Ctrl-C within the block."""
    loop, previous_handler = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, previous_handler)


async def read_pipe(screen: Screen) -> AsyncGenerator[str]:
    """Yield each non-blank line until the input ends."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        if line.strip():
            screen.out.print(Text(f"› {strip_control_chars(line.strip())}", "bold"), soft_wrap=True)
            yield line
            screen.out.print()
