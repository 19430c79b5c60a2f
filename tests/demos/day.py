"""What both demo days share: the bot that lives through them, and the command that prints them."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

StartBot = Callable[[str, Mapping[str, str]], AbstractAsyncContextManager[None]]
Show = Callable[[str], None]


@contextlib.asynccontextmanager
async def start_bot(platform: str, access: Mapping[str, str]) -> AsyncIterator[None]:
    """The whole bot, in a data folder of its own that goes with the day; `access` are settings of the adapter."""
    from bot.server import serve  # noqa: PLC0415  - the day itself needs no bot
    from bot.settings import load_settings  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="threadlore-day-") as home:
        adapter_settings = {f"{platform}_{name}": value for name, value in access.items()}
        settings = load_settings(data_dir=Path(home), adapter_settings=adapter_settings)
        stop = asyncio.Event()
        serving = asyncio.create_task(serve(settings, stop, only=(platform,)))
        try:
            yield
        finally:
            stop.set()
            await serving


def format_title(title: str) -> str:
    return f"\n━━ {title} {'━' * max(0, 96 - len(title))}\n"


def run_main(description: str | None, run_day: Callable[[StartBot, Show], Coroutine[None, None, object]]) -> None:
    """Read the arguments, and let the day begin."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--debug", action="store_true", help="show the bot's log on stderr")
    options = parser.parse_args()
    from bot import log_config  # noqa: PLC0415  - the day itself needs no bot

    log_config.configure_logging(debug=options.debug)
    asyncio.run(run_day(start_bot, _print))


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
