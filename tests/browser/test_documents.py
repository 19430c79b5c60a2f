"""Somebody uploads a file on the page, asks about it, reads it, and has it forgotten."""

from __future__ import annotations

import pytest
from playwright.async_api import FilePayload, expect

from tests.browser.conftest import Visit
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=PATIENCE * 1000)


@pytest.mark.long
async def test_a_file_is_uploaded_found_and_forgotten(visit: Visit) -> None:
    page, name = visit.page, "crane.txt"
    await page.goto(f"{visit.site.url}/documents")
    rows = page.locator("#documents tbody tr").filter(has_text=name)
    text = b"The crane Osprey lifts the tiles on Tuesday."
    await page.set_input_files("#files", files=[FilePayload(name=name, mimeType="text/plain", buffer=text)])
    await expect(page.locator(".upload-item .upload-state")).to_have_text("Searchable")
    await expect(rows).to_have_count(1)
    await page.get_by_label("Search titles").fill("nothing like it")
    await expect(page.locator("#documents")).to_contain_text("Nothing matches")
    await page.get_by_label("Search titles").fill("CRANE")
    await rows.get_by_role("link", name=name).click()
    await expect(page.locator(".passage-text")).to_have_text(text.decode())
    await page.go_back()
    await rows.get_by_role("button", name=f"Forget {name}").click()
    await expect(page.locator("#forget-dialog")).to_contain_text("This would forget 1 document")
    await page.get_by_role("button", name="Forget it").click()
    await expect(page.get_by_role("status").filter(has_text="is forgotten")).to_be_visible()
    await expect(page.locator("#forget-dialog")).to_be_empty()
    await expect(rows).to_have_count(0)
