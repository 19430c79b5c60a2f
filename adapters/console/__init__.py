"""The console: a conversation in a terminal, or through a pipe; it translates lines to requests."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import TYPE_CHECKING

from adapters.console.chat_loop import ChatLoop
from bot.cli.chat_session import ChatSession
from bot.cli.render.console import Screen
from bot.cli.render.model_hint import model_hint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.admin.rpc.service import AdminService
    from bot.settings import Settings
    from engine import ChatTurn


async def converse(service: AdminService, settings: Settings, *, history: Sequence[ChatTurn] = ()) -> None:
    """Converse until the person leaves (Ctrl-D, /quit) or the input ends.

    Raises what keeps the service from opening; an error of a single question is told, and the conversation goes on.
    """
    screen = Screen(hint=lambda: model_hint(settings))
    dialogue = ChatSession(service, screen, settings.space, settings.retrieval_mode)
    dialogue.history = tuple(history)
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    conversation = ChatLoop(dialogue, interruptible=terminal)
    if terminal:
        from adapters.console.terminal_input import read_terminal  # noqa: PLC0415  - a pipe spares it

        lines = read_terminal(conversation.greet)
    else:
        from adapters.console.pipe_input import read_pipe  # noqa: PLC0415  - a terminal spares it

        lines = read_pipe(screen)
    async with aclosing(lines):
        async for line in lines:
            if not await conversation.handle_line(line):
                break
