"""Pages are fetched from checked addresses alone, redirects too, within limits and as robots.txt allows."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.errors import PageNotRead
from bot.ingest.links.fetcher import MAX_REDIRECTS, PageFetcher
from engine.clock import SYSTEM_CLOCK
from tests.support.web_server import HTML, WebServer, open_web_server

SECRET = "http://169.254.169.254/latest/meta-data"


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with open_web_server() as server:
        server.pages["/"] = HTML, "<p>The ferry leaves at noon.</p>"
        yield server


async def test_a_page_is_fetched_from_the_checked_address(web: WebServer) -> None:
    page = await web.fetcher().fetch(web.url())
    assert (page.url, page.name, page.data) == (web.url(), "page.html", b"<p>The ferry leaves at noon.</p>")
    headers = web.requests[-1][1]
    assert headers["Host"] == f"town.example:{web.port}"
    assert "Cookie" not in headers
    assert "Authorization" not in headers


@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        ("inside.example", ["10.0.0.7"]),
        ("both.example", ["127.0.0.1", "192.168.0.1"]),
        ("mapped.example", ["::ffff:127.0.0.1"]),
        ("none.example", []),
    ],
)
async def test_a_name_that_leads_elsewhere_is_refused(web: WebServer, host: str, addresses: list[str]) -> None:
    web.addresses[host] = addresses
    with pytest.raises(PageNotRead, match="not on the public internet"):
        await web.fetcher().fetch(web.url(host=host))
    with pytest.raises(PageNotRead, match="not known"):
        await web.fetcher().fetch(web.url(host="unknown.example"))
    assert web.requests == []


async def test_a_name_is_resolved_anew_for_each_request_and_never_by_the_connection(web: WebServer) -> None:
    fetcher, answers = web.fetcher(), iter((["127.0.0.1"], ["127.0.0.1"], ["10.0.0.1"]))

    async def rebinding(host: str, port: int) -> list[str]:
        web.resolved.append(host)
        return next(answers)

    fetcher.resolve = rebinding
    await fetcher.fetch(web.url())
    assert web.resolved == ["town.example", "town.example"]  # robots.txt and the page, once each
    with pytest.raises(PageNotRead, match="public"):
        await fetcher.fetch(web.url())


@pytest.mark.parametrize(
    "target",
    [
        *(SECRET, "http://localhost/", "http://inside.example:{}/", "ftp://town.example/", "http://a@town.example:{}/"),
        *("http://[", "//[::1]/", "http://town.example:{0}:{0}/", "//\udcff.example/", "", "/go"),
    ],
)
async def test_a_redirect_is_checked_like_an_address(web: WebServer, target: str) -> None:
    web.addresses |= {"inside.example": ["127.0.0.2"], "localhost": ["127.0.0.1"]}
    web.pages["/go"] = "redirect", target.format(web.port)
    with pytest.raises(PageNotRead):
        await web.fetcher().fetch(web.url("/go"))
    assert set(web.paths()) == {"/go"}


@pytest.mark.parametrize("host", ["a\u200db.example", "x。0n..example", "ß.example", "[.example"])
async def test_an_address_that_programs_read_differently_is_refused(web: WebServer, host: str) -> None:
    with pytest.raises(PageNotRead):
        await web.fetcher().fetch(web.url("/", host))
    assert web.requests == []


async def test_redirects_are_followed_without_cookies_and_not_for_ever(web: WebServer) -> None:
    web.addresses["other.example"] = ["127.0.0.1"]
    web.pages["/go"] = "redirect", web.url(host="other.example")
    page = await web.fetcher().fetch(web.url("/go"))
    assert page.url == web.url(host="other.example")
    assert "Cookie" not in web.requests[-1][1]
    web.pages["/loop"] = "redirect", "/loop"
    with pytest.raises(PageNotRead, match="too many redirects"):
        await web.fetcher().fetch(web.url("/loop"))
    assert web.paths().count("/loop") == MAX_REDIRECTS + 1


async def test_robots_are_respected_and_remembered(web: WebServer) -> None:
    web.pages["/robots.txt"] = "text/plain", "User-agent: threadlore\nDisallow: /private\n\nUser-agent: *\nDisallow: /"
    web.pages["/private/a"] = HTML, "secret"
    fetcher = web.fetcher()
    await fetcher.fetch(web.url())
    with pytest.raises(PageNotRead, match="robots"):
        await fetcher.fetch(web.url("/private/a"))
    assert [path for path, _ in web.requests] == ["/robots.txt", "/"]
    web.pages["/robots.txt"] = "text/plain", "User-agent: *\nCrawl-delay: ²\nDisallow: //[\nDisallow: /private"
    await web.fetcher().fetch(web.url())
    web.pages["/robots.txt"] = "503", ""
    with pytest.raises(PageNotRead, match="robots"):
        await web.fetcher().fetch(web.url())


@pytest.mark.parametrize(
    ("page", "headers", "words"),
    [
        (("image/png", "x"), {}, "not a page of text"),
        (("application/json", "{}"), {}, "not a page of text"),
        ((HTML, "x" * 2000), {}, "too large"),
        ((HTML, "x"), {"Content-Encoding": "gzip"}, "compressed"),
        (("404", ""), {}, "answered 404"),
    ],
)
async def test_other_pages_are_refused(
    web: WebServer, page: tuple[str, str], headers: dict[str, str], words: str
) -> None:
    web.pages["/a"], web.headers = page, headers
    fetcher = web.fetcher()
    fetcher.max_size = 1000
    with pytest.raises(PageNotRead, match=words):
        await fetcher.fetch(web.url("/a"))


async def test_the_encoding_that_the_server_names_is_used(web: WebServer) -> None:
    web.pages["/a"], web.headers = (HTML, ""), {"Content-Type": "text/html; charset=windows-1251"}
    web.body = "Паром".encode("cp1251")
    assert (await web.fetcher().fetch(web.url("/a"))).data.decode() == "Паром"


async def test_a_slow_server_is_given_up(web: WebServer) -> None:
    fetcher = web.fetcher()
    fetcher.timeout_seconds = 0.0
    with pytest.raises(PageNotRead, match="too long"):
        await fetcher.fetch(web.url())


async def test_the_defaults_resolve_names_and_refuse_this_machine() -> None:
    fetcher = PageFetcher(SYSTEM_CLOCK, ports=frozenset({80}))
    with pytest.raises(PageNotRead):
        await fetcher.fetch("http://localhost.localdomain/")
    with pytest.raises(PageNotRead, match="public host"):
        await fetcher.fetch("http://127.0.0.1/")
