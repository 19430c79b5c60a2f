"""What both demo days share: the bot that lives through them, and the command that prints them."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sqlite3
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from engine.clock import SYSTEM_CLOCK
from tests.support.patience import PATIENCE
from tests.support.web_server import WebServer, open_web_server

WEEK, MICROSECOND = timedelta(days=7), timedelta(microseconds=1)


@dataclass(frozen=True)
class DayBot:
    """What surrounds the bot of a day: its data folder, and the web server that it can reach."""

    home: Path
    web: WebServer

    async def wait_until_indexed(self, messages: Iterable[str]) -> None:
        """Return once the bot has all of these messages in documents, by their ids."""
        wanted = set(messages)
        async with asyncio.timeout(PATIENCE):
            while not wanted <= self._list_indexed():  # noqa: ASYNC110 - the bot is another program
                await asyncio.sleep(0.05)

    def _list_indexed(self) -> set[str]:
        with closing(sqlite3.connect(self.home / "bot.db")) as database:
            return {id_ for (id_,) in database.execute("SELECT id FROM message WHERE applied")}

    def move_digests(self) -> None:
        """Move the scheduled digests a week into the past, as if that week had gone by."""
        week = WEEK // MICROSECOND
        with closing(sqlite3.connect(self.home / "bot.db")) as database, database:
            database.execute("UPDATE digest SET since = since - ?, due_at = due_at - ?", (week, week))


StartBot = Callable[[str, Mapping[str, str]], AbstractAsyncContextManager[DayBot]]
Show = Callable[[str], None]


@contextlib.asynccontextmanager
async def start_bot(platform: str, access: Mapping[str, str], **overrides: object) -> AsyncIterator[DayBot]:
    """The whole bot, in a data folder of its own that goes with the day.

    `access` are settings of the adapter, `overrides` further settings of the bot.

    It looks for due digests each second, and takes the web server on this machine for a public one.
    """
    from bot.answers import digests  # noqa: PLC0415
    from bot.ingest.links import pages  # noqa: PLC0415
    from bot.server import serve  # noqa: PLC0415  - the day itself needs no bot
    from bot.settings import load_settings  # noqa: PLC0415

    async with contextlib.AsyncExitStack() as stack:
        web = await stack.enter_async_context(open_web_server())
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(digests, "POLL_SECONDS", 1.0)
        patch.setattr(pages, "PageFetcher", lambda _: web.fetcher())
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="threadlore-day-"))
        adapter_settings = {f"{platform}_{name}": value for name, value in access.items()}
        given = {"data_dir": Path(home), "adapter_settings": adapter_settings, "questions_per_minute": 60, **overrides}
        settings = load_settings(**given)
        stop = asyncio.Event()
        serving = asyncio.create_task(serve(settings, stop, SYSTEM_CLOCK, only=(platform,)))
        try:
            yield DayBot(settings.data_path, web)
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
    from bot.monitoring import log_config  # noqa: PLC0415  - the day itself needs no bot

    log_config.configure_logging(SYSTEM_CLOCK, debug=options.debug)
    asyncio.run(run_day(start_bot, _print))


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
