"""What a person sees in a browser who installs the app, and how an installation can fail."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from adapters.slack.install import store as stores
from adapters.slack.install.pages import INSTALL_PATH, MAX_VISITS, REDIRECT_PATH
from bot.errors import BadSetting, SetupError
from tests.adapters.slack.install.scene import Installing
from tests.support.slack_server import FakeSlack
from tests.support.slack_server.distributed import Browser, Page


@pytest.fixture
async def running(installing: Installing) -> AsyncIterator[Installing]:
    async with installing.serving():
        yield installing


async def begin(running: Installing, browser: Browser) -> str:
    """Open the first page; gives Slack's address."""
    page = await browser.open(f"{running.url}{INSTALL_PATH}")
    assert page.status == 302
    return page.location


def approve(running: Installing, url: str, target: FakeSlack | None = None) -> str:
    target = target or running.ours
    return running.hub.approve(url, target, target.user("Admin", admin=True))


async def assert_nothing_installed(running: Installing, page: Page, status: int, *words: str) -> None:
    assert page.status == status
    assert "Not installed" in page.text
    assert [word for word in words if word not in page.text] == []
    assert 'href="install"' in page.text
    assert await running.stored_tokens() == {}


async def test_a_person_installs_the_app_and_it_serves_the_workspace(running: Installing) -> None:
    browser = Browser()
    page = await running.install(running.ours, browser)
    assert (page.status, browser.cookies) == (200, {})
    assert "The app is installed in Ours" in page.text
    assert (page.headers["Cache-Control"], page.headers["Referrer-Policy"]) == ("no-store", "no-referrer")
    await running.wait_until_served(running.ours)
    [token] = running.ours.space.tokens
    assert await running.stored_tokens() == {"T0URS": token}


async def test_a_second_workspace_is_served_beside_the_first(running: Installing) -> None:
    for each in (running.ours, running.theirs):
        await running.install(each)
    await running.wait_until_served(running.ours, running.theirs)


async def test_an_installation_of_another_browser_is_refused(running: Installing) -> None:
    url = approve(running, await begin(running, Browser()))
    for stranger in (Browser(), Browser({"slack-app-oauth-state": "guessed"})):
        await assert_nothing_installed(running, await stranger.open(url), 400, "another browser")
    assert running.hub.calls == []


async def test_a_state_is_accepted_once(running: Installing) -> None:
    browser = Browser()
    url = approve(running, await begin(running, browser))
    cookies = dict(browser.cookies)
    assert (await browser.open(url)).status == 200
    again = approve(running, f"{running.hub.url}/oauth/v2/authorize?{authorize_query(running, url)}", running.theirs)
    page = await Browser(cookies).open(again)
    assert (page.status, "over already" in page.text) == (401, True)
    assert set(await running.stored_tokens()) == {"T0URS"}


def authorize_query(running: Installing, redirected: str) -> str:
    """Slack's page with a state that was used before."""
    state = parse_qs(urlsplit(redirected).query)["state"][0]
    return urlencode({"client_id": "1000.2000", "state": state, "scope": ",".join(running.hub.app.scopes)})


async def test_strangers_who_begin_an_installation_store_nothing(running: Installing) -> None:
    for _ in range(5):
        browser = Browser()
        url = running.hub.cancel(await begin(running, browser))
        await browser.open(url)
    rows = await running.bot.store._database.fetch_all("SELECT count(*) FROM installation_state")
    assert rows == [(0,)]


@pytest.mark.long
async def test_an_address_has_few_visits_in_a_minute_and_the_others_have_theirs(running: Installing) -> None:
    browser = Browser()
    state = parse_qs(urlsplit(await begin(running, browser)).query)["state"][0]
    url = f"{running.url}{REDIRECT_PATH}?{urlencode({'code': 'wrong', 'state': state})}"
    shown = [await Browser(dict(browser.cookies)).open(url) for _ in range(MAX_VISITS)]
    assert [page.status for page in shown] == [401] * (MAX_VISITS - 1) + [429]
    assert "Wait a minute" in shown[-1].text
    assert len(running.hub.calls) == MAX_VISITS - 1
    async with httpx.AsyncClient() as other:  # behind a proxy on this machine
        page = await other.get(f"{running.url}{INSTALL_PATH}", headers={"X-Forwarded-For": "192.0.2.7"})
    assert page.status_code == 302
    running.hub.clock.advance(61)
    assert (await browser.open(url)).status == 401


async def test_a_missing_and_an_expired_state_are_refused(running: Installing, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser()
    await begin(running, browser)
    page = await browser.open(f"{running.url}{REDIRECT_PATH}?code=1")
    await assert_nothing_installed(running, page, 400, "another browser")
    monkeypatch.setattr(stores, "STATE_SECONDS", -1)
    late = Browser()
    page = await late.open(approve(running, await begin(running, late)))
    await assert_nothing_installed(running, page, 401, "longer than ten minutes")


async def test_a_person_who_cancels_is_told_that_nothing_happened(running: Installing) -> None:
    browser = Browser()
    page = await browser.open(running.hub.cancel(await begin(running, browser)))
    await assert_nothing_installed(running, page, 200, "The installation was cancelled")


async def test_a_wrong_and_a_missing_code_are_refused(running: Installing) -> None:
    for query, words in (({"code": "wrong"}, "its code is wrong"), ({}, "did not confirm")):
        browser = Browser()
        state = parse_qs(urlsplit(await begin(running, browser)).query)["state"][0]
        page = await browser.open(f"{running.url}{REDIRECT_PATH}?{urlencode({**query, 'state': state})}")
        await assert_nothing_installed(running, page, 401, words)


async def test_what_a_stranger_writes_into_the_address_is_shown_as_text(running: Installing) -> None:
    page = await Browser().open(f"{running.url}{REDIRECT_PATH}?error=%3Cscript%3Ealert(1)%3C/script%3E")
    assert "<script>" not in page.text
    assert "&lt;script&gt;" in page.text


async def test_slack_that_cannot_be_reached_is_not_a_broken_page(installing: Installing) -> None:
    async with installing.serving(api_base="http://127.0.0.1:9/api/"):
        browser = Browser()
        state = parse_qs(urlsplit(await begin(installing, browser)).query)["state"][0]
        page = await browser.open(f"{installing.url}{REDIRECT_PATH}?{urlencode({'code': '1', 'state': state})}")
        await assert_nothing_installed(installing, page, 502, "Slack could not be reached")


async def test_a_wrong_client_secret_installs_nothing(installing: Installing) -> None:
    async with installing.serving(client_secret="wrong"):
        page = await installing.install(installing.ours)
        await assert_nothing_installed(installing, page, 401)
        assert [call.outcome for call in installing.hub.calls] == ["bad_client_secret"]


@pytest.mark.parametrize(
    ("changes", "error", "variable"),
    [
        ({"client_secret": ""}, SetupError, "THREADLORE_SLACK_CLIENT_SECRET"),
        ({"encryption_keys": " , "}, BadSetting, "THREADLORE_SLACK_ENCRYPTION_KEYS"),
        ({"signing_secret": ""}, SetupError, "THREADLORE_SLACK_SIGNING_SECRET"),
        ({"mode": "socket"}, SetupError, "THREADLORE_SLACK_APP_TOKEN"),
    ],
)
async def test_missing_secrets_are_named(
    installing: Installing, changes: dict[str, Any], error: type[Exception], variable: str
) -> None:
    with pytest.raises(error, match=variable):
        async with installing.serving(**changes):
            pass
