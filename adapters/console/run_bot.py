"""Run the bot on a terminal until the input ends."""

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


async def run(bot: Bot, settings: Settings, stop: asyncio.Event) -> None:  # noqa: ARG001 - the signature of all adapters
    """Run the bot until the user leaves, the input ends, or `stop` is set."""
    screen = Screen()
    platform = ConsolePlatform(screen.out)
    bot.attach(platform)
    chat_task = asyncio.create_task(_run_chat(bot, screen))
    stop_task = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({chat_task, stop_task}, return_when=asyncio.FIRST_COMPLETED)
        if chat_task.done():
            chat_task.result()
    finally:
        stop_task.cancel()
        chat_task.cancel()
        await asyncio.gather(stop_task, chat_task, return_exceptions=True)


async def _run_chat(bot: Bot, screen: Screen) -> None:
    async def greet() -> None:
        screen.out.print(
            Text("Ask anything; /learn PATH shares a file, /help lists the commands, Ctrl-D quits.", "dim")
        )

    lines = read_terminal(greet) if sys.stdin.isatty() and sys.stdout.isatty() else read_pipe(screen)
    async with aclosing(lines):
        number = 0
        async for line in lines:
            line = normalize_line(line)  # noqa: PLW2901  - intended
            if line in EXIT_COMMANDS:
                return
            number += 1
            bot.record_activity(NAME)
            try:
                event = parse_line(line, number)
                await bot.receive(
                    event, f"{NAME}:{event.message.id if isinstance(event, MessageReceived) else event.id}"
                )
                await bot.event_queue.wait_until_idle()
            except EngineError as error:
                screen.show_error(error)
