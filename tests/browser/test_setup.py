"""Somebody sets the program up on a phone: a token in the wrong field moves, and the first question is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from bot.settings import read_variables
from bot.setup import weights
from tests.support.patience import PATIENCE
from tests.support.setup_site import open_setup_site
from tests.support.slack_server import FakeSlack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=PATIENCE * 1000)


@pytest.mark.long
async def test_a_phone_leads_from_the_code_to_the_first_question(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "is_installed", lambda _: True)
    context = await browser.new_context(viewport={"width": 390, "height": 800})
    context.set_default_timeout(PATIENCE * 1000)
    page, widths = await context.new_page(), list[int]()
    async with FakeSlack() as slack, open_setup_site(tmp_path / "home") as site:
        monkeypatch.setenv("THREADLORE_SLACK_API_BASE", slack.base_url)
        app = slack.space.app
        await page.goto(site.url)
        widths.append(await page.evaluate("document.documentElement.scrollWidth"))
        await page.get_by_label("Code of the terminal").fill(site.codes[0])
        await page.keyboard.press("Enter")
        await page.get_by_label("Slack", exact=True).check()
        await page.get_by_role("button", name="Go on").click()
        wanted, other = page.get_by_label("App-level token"), page.get_by_label("Bot token")
        await wanted.fill(app.bot_token)
        await wanted.blur()
        await expect(other).to_have_value(app.bot_token)
        await expect(page.get_by_text("it is in its own field now")).to_be_visible()
        widths.append(await page.evaluate("document.documentElement.scrollWidth"))
        await wanted.fill(app.app_token)
        await page.get_by_role("button", name="Check and go on").click()
        await page.get_by_role("button", name="Go on without a model").click()
        await page.get_by_role("button", name="Write and start").click()
        await expect(page.get_by_text("@threadlore What was decided lately?")).to_be_visible()
        await site.ended.wait()
    assert set(widths) == {390}
    assert read_variables(site.file)["THREADLORE_SLACK_APP_TOKEN"] == app.app_token
    await context.close()
