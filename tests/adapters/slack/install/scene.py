"""The adapter over HTTP with an app that people install in two workspaces, on loopback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapters.slack import run
from adapters.slack.http_receiver import PATH
from adapters.slack.install.pages import REDIRECT_PATH
from adapters.slack.install.store import InstallationStore, TokenCipher
from bot.settings import Settings
from bot.store import BotStore
from bot.store.shared.visibility import SharedVisibility
from tests.adapters.recording_bot import RecordingBot
from tests.support.slack_server import FakeSlack, Timing
from tests.support.slack_server.distributed import Browser, Hub, Organization, Page
from tests.support.slack_server.distributed.hub import CLIENT_ID, CLIENT_SECRET
from tests.support.slack_server.request_url import SIGNING_SECRET, RequestUrl
from tests.support.town.slack_hub import KEY, install, load_distributed_app


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


@dataclass
class Installing:
    """A hub with the workspaces Ours and Theirs, and the adapter, which `serving` runs."""

    hub: Hub
    home: Path
    ours: FakeSlack
    theirs: FakeSlack
    port: int = field(default_factory=find_free_port)
    bot: Any = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def settings(self, **changes: str) -> Settings:
        own = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "encryption_keys": KEY, "mode": "http"}
        own |= {"own_workspaces": "T0URS, T0THEIRS, E0GRID"}
        own |= {"signing_secret": SIGNING_SECRET, "http_port": str(self.port), "api_base": f"{self.hub.url}/api/"}
        own = {f"slack_{name}": value for name, value in {**own, **changes}.items()}
        return Settings.model_validate({"adapter_settings": own, "membership_cache_seconds": 0.0})

    @asynccontextmanager
    async def serving(self, *, shared: bool = False, **changes: str) -> AsyncIterator[RecordingBot]:
        """Run the adapter. `shared`: other processes may use the database, too."""
        self.hub.redirect_url = f"{self.url}{REDIRECT_PATH}"
        over_http = changes.get("mode", "http") == "http"
        self.hub.socket.request_url = RequestUrl(f"{self.url}{PATH}", self.hub.clock) if over_http else None
        async with BotStore.open(self.home / "bot.db", self.hub.clock) as store:
            if shared:
                store.shared_visibility = SharedVisibility(store._database, 1)
            bot: Any = RecordingBot(self.hub.clock)
            bot.store, bot.settings = store, self.settings(**changes)
            self.bot, stop = bot, asyncio.Event()
            task = asyncio.create_task(run(bot, bot.settings, stop))
            try:
                await self.wait_for(lambda: bot.platforms or task.done())
                await self.wait_for(lambda: task.done() or self._accepts_connections())
                yield bot
            finally:
                stop.set()
                await task

    def _accepts_connections(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    async def install(self, target: FakeSlack | Organization, browser: Browser | None = None) -> Page:
        """Install the app as a person does; gives the last page."""
        return await install(self.hub, self.url, target, browser)

    async def wait_until_served(self, *teams: FakeSlack) -> None:
        """Wait until these workspaces are open and reconciled, and no others."""
        wanted = {team.space.team for team in teams}
        await self.wait_for(lambda: self.served() == wanted)
        await self.wait_for(lambda: {team for what, team in self.bot.visibility if what == "reconcile"} >= wanted)

    def served(self) -> set[str]:
        """The workspaces that the bot can call now."""
        return set(self.bot.platform.listable_workspaces)

    async def wait_for(self, condition: Any) -> None:
        await self.ours.wait_for(condition)

    async def stored_tokens(self, key: str = KEY) -> dict[str, str]:
        """The bot tokens in the database, decrypted, by the id of their installation."""
        store = InstallationStore(self.bot.store.installations, TokenCipher([key]))
        return {each.record.workspace: each.installation.bot_token or "" for each in await store.list_all()}


@asynccontextmanager
async def open_hub(home: Path, **options: Any) -> AsyncIterator[Installing]:
    """A hub with two workspaces, in which the app is not installed."""
    async with Hub(load_distributed_app(), **{"timing": Timing(retries=()), **options}) as hub:
        yield Installing(hub, home, hub.workspace("T0URS", "Ours"), hub.workspace("T0THEIRS", "Theirs"))
