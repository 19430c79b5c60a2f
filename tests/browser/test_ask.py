"""Somebody asks on the page: the answer arrives in pieces, leads to its sources, and runs nothing that they contain."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Visit
from tests.support.patience import PATIENCE
from tests.support.site import LINK, SECRET, VAULT

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=PATIENCE * 1000)


async def ask(page: Page, question: str) -> None:
    await page.get_by_label("Your question").fill(question)
    await page.keyboard.press("Enter")


async def test_an_answer_grows_is_cited_and_goes_on_in_a_conversation(visit: Visit) -> None:
    page, language = visit.page, visit.site.language
    await page.goto(visit.site.url)
    language.released.clear()
    await ask(page, "When does the ferry Gudgeon leave?")
    answer = page.locator(".turn .answer")
    await expect(answer).to_contain_text("Indeed")
    await expect(answer).to_have_attribute("aria-busy", "true")
    assert "noon" not in await answer.inner_text()
    language.released.set()
    await expect(answer).to_have_attribute("aria-busy", "false")
    await expect(answer.locator("strong").first).to_have_text("noon")

    citation = answer.locator("a.citation").first
    await citation.focus()
    await expect(page.locator("#preview")).to_contain_text("Mina sells the tickets")
    await visit.context.route(f"{LINK}*", lambda route: route.fulfill(body="The note itself."))
    async with visit.context.expect_page() as opened:
        await citation.click()
    note = await opened.value
    await expect(note.locator("body")).to_have_text("The note itself.")
    assert await note.evaluate("window.opener") is None
    await note.close()

    await ask(page, "And who sells the tickets?")
    second = page.locator(".turn").nth(1)
    await expect(second.locator(".sources")).to_contain_text("Harbor")
    await page.get_by_role("button", name="New conversation").click()
    await expect(page.locator(".turn")).to_have_count(0)


@pytest.mark.long
async def test_a_stopped_answer_ends_and_keeps_its_text(visit: Visit) -> None:
    page, language = visit.page, visit.site.language
    await page.goto(visit.site.url)
    language.released.clear()
    language.is_closed.clear()
    await ask(page, "Where does Mina sell the tickets of the ferry Gudgeon?")
    await expect(page.locator(".answer")).to_contain_text("Indeed")
    await page.get_by_role("button", name="Stop").click()
    async with asyncio.timeout(PATIENCE):
        await language.is_closed.wait()
    language.released.set()
    await expect(page.locator(".answer-notices")).to_contain_text("Stopped")
    await expect(page.get_by_role("button", name="Ask")).to_be_visible()


async def test_a_hostile_source_runs_nothing(visit: Visit) -> None:
    page = visit.page
    await page.goto(visit.site.url)
    await ask(page, "When does the mill Barbel grind? <img src=x onerror=\"document.title = 'owned'\">")
    await expect(page.locator(".sources")).to_contain_text("<img src=x")
    await page.locator(".source summary").first.click()
    await expect(page.locator(".passage").first).to_contain_text("<script>")
    for link in await page.locator(".turn a").all():
        assert not (await link.get_attribute("href") or "").startswith("javascript")
    assert await page.locator(".turn :is(img, script, svg [onload], [onclick], [onerror])").count() == 0
    assert await page.title() == "Ask · Threadlore"


@pytest.mark.long
async def test_somebody_else_logs_in_and_finds_no_secret(visit: Visit) -> None:
    page, site = visit.page, visit.site
    await page.goto(site.url)
    await ask(page, "What is the password of the vault Pike?")
    await expect(page.locator(".answer")).to_have_attribute("aria-busy", "false")
    assert SECRET not in await page.content()
    await page.get_by_role("button", name="Log out").click()
    await expect(page.get_by_role("heading", name="Log in to Threadlore")).to_be_visible()
    await visit.log_in(await site.create_token(VAULT))
    await ask(page, "What is the password of the vault Pike?")
    await expect(page.locator(".answer")).to_contain_text(SECRET)


@pytest.mark.long
async def test_the_theme_is_remembered_and_a_telephone_shows_everything(visit: Visit) -> None:
    page = visit.page
    await page.set_viewport_size({"width": 360, "height": 700})
    await page.goto(visit.site.url)
    await page.get_by_role("button", name="Switch between light and dark").click()
    await page.reload()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    await expect(page.get_by_label("Your question")).to_be_in_viewport()


@pytest.mark.long
async def test_a_link_of_another_site_leads_in_and_a_form_of_it_does_nothing(visit: Visit) -> None:
    url, foreign = visit.site.url, "https://foreign.example/"
    body = f'<a href="{url}/">in</a><form method="post" action="{url}/logout"><button>out</button></form>'
    await visit.context.route(foreign, lambda route: route.fulfill(body=body, content_type="text/html"))
    page = await visit.context.new_page()
    await page.goto(foreign)
    await page.get_by_role("button", name="out").click()
    await expect(page.locator("body")).to_contain_text("does not come from a page of this server")
    await page.goto(foreign)
    await page.get_by_role("link", name="in").click()
    await expect(page.get_by_label("Your question")).to_be_visible()
