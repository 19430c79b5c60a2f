"""Terminal chat: turns lines from a terminal or a pipe into requests to the bot."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import TYPE_CHECKING

from adapters.console.chat_loop import ChatLoop, read_pipe
from bot.cli.chat.session import ChatSession
from bot.cli.render.console import Screen, model_hint
from bot.settings import find_local_zone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.rpc.service import AdminService
    from bot.settings import Settings
    from engine import ChatTurn, Clock


async def converse(
    service: AdminService, settings: Settings, *, clock: Clock, history: Sequence[ChatTurn] = ()
) -> None:
    """Run the chat until the user leaves (Ctrl-D, /quit) or the input ends.

    Raises the error that keeps the service from opening. Errors of single questions are shown, and the chat goes on.
    """
    screen = Screen(clock, hint=lambda: model_hint(settings))
    session = ChatSession(service, screen, settings.space, settings.retrieval_mode, find_local_zone())
    session.history = tuple(history)
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    chat_loop = ChatLoop(session, interruptible=is_terminal)
    if is_terminal:
        from adapters.console.completion import ChatCompleter  # noqa: PLC0415  - slow to import, not needed for a pipe
        from adapters.console.terminal_input import read_terminal  # noqa: PLC0415  - slow to import, not needed for a pipe

        lines = read_terminal(chat_loop.greet, ChatCompleter(session, clock))
    else:
        lines = read_pipe(screen)
    async with aclosing(lines):
        async for line in lines:
            if not await chat_loop.handle_line(line):
                break
