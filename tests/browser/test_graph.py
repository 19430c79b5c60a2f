"""Somebody explores the graph: a name is searched, expanded, checked, merged and brought back, also by keys alone."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.support.patience import PATIENCE
from tests.support.site import CREW_LINK, SECRET

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=PATIENCE * 1000)

FOCUS_IS_DRAWN = """() => {
  const style = getComputedStyle(document.activeElement);
  return document.activeElement !== document.body && (style.outlineStyle !== "none" || style.boxShadow !== "none");
}"""


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


async def describe_focus(visit: Visit) -> tuple[str, bool]:
    """The accessible name of what has the focus, and whether the focus is drawn."""
    session = await visit.context.new_cdp_session(visit.page)
    focused = await session.send("Runtime.evaluate", {"expression": "document.activeElement"})
    handle = {"objectId": focused["result"]["objectId"], "fetchRelatives": False}
    tree = await session.send("Accessibility.getPartialAXTree", handle)
    await session.detach()
    return str(tree["nodes"][0].get("name", {}).get("value", "")), bool(await visit.page.evaluate(FOCUS_IS_DRAWN))


async def tab_to(visit: Visit, target: Locator, key: str = "Tab") -> None:
    """Press a key until this has the focus; each stop on the way has a name and is drawn."""
    for _ in range(40):
        await visit.page.keyboard.press(key)
        name, is_drawn = await describe_focus(visit)
        shown = await visit.page.evaluate("document.activeElement.outerHTML.slice(0, 300)")
        assert name, shown
        assert is_drawn, shown
        if await target.evaluate("each => each === document.activeElement"):
            return
    raise AssertionError(f"{key} does not reach {target}.")


async def step_to_neighbor(page: Page) -> str:
    """Press Tab in the picture; returns the name that it selects, once its details are there."""
    before = await page.locator("#graph-status").inner_text()
    await page.keyboard.press("Tab")
    await expect(page.locator("#graph-status")).not_to_have_text(before)
    name = (await page.locator("#graph-status").inner_text()).split(",")[0]
    await expect(page.locator(".graph-head h2")).to_have_text(name)
    await expect(page.locator(".graph-related")).to_be_visible()
    return name


@pytest.mark.long
async def test_keys_alone_search_expand_check_merge_and_undo(visit: Visit) -> None:
    page = visit.page
    await page.goto(f"{visit.site.url}/graph")
    await tab_to(visit, page.get_by_role("link", name="Skip to content"))
    await page.keyboard.press("Enter")
    await tab_to(visit, page.get_by_role("combobox"))
    await page.keyboard.type("Perla")
    await page.get_by_role("option", name="Perla").wait_for()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.locator(".graph-related")).to_be_visible()
    await tab_to(visit, page.locator("#graph-canvas"))
    await step_to_neighbor(page)
    await page.keyboard.press("Enter")
    await expect(page.locator("#graph-status")).to_contain_text("around")
    name = await step_to_neighbor(page)

    await tab_to(visit, page.locator(".graph-source summary").first)
    await page.keyboard.press("Enter")
    await expect(page.locator(".graph-source blockquote").first).to_contain_text(name)
    await tab_to(visit, page.get_by_role("button", name="Merge…"), "Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("The other name")).to_be_focused()
    await page.keyboard.type("Perla")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Undo", exact=True)).to_be_focused()
    await expect(row(page, name)).to_have_count(0)
    await page.keyboard.press("Enter")
    await expect(page.locator("#graph-rows button", has_text=name).first).to_be_attached()
    await tab_to(visit, page.get_by_role("button", name="Dismiss"))
    await page.keyboard.press("Enter")
    await expect(page.locator("#graph-canvas")).to_be_focused()


@pytest.mark.long
async def test_two_names_are_merged_and_separated_again(visit: Visit) -> None:
    page = await open_around(visit, "Perla")
    await expect(row(page, "Quentin")).to_be_visible()
    await row(page, "Quentin").click()
    await expect(page.locator(".graph-head h2")).to_have_text("Quentin")
    await page.get_by_role("button", name="Merge…").click()
    await page.get_by_label("The other name").fill("Nobody")
    await page.get_by_role("button", name="Merge", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("“Nobody” is not known here.")
    assert ["404" in trouble for trouble in visit.troubles] == [True]
    visit.troubles.clear()
    await page.get_by_label("The other name").fill("Perla")
    await page.get_by_role("button", name="Merge", exact=True).click()
    await expect(page.locator("#graph-done")).to_contain_text("is now merged into “Perla”")
    await expect(row(page, "Quentin")).to_have_count(0)
    await expect(row(page, "Rosalba")).to_be_visible()
    await page.locator("#graph-corrections summary").click()
    await page.get_by_role("button", name="Undo merge of Quentin").click()
    await expect(row(page, "Quentin")).to_be_visible()
    await expect(page.locator("#graph-made")).to_contain_text("none that you can undo")

    await page.set_viewport_size({"width": 360, "height": 700})
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
