"""Two workspaces of one Slack app as towns that one bot serves: `ours`, the town itself, and `theirs`."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any, Self

from cryptography.fernet import Fernet

from adapters.slack.install.pages import INSTALL_PATH, REDIRECT_PATH
from tests.support.slack_server import App, FakeSlack, Timing
from tests.support.slack_server.distributed import Browser, Hub, Page
from tests.support.slack_server.distributed.grants import Organization
from tests.support.slack_server.distributed.hub import CLIENT_ID, CLIENT_SECRET
from tests.support.town.slack import SlackHttpTown, SlackTown

KEY = Fernet.generate_key().decode()


def load_distributed_app() -> App:
    """The app that the manifest for many workspaces creates."""
    manifest = resources.files("adapters.slack").joinpath("manifest-distributed.json").read_text("utf-8")
    return App.from_manifest(json.loads(manifest))


async def install(hub: Hub, url: str, target: FakeSlack | Organization, browser: Browser | None = None) -> Page:
    """Install the app, whose pages are at `url`, as a person does; gives the last page."""
    browser = browser or Browser()
    slack = target.members[0] if isinstance(target, Organization) else target
    hub.redirect_url = f"{url}{REDIRECT_PATH}"
    begun = await browser.open(f"{url}{INSTALL_PATH}")
    return await browser.open(hub.approve(begun.location, target, slack.user("Admin", admin=True)))


class SlackHubTown(SlackHttpTown):
    """The workspaces; a person is of the one in which they are named."""

    def __init__(self) -> None:
        self.hub = Hub(load_distributed_app(), timing=Timing(retries=()))
        super().__init__(self.hub.workspace("T0URS", "Ours"))
        self.theirs = SlackTown(self.hub.workspace("T0THEIRS", "Theirs"))

    async def __aenter__(self) -> Self:
        await self.hub.__aenter__()
        return self

    async def __aexit__(self, *how: object) -> None:
        await self.hub.__aexit__(*how)

    @property
    def adapter_settings(self) -> dict[str, str]:
        own = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "encryption_keys": KEY}
        own |= {"api_base": f"{self.hub.url}/api/", "own_workspaces": "T0URS,T0THEIRS"}
        rest = {name: value for name, value in super().adapter_settings.items() if name != "slack_bot_token"}
        return rest | {f"slack_{name}": value for name, value in own.items()}

    async def install(self, town: SlackTown, bot: Any) -> None:
        """Install the app in a workspace, and wait until the bot serves it."""
        page = await install(self.hub, f"http://127.0.0.1:{self.port}", town.slack)
        assert page.status == 200
        await self.wait_for(lambda: town.slack.space.team in bot.context.platforms["slack"].listable_workspaces)
