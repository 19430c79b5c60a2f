"""A real browser, one for each worker, and a site that it visits. Without Chromium or the built page they skip."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from adapters.web.pages.shell import are_built
from tests.support.patience import PATIENCE
from tests.support.site import HERE, Site, open_site

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    if not are_built():
        pytest.skip("the page is not built: make test")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=PATIENCE * 1000)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    async with open_site(tmp_path_factory.mktemp("site")) as site:
        yield site


@dataclass
class Visit:
    """A window of the browser, and what went wrong in it."""

    site: Site
    context: BrowserContext
    page: Page
    troubles: list[str] = field(default_factory=list)

    async def log_in(self, token: str) -> None:
        await self.page.goto(f"{self.site.url}/login")
        await self.page.get_by_label("Access token").fill(token)
        await self.page.get_by_role("button", name="Log in").click()
        await self.page.wait_for_url(f"{self.site.url}/")


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, site: Site) -> AsyncIterator[Visit]:
    """A window of somebody who is logged in, in which no script fails and nothing of another host is loaded."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE * 1000)
    token = await site.create_token(HERE)
    cookie = name_cookie(site.url)
    await context.add_cookies([{"name": cookie, "value": token, "url": site.url, "sameSite": "Strict"}])
    page = await context.new_page()
    site.language.released.set()
    visit = Visit(site, context, page)
    page.on("pageerror", lambda error: visit.troubles.append(str(error)))
    page.on("console", lambda message: visit.troubles.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: None if _is_own(request.url, site) else visit.troubles.append(request.url))
    yield visit
    await context.close()
    assert visit.troubles == []


def name_cookie(url: str) -> str:
    """The name of the cookie of a site on this machine."""
    return f"threadlore-{urlsplit(url).port}"


def _is_own(url: str, site: Site) -> bool:
    return url.startswith((site.url, "data:"))
