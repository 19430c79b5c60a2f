"""Who needs no login, and which requests come from a page."""

from __future__ import annotations

import pytest

from adapters.web.pages.session import is_allowed, is_local_browser, to_local_path

HOST = {"host": "localhost:8630"}


@pytest.mark.parametrize("host", ["localhost", "localhost:8630", "127.0.0.1:8630", "127.8.0.1", "[::1]:8630"])
def test_a_browser_that_names_this_machine_needs_no_login(host: str) -> None:
    assert is_local_browser({"host": host}, "1.1")


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil",
        "evil@localhost",
        "localhost/x",
        "[::1",
        "10.0.0.1",
    ],
)
def test_any_other_name_needs_a_login(host: str) -> None:
    assert not is_local_browser({"host": host}, "1.1")


@pytest.mark.parametrize(
    "header", ["x-forwarded-for", "cf-connecting-ip", "true-client-ip", "x-forwarded-server", "x-original-host"]
)
def test_behind_a_proxy_a_login_is_needed(header: str) -> None:
    assert not is_local_browser({**HOST, header: "x"}, "1.1")
    assert not is_local_browser(HOST, "1.0")


@pytest.mark.parametrize(
    ("site", "dest", "local"),
    [
        ("same-origin", "empty", True),
        ("none", "document", True),
        ("cross-site", "document", True),
        ("cross-site", "empty", False),
        ("cross-site", "script", False),
        ("cross-site", "iframe", False),
        ("same-site", "image", False),
    ],
)
def test_a_page_of_another_site_leads_here_but_loads_nothing(site: str, dest: str, *, local: bool) -> None:
    assert is_local_browser({**HOST, "sec-fetch-site": site, "sec-fetch-dest": dest}, "1.1") is local


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, False),
        ({"origin": "http://localhost:8630"}, True),
        ({"origin": "http://LOCALHOST:8630"}, True),
        ({"origin": "http://localhost:8630", "sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"origin": "http://localhost:8630", "sec-fetch-site": "cross-site"}, False),
        ({"origin": "http://localhost:8630", "sec-fetch-site": "same-site"}, False),
        ({"origin": "http://localhost:9999"}, False),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://[::1"}, False),
    ],
)
def test_only_a_page_of_this_server_changes_anything(headers: dict[str, str], *, allowed: bool) -> None:
    assert is_allowed("POST", "/ask", {**HOST, **headers}) is allowed
    assert is_allowed("DELETE", "/documents/x", {**HOST, **headers}) is allowed
    assert is_allowed("GET", "/ask", {**HOST, **headers})
    assert is_allowed("POST", "/api/v1/query", {**HOST, **headers})


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/graph?name=a", "/graph?name=a"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\tevil", "/"),
        ("/a\r\nSet-Cookie: x", "/"),
        ("", "/"),
    ],
)
def test_a_login_leads_to_a_page_of_this_server_only(text: str, path: str) -> None:
    assert to_local_path(text) == path
