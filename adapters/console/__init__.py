"""The console: a conversation in a terminal, or through a pipe; it translates lines to requests."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import TYPE_CHECKING

from adapters.console.chat_loop import Conversation
from bot.cli.chat_session import Dialogue
from bot.cli.render.console import Screen
from bot.cli.render.model_hint import model_hint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.admin.rpc.service import Service
    from bot.settings import Settings
    from engine.models import Turn


async def converse(service: Service, settings: Settings, *, history: Sequence[Turn] = ()) -> None:
    """Converse until the person leaves (Ctrl-D, /quit) or the input ends.

    Raises what keeps the service from opening; an error of a single question is told, and the conversation goes on.
    """
    screen = Screen(hint=lambda: model_hint(settings))
    dialogue = Dialogue(service, screen, settings.space, settings.mode)
    dialogue.history = tuple(history)
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    conversation = Conversation(dialogue, interruptible=terminal)
    if terminal:
        from adapters.console.terminal_input import typed  # noqa: PLC0415  - a pipe spares it

        lines = typed(conversation.greet)
    else:
        from adapters.console.pipe_input import piped  # noqa: PLC0415  - a terminal spares it

        lines = piped(screen)
    async with aclosing(lines):
        async for line in lines:
            if not await conversation.obey(line):
                break
