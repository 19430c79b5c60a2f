"""A workspace to speak to, and the adapter's platform in it."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from importlib import resources
from typing import TYPE_CHECKING

import aiohttp
import pytest

from adapters.slack import build_context
from adapters.slack.api import clients
from adapters.slack.api.rate_limits import RateLimits
from adapters.slack.platform import SlackPlatform
from bot.settings import Settings
from tests.adapters.slack.talking import Talk
from tests.support.slack_server import App, FakeSlack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from adapters.slack.context import SlackContext


def settings_for(slack: FakeSlack) -> Settings:
    app = slack.space.app
    return Settings.model_validate(
        {
            "adapter_settings": {
                "slack_bot_token": app.bot_token,
                "slack_app_token": app.app_token,
                "slack_api_base": slack.base_url,
            }
        }
    )


class Desk:
    """The adapter between two starts: what one run remembers."""

    def __init__(self, platform: SlackPlatform, study: SlackContext) -> None:
        self.platform = platform
        self.study = study


@asynccontextmanager
async def opened(slack: FakeSlack) -> AsyncIterator[Desk]:
    """A run of the adapter without its socket, in the time of the workspace."""
    settings = settings_for(slack)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
        study = await build_context(settings, session, RateLimits(slack.clock.now, slack.clock.sleep))
        yield Desk(
            SlackPlatform(study, clients.history_client(settings, session), settings.membership_cache_seconds), study
        )
        for task in list(study.tasks):
            task.cancel()


MANIFEST = json.loads((resources.files("adapters.slack") / "manifest.json").read_text())


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    """A workspace in which the app is installed as the manifest says."""
    async with FakeSlack(App.from_manifest(MANIFEST)) as fake:
        yield fake


@pytest.fixture
async def desk(slack: FakeSlack) -> AsyncIterator[Desk]:
    async with opened(slack) as found:
        yield found


@pytest.fixture
def restarted(slack: FakeSlack) -> AbstractAsyncContextManager[Desk]:
    """Another run, which remembers nothing of the first."""
    return opened(slack)


@pytest.fixture
async def talk(slack: FakeSlack) -> Talk:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    return Talk(slack, ada, room, await ada.mentions(room, "why is it wet?"))
