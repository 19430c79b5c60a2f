"""Who the bot is in a workspace, and what its app lacks there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from slack_sdk.web.async_client import AsyncWebClient
from structlog.testing import capture_logs

from adapters.slack.context import fetch_identity
from tests.support.slack_server import FakeSlack
from tests.support.slack_server.app import App


@pytest.mark.parametrize("lacking", [[], ["channels:history", "files:read"]])
async def test_scopes_that_the_app_lacks_are_logged_at_the_start(lacking: list[str]) -> None:
    app = App.from_manifest()
    async with FakeSlack(replace(app, scopes=app.scopes - set(lacking))) as slack:
        with capture_logs() as logs:
            identity = await fetch_identity(AsyncWebClient(token=app.bot_token, base_url=slack.base_url))
    assert list(identity.lacking) == lacking
    assert [log["scopes"] for log in logs if log["event"] == "slack.scopes_missing"] == ([lacking] if lacking else [])
