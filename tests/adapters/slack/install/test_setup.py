"""The setup of a Slack app: the page that creates it, and what Slack says about its tokens."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from adapters.slack.install.manifests import read_manifest
from adapters.slack.install.setup import SlackSetup, build_creation_url
from bot.settings import Settings, load_settings
from tests.adapters.slack.test_manifest import MANIFEST
from tests.support.slack_server import FakeSlack

SETUP = SlackSetup()


def settings(slack: FakeSlack, **tokens: str) -> Settings:
    app = slack.space.app
    own = {"slack_api_base": slack.base_url, "slack_app_token": app.app_token, "slack_bot_token": app.bot_token}
    return load_settings(adapter_settings={**own, **tokens})


def test_the_page_that_creates_the_app_has_the_whole_manifest() -> None:
    url = build_creation_url("manifest.json")
    query = parse_qs(urlsplit(url).query)
    assert json.loads(query["manifest_json"][0]) == MANIFEST
    assert query["new_app"] == ["1"]
    assert len(url) < 8000  # of an address that servers take


@pytest.mark.parametrize(
    ("own", "variant", "name", "needed"),
    [
        ({}, "free", "manifest-free.json", ["slack_app_token", "slack_bot_token"]),
        ({}, "agent", "manifest.json", ["slack_app_token", "slack_bot_token"]),
        ({"slack_mode": "http"}, "free", "manifest-http.json", ["slack_signing_secret", "slack_bot_token"]),
    ],
)
def test_the_settings_choose_the_manifest_and_the_tokens(
    own: dict[str, str], variant: str, name: str, needed: list[str]
) -> None:
    chosen = load_settings(adapter_settings=own)
    assert SETUP.list_first_steps(chosen, variant)[0].link == build_creation_url(name)
    assert [credential.setting for credential in SETUP.list_needed(chosen)] == needed
    assert read_manifest(name)["display_information"]


async def test_slack_says_who_the_bot_is_and_which_scopes_it_lacks(slack: FakeSlack) -> None:
    found = await SETUP.check(settings(slack))
    assert [check.state for check in found] == ["ok", "ok"]
    slack.space.app = replace(slack.space.app, scopes=slack.space.app.scopes - {"files:read", "users:read"})
    [who, scopes, socket] = await SETUP.check(settings(slack))
    assert (who.state, scopes.state, socket.state) == ("ok", "warning", "ok")
    assert "files:read, users:read" in scopes.text


async def test_each_token_that_slack_refuses_is_named(slack: FakeSlack) -> None:
    found = await SETUP.check(settings(slack, slack_bot_token="xoxb-1-2-other", slack_app_token="xapp-1-other"))
    assert [check.state for check in found] == ["failed", "failed"]
    assert "THREADLORE_SLACK_BOT_TOKEN" in found[0].text
    assert "THREADLORE_SLACK_APP_TOKEN" in found[1].text


async def test_what_cannot_be_reached_is_unknown(slack: FakeSlack) -> None:
    [found] = await SETUP.check(settings(slack, slack_api_base="http://127.0.0.1:9/"))
    assert found.state == "unknown"
