"""Somebody logs in on another site and comes back: the strict cookie, which that way does not send, is there."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from adapters.web.oauth import LoginOptions
from bot.permissions.resolver import AudienceResolver
from bot.platform.models import Person
from engine.clock import SYSTEM_CLOCK
from tests.browser.conftest import name_cookie
from tests.support.fake_platform import FakePlatform
from tests.support.login_server import open_login_server
from tests.support.patience import PATIENCE
from tests.support.site import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=PATIENCE * 1000)


async def test_a_login_at_slack_leads_back_to_the_page_that_was_asked_for(
    browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    slack, store = FakePlatform("slack", "T1"), site.access._store
    slack.people["U1"] = Person("U1", "Mina")
    await store.channels.upsert(slack.add_channel("SQUARE", "U1"), "square")
    monkeypatch.setattr(site.access, "_audience", AudienceResolver({"slack": slack}, store, 0.0, SYSTEM_CLOCK))
    context = await browser.new_context()
    context.set_default_timeout(PATIENCE * 1000)
    async with open_login_server() as server:
        options = LoginOptions({"slack": server.client("slack", site.url)}, {"slack": server.slack})
        monkeypatch.setitem(site.app.state._state, "login_options", options)
        page = await context.new_page()
        await page.goto(f"{site.url}/?q=1")
        await page.get_by_role("link", name="Sign in with Slack").click()
        await page.get_by_role("link", name="Allow").click()
        await expect(page.get_by_label("Your question")).to_be_visible()
        assert page.url == f"{site.url}/?q=1"
        [cookie] = await context.cookies()
        assert (cookie["name"], cookie["sameSite"], cookie["httpOnly"]) == (name_cookie(site.url), "Strict", True)
        assert (await site.access.list_tokens())[-1].subject.person == "U1"
    await context.close()
