"""The page that sets the program up, served on a port of loopback with the codes that its terminal shows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from adapters.web.setup import set_up
from bot.settings import load_present_settings
from bot.setup.draft import SetupDraft
from engine.clock import SYSTEM_CLOCK


@dataclass
class SetupSite:
    """A running setup. `result`: whether the settings were written, once it has ended."""

    file: Path
    url: str = ""
    codes: list[str] = field(default_factory=list)
    announced: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    result: bool | None = None

    def announce(self, url: str, code: str) -> None:
        self.url = url.rstrip("/")
        self.codes.append(code)
        self.announced.set()


@asynccontextmanager
async def open_setup_site(home: Path) -> AsyncIterator[SetupSite]:
    """Serve the setup of an empty data directory, until it ends by itself or with the block."""
    file, overrides = home / ".env", {"data_dir": str(home), "web_port": "0"}
    draft = SetupDraft(file, load_present_settings(file, **overrides), {"data_dir": str(home)})
    site, stop = SetupSite(file), asyncio.Event()

    async def run() -> None:
        site.result = await set_up(draft, stop, clock=SYSTEM_CLOCK, announce=site.announce)
        site.ended.set()

    async with asyncio.TaskGroup() as group:
        group.create_task(run())
        await site.announced.wait()
        try:
            yield site
        finally:
            stop.set()
