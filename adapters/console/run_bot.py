"""Running the bot on a terminal: lines in, replies out, until the input ends."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from typing import TYPE_CHECKING

from rich.text import Text

from adapters.console.chat_loop import normalize_line
from adapters.console.pipe_input import read_pipe
from adapters.console.platform import NAME, ConsolePlatform, parse_line
from adapters.console.terminal_input import read_terminal
from bot.cli.render.console import Screen
from bot.platform.events import MessageReceived
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.bot import Bot
    from bot.settings import Settings

EXIT_COMMANDS = ("/quit", "/exit")


async def run(bot: Bot, settings: Settings, stop: asyncio.Event) -> None:  # noqa: ARG001 - every adapter is given these
    """Converse until the person leaves, the input ends, or `stop` is set. Raises what breaks the conversation off."""
    screen = Screen()
    terminal = ConsolePlatform(screen.out)
    bot.attach(terminal)
    conversing = asyncio.create_task(_run_chat(bot, screen))
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({conversing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if conversing.done():
            conversing.result()
    finally:
        stopping.cancel()
        conversing.cancel()
        await asyncio.gather(stopping, conversing, return_exceptions=True)


async def _run_chat(bot: Bot, screen: Screen) -> None:
    async def greet() -> None:
        screen.out.print(Text("Ask anything; /learn PATH shares a file, /help shows the rest, Ctrl-D leaves.", "dim"))

    lines = read_terminal(greet) if sys.stdin.isatty() and sys.stdout.isatty() else read_pipe(screen)
    async with aclosing(lines):
        number = 0
        async for line in lines:
            line = normalize_line(line)  # noqa: PLW2901  - meant so
            if line in EXIT_COMMANDS:
                return
            number += 1
            bot.record_activity(NAME)
            try:
                heard = parse_line(line, number)
                await bot.receive(
                    heard, f"{NAME}:{heard.message.id if isinstance(heard, MessageReceived) else heard.id}"
                )
                await bot.event_queue.wait_until_idle()
            except EngineError as error:
                screen.show_error(error)
