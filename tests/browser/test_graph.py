"""Somebody explores the graph: a name is searched, expanded, checked, merged and brought back, also by keys alone."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.support.patience import PATIENCE
from tests.support.site import CREW_LINK, SECRET

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=PATIENCE * 1000)


async def open_around(visit: Visit, name: str) -> Page:
    page = visit.page
    await page.goto(f"{visit.site.url}/graph")
    await page.get_by_role("combobox").fill(name)
    await page.get_by_role("option", name=name).wait_for()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.locator(".graph-head h2")).to_have_text(name)
    await page.get_by_text("The same as a table").click()
    return page


def row(page: Page, name: str) -> Locator:
    return page.locator("#graph-rows").get_by_role("button", name=name, exact=True)


async def test_a_name_is_found_expanded_and_traced_to_its_message(visit: Visit) -> None:
    page = await open_around(visit, "Otto")
    await expect(row(page, "Perla")).to_be_visible()
    await expect(row(page, "Quentin")).to_have_count(0)
    await expect(page.get_by_role("img", name="A graph around Otto: 2 names")).to_be_visible()
    await page.locator("#graph-canvas").focus()
    await page.keyboard.press("Tab")
    await expect(page.locator(".graph-head h2")).to_have_text("Perla")
    await page.keyboard.press("Enter")
    await expect(row(page, "Quentin")).to_be_visible()
    await expect(page.locator("#graph-status")).to_have_text("Added 1 name around Perla.")
    await page.get_by_role("button", name="Expand Quentin").click()
    await expect(page.get_by_role("img", name="A graph around Otto: 4 names and 3 relations")).to_be_visible()

    await page.get_by_text("Related in the picture (2)").click()
    await page.get_by_role("button", name="Quentin · neighbor").click()
    await expect(page.locator(".graph-head h2")).to_contain_text("Quentin")
    await page.locator(".graph-source summary").first.click()
    await expect(page.locator(".graph-source blockquote").first).to_contain_text("Perla knows Quentin")
    await expect(page.get_by_role("link", name="Open the source").first).to_have_attribute("href", CREW_LINK)
    assert SECRET not in await page.content()


async def test_two_names_are_merged_and_separated_again(visit: Visit) -> None:
    page = await open_around(visit, "Perla")
    await expect(row(page, "Quentin")).to_be_visible()
    await row(page, "Quentin").click()
    await expect(page.locator(".graph-head h2")).to_have_text("Quentin")
    await page.get_by_role("button", name="Merge…").click()
    await page.get_by_label("The other name").fill("Nobody")
    await page.get_by_role("button", name="Merge", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("“Nobody” is not known there.")
    assert ["404" in each for each in visit.troubles] == [True]
    visit.troubles.clear()
    await page.get_by_label("The other name").fill("Perla")
    await page.get_by_role("button", name="Merge", exact=True).click()
    await expect(page.locator("#graph-done")).to_contain_text("is now merged into “Perla”")
    await expect(row(page, "Quentin")).to_have_count(0)
    await expect(row(page, "Rosalba")).to_be_visible()
    await page.get_by_role("button", name="Undo", exact=True).click()
    await expect(row(page, "Quentin")).to_be_visible()

    await page.set_viewport_size({"width": 360, "height": 700})
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
