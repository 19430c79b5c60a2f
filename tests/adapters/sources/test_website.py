"""A website is read by its sitemap: one host, as robots.txt allows, politely, and what is gone is forgotten."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.sources import website
from adapters.sources.website import WEBSITE, WebsiteSource, open_website
from bot.errors import BadSetting, ItemClosed, ItemGone, ItemNotRead, ItemNotReadNow, SourceUnavailable
from tests.support.source_tools import build_tools, read, scan
from tests.support.web_server import HTML, WebServer, open_web_server

XML = "application/xml"


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with open_web_server() as server:
        server.pages |= {
            "/robots.txt": ("text/plain", f"User-agent: *\nDisallow: /private\nSitemap: {server.url('/index.xml')}\n"),
            "/ferry": (HTML, "<title>Ferry</title><p>The ferry leaves at noon.</p>"),
            "/team/mina": (HTML, "<p>Mina sells tickets.</p>"),
        }
        list_pages(server, "/ferry", "/team/mina", "/private/safe")
        yield server


def list_pages(server: WebServer, *paths: str, changed: str = "") -> None:
    """Have an index of one compressed sitemap list these pages."""
    dated = f"<lastmod>{changed}</lastmod>" if changed else ""
    urls = "".join(f"<url><loc>{server.url(path)}</loc>{dated}</url>" for path in paths)
    index = f"<sitemapindex><sitemap><loc>{server.url('/pages.xml.gz')}</loc></sitemap></sitemapindex>"
    server.pages["/index.xml"] = XML, index
    server.files["/pages.xml.gz"] = "application/x-gzip", gzip.compress(f"<urlset>{urls}</urlset>".encode())


def open_source(server: WebServer, home: Path, path: str = "/", **options: str) -> WebsiteSource:
    tools = build_tools(home, web=server.fetcher())
    return open_website(server.url(path), {"delay": "0", **options}, tools)


async def test_the_pages_of_an_index_are_listed_and_read(web: WebServer, tmp_path: Path) -> None:
    list_pages(web, "/ferry", "/team/mina", changed="2026-05-01")
    source = open_source(web, tmp_path)
    found, end = await scan(source)
    assert [each.removeprefix(web.url("")) for each in found] == ["/ferry", "/team/mina"]
    assert (found[web.url("/ferry")].stamp, found[web.url("/ferry")].name) == ("2026-05-01", "/ferry")
    assert (end.is_complete, end.is_certain, end.problems) == (True, False, ())
    fetched = await source.fetch(found[web.url("/ferry")], "")
    assert fetched is not None
    assert (fetched.name, fetched.link) == ("ferry.html", web.url("/ferry"))
    assert b"noon" in fetched.data


async def test_a_page_that_has_not_changed_is_not_sent_again(web: WebServer, tmp_path: Path) -> None:
    web.tags["/ferry"] = '"v1"'
    source = open_source(web, tmp_path)
    found, _ = await scan(source)
    fetched = await source.fetch(found[web.url("/ferry")], "")
    assert fetched is not None
    assert fetched.validator == 'etag "v1"'
    assert await source.fetch(found[web.url("/ferry")], fetched.validator) is None
    web.tags["/ferry"] = '"v2"'
    assert b"noon" in await read(source, found[web.url("/ferry")], fetched.validator)


async def test_pages_outside_of_the_folder_of_the_address_are_left_out(web: WebServer, tmp_path: Path) -> None:
    for source in (open_source(web, tmp_path, "/team/"), open_source(web, tmp_path, path="/team/")):
        found, _ = await scan(source)
        assert list(found) == [web.url("/team/mina")]


async def test_pages_of_other_hosts_are_counted_and_not_read(web: WebServer, tmp_path: Path) -> None:
    web.addresses["evil.example"] = ["127.0.0.1"]
    urls = f"<url><loc>{web.url('/x', 'evil.example')}</loc></url><url><loc>file:///etc/passwd</loc></url>"
    web.pages["/index.xml"] = XML, f"<urlset>{urls}<url><loc>{web.url('/ferry')}</loc></url></urlset>"
    source = open_source(web, tmp_path)
    found, _ = await scan(source)
    assert list(found) == [web.url("/ferry"), "other hosts"]
    assert found["other hosts"].withheld == "Only pages of town.example are read."
    assert set(web.resolved) == {"town.example"}


@pytest.mark.parametrize("status", ["404", "410"])
async def test_a_page_that_is_gone_says_so(web: WebServer, tmp_path: Path, status: str) -> None:
    source = open_source(web, tmp_path)
    found, _ = await scan(source)
    web.pages["/ferry"] = status, ""
    with pytest.raises(ItemGone):
        await source.fetch(found[web.url("/ferry")], "")


async def test_what_may_not_be_read_is_not_read(web: WebServer, tmp_path: Path) -> None:
    source = open_source(web, tmp_path)
    found, _ = await scan(source)
    web.pages["/private/safe"] = HTML, "agate"
    with pytest.raises(ItemClosed, match="robots"):
        await source.fetch(found[web.url("/private/safe")], "")
    assert "/private/safe" not in web.paths()
    web.addresses["evil.example"] = ["127.0.0.1"]
    web.pages["/ferry"] = "redirect", web.url("/x", "evil.example")
    with pytest.raises(ItemClosed, match="another host"):
        await source.fetch(found[web.url("/ferry")], "")
    for status in ("401", "403", "451"):
        web.pages["/team/mina"] = status, ""
        with pytest.raises(ItemClosed, match=status):
            await source.fetch(found[web.url("/team/mina")], "")
    web.pages["/team/mina"] = "image/png", "x"
    with pytest.raises(ItemNotRead, match="page of text"):
        await source.fetch(found[web.url("/team/mina")], "")


async def test_rules_for_programs_that_cannot_be_read_close_nothing(web: WebServer, tmp_path: Path) -> None:
    found, _ = await scan(open_source(web, tmp_path))
    web.pages["/robots.txt"] = "503", "0"
    with pytest.raises(ItemNotReadNow, match="robots"):
        await open_source(web, tmp_path).fetch(found[web.url("/ferry")], "")


async def test_a_redirect_on_the_same_host_is_followed(web: WebServer, tmp_path: Path) -> None:
    source = open_source(web, tmp_path)
    found, _ = await scan(source)
    web.pages["/ferry"] = "redirect", "/team/mina"
    fetched = await source.fetch(found[web.url("/ferry")], "")
    assert fetched is not None
    assert (fetched.link, b"Mina" in fetched.data) == (web.url("/team/mina"), True)


async def test_a_server_that_fails_is_tried_again_and_then_counts_as_away(web: WebServer, tmp_path: Path) -> None:
    source = open_source(web, tmp_path)
    found, _ = await scan(source)
    web.pages["/ferry"] = "503", "0"
    for _ in range(website.MAX_FAILURES - 1):
        with pytest.raises(ItemNotReadNow):
            await source.fetch(found[web.url("/ferry")], "")
    with pytest.raises(SourceUnavailable):
        await source.fetch(found[web.url("/ferry")], "")
    assert web.paths().count("/ferry") == 2 * website.MAX_FAILURES
    assert b"Mina" in await read(source, found[web.url("/team/mina")])


@pytest.mark.parametrize("status", ["500", "503", "429"])
async def test_a_sitemap_that_cannot_be_read_is_no_empty_one(web: WebServer, tmp_path: Path, status: str) -> None:
    web.pages["/index.xml"] = status, "99999"
    with pytest.raises(SourceUnavailable, match=status):
        await scan(open_source(web, tmp_path))


async def test_a_part_that_cannot_be_read_makes_the_list_incomplete(web: WebServer, tmp_path: Path) -> None:
    broken = f"<sitemap><loc>{web.url('/broken.xml')}</loc></sitemap></sitemapindex>"
    web.pages["/index.xml"] = XML, web.pages["/index.xml"][1].replace("</sitemapindex>", broken)
    found, end = await scan(open_source(web, tmp_path))
    assert len(found) == 3
    assert not end.is_complete
    assert end.problems == (f"The sitemap {web.url('/broken.xml')} cannot be read: The server answered 404.",)


async def test_a_site_without_a_sitemap_says_what_to_do(web: WebServer, tmp_path: Path) -> None:
    web.pages["/robots.txt"] = "text/plain", ""
    with pytest.raises(SourceUnavailable, match="no sitemap"):
        await scan(open_source(web, tmp_path))
    web.pages["/sitemap.xml"] = web.pages["/index.xml"]
    assert len((await scan(open_source(web, tmp_path)))[0]) == 3
    assert len((await scan(open_source(web, tmp_path, "/index.xml")))[0]) == 3


async def test_sitemaps_that_name_each_other_end(web: WebServer, tmp_path: Path) -> None:
    loop = f"<sitemap><loc>{web.url('/index.xml')}</loc></sitemap></sitemapindex>"
    web.pages["/index.xml"] = XML, web.pages["/index.xml"][1].replace("</sitemapindex>", loop)
    assert len((await scan(open_source(web, tmp_path)))[0]) == 3


async def test_more_pages_than_are_read_are_named(
    web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(website, "MAX_PAGES", 2)
    found, end = await scan(open_source(web, tmp_path))
    assert list(found) == [web.url("/ferry"), web.url("/team/mina"), "further pages"]
    assert not end.is_complete


async def test_a_server_on_a_private_network_is_away(web: WebServer, tmp_path: Path) -> None:
    web.addresses["town.example"] = ["10.0.0.7"]
    with pytest.raises(SourceUnavailable):
        await scan(open_source(web, tmp_path))
    assert web.requests == []


@pytest.mark.parametrize(
    "address", ["ftp://town.example/", "https://", "file:///etc", "https://a:b@town.example/", "x"]
)
def test_what_is_no_website_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(BadSetting):
        open_website(address, {}, build_tools(tmp_path))


def test_an_address_tells_what_it_is() -> None:
    assert WEBSITE.matches("https://wiki.example/")
    assert not any(WEBSITE.matches(text) for text in ("https://git.example/x.git", "/srv", "imaps://host/"))
