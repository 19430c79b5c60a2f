"""Every page can be read and used by everybody: contrast, names of controls, targets, one heading, one main part."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.asyncio(loop_scope="session")

FIND_PROBLEMS = Path(__file__).with_name("accessibility.js").read_text(encoding="utf-8")
PATHS = ("/documents", "/channels", "/questions", "/usage", "/health", "/login")


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
async def test_no_page_has_a_barrier(visit: Visit, scheme: Literal["light", "dark"], width: int) -> None:
    page, found = visit.page, dict[str, list[str]]()
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": width, "height": 800})
    for path in PATHS:
        await page.goto(f"{visit.site.url}{path}")
        found[path] = await page.evaluate(FIND_PROBLEMS)
    await page.goto(f"{visit.site.url}/graph?entity=Otto")
    await expect(page.locator(".graph-head h2")).to_have_text("Otto")
    found["/graph"] = await page.evaluate(FIND_PROBLEMS)
    await page.goto(visit.site.url)
    await page.get_by_label("Your question").fill("When does the ferry Gudgeon leave?")
    await page.keyboard.press("Enter")
    await expect(page.locator(".answer")).to_have_attribute("aria-busy", "false")
    await page.locator("#history summary").click()
    found["/"] = await page.evaluate(FIND_PROBLEMS)
    assert {path: problems for path, problems in found.items() if problems} == {}


async def test_what_is_a_barrier_is_found(visit: Visit) -> None:
    await visit.page.goto(f"{visit.site.url}/health")
    barriers = "<h1 id=a></h1><p id=a>gray</p><button></button><span role=button>x</span>"
    await visit.page.locator("main").evaluate("(main, html) => main.insertAdjacentHTML('beforeend', html)", barriers)
    await visit.page.locator("p#a").evaluate("each => each.style.color = '#999'")
    found = await visit.page.evaluate(FIND_PROBLEMS)
    assert [each.split(" ")[0] for each in found] == ["contrast", "no", "target", "id", "not"]
