"""Running the bot on a terminal: lines in, replies out, until the input ends."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from typing import TYPE_CHECKING

from rich.text import Text

from adapters.console.chat_loop import spelled_out
from adapters.console.pipe_input import piped
from adapters.console.platform import NAME, Terminal, happening
from adapters.console.terminal_input import typed
from bot.cli.render.console import Screen
from bot.platform.events import Heard
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.bot import Bot
    from bot.settings import Settings

LEAVING = ("/quit", "/exit")


async def run(bot: Bot, settings: Settings, stop: asyncio.Event) -> None:  # noqa: ARG001 - every adapter is given these
    """Converse until the person leaves, the input ends, or `stop` is set. Raises what breaks the conversation off."""
    screen = Screen()
    terminal = Terminal(screen.out)
    bot.attach(terminal)
    conversing = asyncio.create_task(_converse(bot, screen))
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({conversing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if conversing.done():
            conversing.result()
    finally:
        stopping.cancel()
        conversing.cancel()
        await asyncio.gather(stopping, conversing, return_exceptions=True)


async def _converse(bot: Bot, screen: Screen) -> None:
    async def greet() -> None:
        screen.out.print(Text("Ask anything; /learn PATH shares a file, /help shows the rest, Ctrl-D leaves.", "dim"))

    lines = typed(greet) if sys.stdin.isatty() and sys.stdout.isatty() else piped(screen)
    async with aclosing(lines):
        number = 0
        async for line in lines:
            line = spelled_out(line)  # noqa: PLW2901  - meant so
            if line in LEAVING:
                return
            number += 1
            bot.alive(NAME)
            try:
                heard = happening(line, number)
                await bot.hear(heard, f"{NAME}:{heard.message.id if isinstance(heard, Heard) else heard.id}")
                await bot.inbox.idle()
            except EngineError as error:
                screen.trouble(error)
