"""Read chat lines at a prompt with editing, command completion and a history in memory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.patch_stdout import patch_stdout

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine

    from prompt_toolkit.completion import Completer

PROMPT = FormattedText([("bold ansicyan", "› ")])


async def read_terminal(greet: Callable[[], Coroutine[Any, Any, None]], completer: Completer) -> AsyncGenerator[str]:
    """Yield each line until Ctrl-D; Ctrl-C clears the line. `greet` runs during the first prompt; its error is raised.

    The history is not saved: a question may quote a document that is deleted later.
    """
    session: PromptSession[str] = PromptSession(
        history=InMemoryHistory(), completer=completer, complete_while_typing=False, reserve_space_for_menu=4
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
    """Runs `greet` once the prompt is visible, so that a slow service does not delay the prompt."""

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
