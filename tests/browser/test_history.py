"""A browser remembers what its person asked, in all tabs, for as long as they are logged in."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Visit, name_cookie
from tests.support.patience import PATIENCE
from tests.support.site import HERE

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=PATIENCE * 1000)

FERRY, MILL = "When does the ferry Gudgeon leave?", "When does the mill Barbel grind? <img src=x>"
KEPT = "localStorage.getItem('threadlore-questions')"


async def ask(page: Page, question: str) -> None:
    await page.get_by_label("Your question").fill(question)
    await page.keyboard.press("Enter")
    await expect(page.locator(".turn .answer").last).to_have_attribute("aria-busy", "false")


@pytest.mark.long
async def test_questions_are_remembered_without_answers_until_the_login_ends(visit: Visit) -> None:
    page, url = visit.page, visit.site.url
    await page.goto(url)
    other = await visit.context.new_page()
    await other.goto(url)
    history, remembered = page.locator("#history"), page.locator(".history-question")
    await expect(history).to_be_hidden()
    for question in (FERRY, MILL, FERRY):
        await ask(page, question)
    await expect(remembered).to_have_text([FERRY, MILL])
    await expect(other.locator(".history-question")).to_have_text([FERRY, MILL])
    assert "noon" not in await page.evaluate(KEPT)

    await other.locator("#history summary").focus()
    await other.keyboard.press("Enter")
    await expect(other.get_by_role("button", name="Clear history")).to_be_visible()
    await other.keyboard.press("Escape")
    await expect(other.locator("#history summary")).to_be_focused()
    await other.keyboard.press("Enter")
    await other.get_by_role("button", name=f"Ask again: {MILL}").focus()
    await other.keyboard.press("Enter")
    await expect(other.locator(".turn .question")).to_have_text(MILL)
    await expect(other.locator(".turn .sources")).to_contain_text("The mill Barbel")
    await expect(remembered).to_have_text([MILL, FERRY])

    await history.locator("summary").click()
    await page.get_by_role("button", name="Clear history").click()
    await expect(history).to_be_hidden()
    await expect(page.get_by_label("Your question")).to_be_focused()
    await expect(other.locator("#history")).to_be_hidden()

    await ask(page, FERRY)
    await page.get_by_role("button", name="Log out").click()
    await expect(page.get_by_role("heading", name="Log in to Threadlore")).to_be_visible()
    assert await page.evaluate(KEPT) is None
    await expect(other.locator("#history")).to_be_hidden()


@pytest.mark.long
async def test_another_login_does_not_see_what_was_asked_before(visit: Visit) -> None:
    page, url = visit.page, visit.site.url
    await page.goto(url)
    await ask(page, FERRY)
    token = await visit.site.create_token(HERE)
    await visit.context.add_cookies([{"name": name_cookie(url), "value": token, "url": url, "sameSite": "Strict"}])
    other = await visit.context.new_page()
    await other.goto(f"{url}/documents")
    assert "Gudgeon" not in await other.evaluate(KEPT)
    await expect(page.locator("#history")).to_be_hidden()
    await ask(page, FERRY)  # with the cookie of the other login, on a page of the former one
    assert "Gudgeon" not in await other.evaluate(KEPT)
