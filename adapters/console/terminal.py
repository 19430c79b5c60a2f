"""Lines typed at a prompt, with editing, a history that is kept, and completion of commands."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory
from prompt_toolkit.patch_stdout import patch_stdout

from adapters.console.commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from pathlib import Path

PROMPT = FormattedText([("bold ansicyan", "› ")])


async def typed(home: Path, greet: Callable[[], Awaitable[None]]) -> AsyncGenerator[str]:
    """Each line until Ctrl-D; Ctrl-C empties it. `greet` runs beside the first prompt; what it raises ends all."""
    words = WordCompleter([f"/{name}" for name in COMMANDS], sentence=True)
    session: PromptSession[str] = PromptSession(
        history=FileHistory(_history(home)), completer=words, complete_while_typing=False, reserve_space_for_menu=4
    )
    greeting = asyncio.ensure_future(greet())
    greeting.add_done_callback(lambda done: _leave_if_failed(session, done))
    try:
        while True:
            try:
                with patch_stdout(raw=True):
                    line = await session.prompt_async(PROMPT)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            if greeting.done():
                await greeting
            if line.strip():
                yield line
    finally:
        greeting.cancel()


def _leave_if_failed(session: PromptSession[str], greeting: asyncio.Future[None]) -> None:
    if not greeting.cancelled() and (error := greeting.exception()) and session.app.is_running:
        session.app.exit(exception=error)


def _history(home: Path) -> str:
    """The file of what was typed, which only its owner may read."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = home / "history"
    path.touch(mode=0o600)
    return str(path)
