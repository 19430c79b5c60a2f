"""Lines typed at a prompt, with editing, a history for as long as it is open, and completion of commands."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.patch_stdout import patch_stdout

from adapters.console.commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine

PROMPT = FormattedText([("bold ansicyan", "› ")])


async def read_terminal(greet: Callable[[], Coroutine[Any, Any, None]]) -> AsyncGenerator[str]:
    """Each line until Ctrl-D; Ctrl-C empties it. `greet` runs beside the first prompt; what it raises ends all.

    Nothing of it is written down: a question may quote what is forgotten later.
    """
    words = WordCompleter([f"/{name}" for name in COMMANDS], sentence=True)
    session: PromptSession[str] = PromptSession(
        history=InMemoryHistory(), completer=words, complete_while_typing=False, reserve_space_for_menu=4
    )
    greeting = _Greeting(session, greet)
    session.app.after_render += greeting.start
    try:
        while True:
            try:
                with patch_stdout(raw=True):
                    line = await session.prompt_async(PROMPT)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            if line.strip():
                yield line
    finally:
        greeting.stop()


@dataclass(slots=True)
class _Greeting:
    """Begins once the prompt can be seen: what it waits for must not keep that back."""

    session: PromptSession[str]
    greet: Callable[[], Coroutine[Any, Any, None]]
    _task: asyncio.Task[None] | None = None

    def start(self, _: object) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self.greet())
            self._task.add_done_callback(self._exit_if_failed)

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _exit_if_failed(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) and self.session.app.is_running:
            self.session.app.exit(exception=error)
