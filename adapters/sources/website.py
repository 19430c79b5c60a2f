"""A website or a wiki by its sitemap: pages of one host on the public internet, as its robots.txt allows."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from adapters.sources.sitemap import MAX_SIZE, find_sitemaps, parse_sitemap
from bot.errors import (
    BadSetting,
    ItemClosed,
    ItemGone,
    ItemNotRead,
    ItemNotReadNow,
    PageClosed,
    PageNotRead,
    PageUnreachable,
    SourceUnavailable,
)
from bot.platform.document_source import FetchedItem, ScanEnd, SourceItem, SourceKind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from bot.platform.document_source import Scanned, SourceTools, WebReader, WebResponse

PATH, DELAY = "path", "delay"  # options
DELAY_SECONDS, MAX_DELAY = 0.5, 60.0  # between two requests
MAX_SITEMAPS, MAX_PAGES = 200, 20_000
MAX_PAUSE = 60.0  # seconds that a server may ask for, and get; for more, the next synchronization goes on
TRIED_AGAIN = "Try again later; what is read already is tried again by itself."
MAX_FAILURES = 5  # pages that fail one after the other, before the server counts as away
TYPES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "application/pdf": ".pdf",
}
USUAL = ("/sitemap.xml", "/sitemap_index.xml", "/sitemap.xml.gz")
SITEMAP_ENDS = (".xml", ".xml.gz", ".txt")


@dataclass(slots=True)
class _Found:
    """What sitemaps list. `elsewhere`: addresses of other hosts; `is_cut`: there is more than is read."""

    pages: dict[str, str] = field(default_factory=dict)
    elsewhere: int = 0
    is_cut: bool = False
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class WebsiteSource:
    """The pages below `address`, or of a sitemap. `path`: how the paths of pages begin; `delay`: between requests."""

    address: str
    web: WebReader
    path: str
    delay: float
    at_once: int = 1
    _failures: int = 0
    _is_first: bool = True

    @property
    def host(self) -> str:
        """The name of the only host that is read."""
        return (urlsplit(self.address).hostname or "").lower()

    async def scan(self, cursor: str) -> AsyncGenerator[Scanned]:  # noqa: ARG002 - a sitemap lists all pages
        """Yield the pages of the sitemaps. Raises SourceUnavailable."""
        found = await self._read_sitemaps(await self._find_sitemaps())
        for address, changed in found.pages.items():
            yield SourceItem(address, changed, unquote(urlsplit(address).path) or "/")
        if found.elsewhere:
            name = f"{found.elsewhere:,} addresses of other hosts"
            yield SourceItem("other hosts", str(found.elsewhere), name, f"Only pages of {self.host} are read.")
        if found.is_cut:
            yield SourceItem("further pages", "", "further pages", f"At most {MAX_PAGES:,} pages are read.")
        problems = tuple(found.problems)
        yield ScanEnd(is_complete=not (problems or found.is_cut), problems=problems)

    async def fetch(self, item: SourceItem, validator: str) -> FetchedItem | None:
        """A page. Raises ItemGone, ItemClosed, ItemNotRead and SourceUnavailable."""
        try:
            response = await self._get(item.id, validator=validator, types=TYPES)
        except PageUnreachable as error:
            self._count_failure(str(error))
            raise ItemNotReadNow(str(error)) from error
        except PageClosed as error:
            raise ItemClosed(str(error)) from error
        except PageNotRead as error:
            raise ItemNotRead(str(error)) from error
        if response.status >= 500 or response.status == 429:
            self._count_failure(f"It answered {response.status}.")
            raise ItemNotReadNow(f"The server answered {response.status}.")
        self._failures = 0
        return _build_fetched(item, response)

    async def close(self) -> None:
        """Hold nothing open."""

    def _count_failure(self, reason: str) -> None:
        """Raise SourceUnavailable once so many pages failed in a row that the rest would, too."""
        self._failures += 1
        if self._failures >= MAX_FAILURES:
            raise SourceUnavailable(f"{self.host} cannot be read now. {reason}", hint=TRIED_AGAIN)

    async def _get(self, url: str, *, validator: str = "", limit: int = 0, types: Mapping[str, str]) -> WebResponse:
        """A response, after the pause between two requests, and again once the server has had the one it asks for."""
        if not self._is_first:
            await asyncio.sleep(self.delay)
        self._is_first = False
        response = await self.web.get(url, validator=validator, limit=limit, types=types)
        if response.status in {429, 503} and response.retry_after <= MAX_PAUSE:
            await asyncio.sleep(response.retry_after or self.delay)
            response = await self.web.get(url, validator=validator, limit=limit, types=types)
        return response

    async def _find_sitemaps(self) -> list[str]:
        """The addresses of sitemaps: the given one, those of robots.txt, or the usual one. Raises SourceUnavailable."""
        parts = urlsplit(self.address)
        if parts.path.lower().endswith(SITEMAP_ENDS):
            return [self.address]
        origin = f"{parts.scheme}://{parts.netloc}"
        named = await self._read_first(f"{origin}/robots.txt")
        listed = find_sitemaps(named.data.decode("utf-8", "replace")) if named.status == 200 else ()
        own = [url for sitemap in listed if self._is_own(url := urljoin(origin, sitemap))]
        if own:
            return own
        for path in USUAL:
            if (await self._read_first(origin + path)).status == 200:
                return [origin + path]
        raise SourceUnavailable(f"{self.host} has no sitemap.", hint="Name its sitemap as the address.")

    async def _read_first(self, url: str) -> WebResponse:
        """A file without which nothing is known of the site. Raises SourceUnavailable."""
        try:
            return await self._read(url)
        except PageNotRead as error:
            raise SourceUnavailable(f"{self.host} cannot be read: {error}") from error

    async def _read_sitemaps(self, waiting: list[str]) -> _Found:
        found, seen = _Found(), set[str]()
        while waiting and not found.is_cut:
            url = waiting.pop(0)
            if url in seen or not self._is_own(url):
                continue
            seen.add(url)
            found.is_cut = len(seen) > MAX_SITEMAPS
            try:
                response = await self._read(url)
                if response.status != 200:
                    raise PageNotRead(f"The server answered {response.status}.")  # noqa: TRY301 - as a broken one
                sitemap = parse_sitemap(response.data)
            except PageNotRead as error:
                found.problems.append(f"The sitemap {url} cannot be read: {error}")
                continue
            waiting += [urljoin(url, text) for text in sitemap.sitemaps]
            self._add_pages(found, url, sitemap.pages)
        if found.problems and not found.pages:
            raise SourceUnavailable(found.problems[0], hint=TRIED_AGAIN)
        return found

    async def _read(self, url: str) -> WebResponse:
        """A file that tells of pages. Raises SourceUnavailable if the server is away."""
        try:
            response = await self._get(url, limit=MAX_SIZE, types={})
        except PageUnreachable as error:
            raise SourceUnavailable(f"{self.host} cannot be read now: {error}", hint=TRIED_AGAIN) from error
        if response.status >= 500 or response.status == 429:
            raise SourceUnavailable(f"{self.host} answered {response.status}.", hint=TRIED_AGAIN)
        return response

    def _add_pages(self, found: _Found, sitemap: str, pages: Mapping[str, str]) -> None:
        for address, changed in pages.items():
            url = urldefrag(urljoin(sitemap, address)).url
            if not self._is_own(url):
                found.elsewhere += 1
            elif urlsplit(url).path.startswith(self.path) or not self.path:
                if len(found.pages) >= MAX_PAGES and url not in found.pages:
                    found.is_cut = True
                    return
                found.pages[url] = changed

    def _is_own(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            return parts.scheme in {"http", "https"} and (parts.hostname or "").lower() == self.host
        except ValueError:
            return False


def _build_fetched(item: SourceItem, response: WebResponse) -> FetchedItem | None:
    """The page of a response; None if it has not changed. Raises ItemGone, ItemClosed and ItemNotRead."""
    match response.status:
        case 304:
            return None
        case 404 | 410:
            raise ItemGone("The page is gone.")
        case 401 | 403 | 451:
            raise ItemClosed(f"The server does not show it to the public any more ({response.status}).")
        case 200:
            last = PurePosixPath(unquote(urlsplit(item.id).path)).stem or urlsplit(item.id).hostname or "page"
            name = f"{last[:100]}{TYPES[response.content_type]}"
            return FetchedItem(name, response.data, link=response.url, validator=response.validator)
    raise ItemNotRead(f"The server answered {response.status}.")


def open_website(address: str, options: Mapping[str, str], tools: SourceTools) -> WebsiteSource:
    """Open the source that reads the pages of a website. Raises BadSetting."""
    try:
        parts = urlsplit(address)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        is_web = False
    if not is_web:
        raise BadSetting(f"“{address}” is no address of a website.", hint="For example: https://wiki.example/")
    try:
        delay = min(max(float(options.get(DELAY) or DELAY_SECONDS), 0.0), MAX_DELAY)
    except ValueError as error:
        raise BadSetting("The delay is a number of seconds.") from error
    is_sitemap = parts.path.lower().endswith(SITEMAP_ENDS)
    path = options.get(PATH) or ("" if is_sitemap else parts.path.rpartition("/")[0] + "/")
    return WebsiteSource(address, tools.web, "" if path == "/" else path, delay)


def _matches(address: str) -> bool:
    return address.startswith(("https://", "http://")) and not address.rstrip("/").endswith(".git")


WEBSITE = SourceKind(
    "a website",
    open_website,
    _matches,
    noun="page",
    every=86_400.0,
    options=frozenset({PATH, DELAY}),
    for_managers=True,
    forms=("https://HOST/", "http://HOST/"),
)
