"""Pages show what a token may read, to whoever holds it in a cookie, and obey no other site."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import httpx
import pytest

from adapters.web.app import build_app
from adapters.web.pages import shell
from adapters.web.pages.login import MAX_FAILURES, MAX_FORM_BYTES, WINDOW_SECONDS, FailedLogins
from adapters.web.pages.session import PageOptions, read_page_options
from bot import texts
from bot.capabilities.requests import OperationRequest
from bot.capabilities.results import OperationResult
from bot.errors import TooManyRequests
from bot.settings import Settings
from bot.texts.disclosure import Disclosure
from engine.clock import SYSTEM_CLOCK
from tests.adapters.web.conftest import HERE, SECRET, Api
from tests.support.clock import ManualClock

FERRY = {"question": "When does the ferry Gudgeon leave?"}
OWN = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
READ_PAGES = ("/", "/graph", "/documents", "/documents/list", "/decisions", f"/documents/item?key=note:{HERE}")
MANAGER_PAGES = (
    "/channels",
    "/channels/slack:T1:C1",
    "/sources",
    "/sources/list",
    "/questions",
    "/usage",
    "/health",
    "/health/state",
)
PAGES = (*READ_PAGES, *MANAGER_PAGES)


async def log_in(api: Api, token: str = "", **headers: str) -> httpx.Response:
    return await api.client.post("/login", data={"token": token or api.token}, headers={**OWN, **headers})


async def test_a_page_asks_for_a_login_and_shows_nothing_before(api: Api) -> None:
    for path in PAGES:
        asked = await api.client.get(f"{path}?x=1", headers={"Accept": "text/html"})
        assert asked.status_code == 303
        assert asked.headers["location"].startswith("/login?next=")
        assert (await api.client.get(path, headers={"Accept": "*/*"})).status_code == 401
    assert (await api.client.post("/ask", json=FERRY, headers=OWN)).status_code in {303, 401}


async def test_a_token_is_kept_in_a_strict_cookie_and_forgotten_by_logging_out(api: Api) -> None:
    entered = await log_in(api)
    cookie = entered.headers["set-cookie"]
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    assert cookie.startswith("__Host-threadlore=")
    assert {"HttpOnly", "Path=/", "SameSite=strict", "Secure"} <= set(cookie.split("; "))
    api.client.cookies.set("__Host-threadlore", api.token)
    page = await api.client.get("/")
    assert (page.status_code, 'id="question"' in page.text, api.token in page.text) == (200, True, False)
    left = await api.client.post("/logout", headers=OWN)
    assert 'threadlore="";' in left.headers["set-cookie"]


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("lore.example.org", "__Host-threadlore"),
        ("lore.example.org:8443", "__Host-threadlore-8443"),
        ("localhost:8630", "threadlore-8630"),
        ("127.0.0.1:8631", "threadlore-8631"),
    ],
)
async def test_two_servers_of_a_machine_have_cookies_of_their_own(api: Api, host: str, name: str) -> None:
    headers = {"Host": host, "Origin": f"https://{host}"}
    entered = await api.client.post("/login", data={"token": api.token}, headers=headers)
    assert entered.headers["set-cookie"].startswith(f"{name}=")
    for port in (8630, 8631):
        foreign = {"Host": f"localhost:{port}", "Cookie": f"threadlore={api.token}; threadlore-9999={api.token}"}
        assert (await api.client.get("/", headers=foreign)).status_code == 401


async def test_a_page_names_its_login_by_a_hash_that_tells_nothing(api: Api) -> None:
    names = []
    for token in (api.token, api.token, await api.create_token("ask", "read")):
        api.client.cookies.set("__Host-threadlore", token)
        for path in ("/", "/documents"):
            names += re.findall(r' data-login="([0-9a-f]{32})"', (await api.client.get(path)).text)
    assert names == [*names[:1] * 4, *names[4:5] * 2]
    assert names[0] != names[4]
    assert "data-login" not in (await api.client.get("/login", headers={"Cookie": ""})).text


async def test_a_wrong_token_is_refused_and_a_revoked_one_forgotten(api: Api) -> None:
    refused = await log_in(api, "tl_0123456789_secret")
    assert (refused.status_code, "set-cookie" in refused.headers) == (401, False)
    assert "unknown, expired or revoked" in refused.text
    assert "tl_0123456789" not in refused.text
    api.client.cookies.set("__Host-threadlore", "tl_0123456789_secret")
    asked = await api.client.get("/", headers={"Accept": "text/html"})
    assert asked.headers["location"] == "/login?next=/"
    shown = await api.client.get("/login?next=//evil.example", headers={"Accept": "text/html"})
    assert 'threadlore="";' in shown.headers["set-cookie"]
    assert "evil.example" not in shown.text


async def test_the_cookie_is_no_key_to_the_api_and_the_header_none_to_the_page(api: Api) -> None:
    assert (await api.call("GET", "/")).status_code == 401
    api.client.cookies.set("__Host-threadlore", api.token)
    assert (await api.call("GET", "/api/v1/status", token="")).status_code == 401


@pytest.mark.parametrize(
    "headers", [{}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "same-site"}]
)
async def test_another_site_can_neither_ask_nor_log_in_or_out(api: Api, headers: dict[str, str]) -> None:
    api.client.cookies.set("__Host-threadlore", api.token)
    for path in ("/ask", "/login", "/logout"):
        refused = await api.client.post(path, json=FERRY, headers=headers)
        assert (refused.status_code, "set-cookie" in refused.headers) == (403, False)


async def test_an_answer_is_streamed_with_its_sources_and_no_secret(api: Api) -> None:
    api.client.cookies.set("__Host-threadlore", api.token)
    streamed = await api.client.post("/ask", json=FERRY, headers=OWN)
    *deltas, end = map(json.loads, streamed.text.splitlines())
    assert "noon" in "".join(delta["text"] for delta in deltas if delta["type"] == "delta")
    assert end["text"] == "".join(delta["text"] for delta in deltas if delta["type"] == "delta")
    assert 'href="https://t.example/note"' in end["html"]
    assert 'class="passage"' in end["sources"]
    hidden = await api.client.post("/ask", json={"question": "What is the password of the vault?"}, headers=OWN)
    assert SECRET not in hidden.text


async def test_what_could_not_be_checked_is_said_below_the_answer(api: Api) -> None:
    api.access.gap = "partial"
    api.client.cookies.set("__Host-threadlore", api.token)
    end = json.loads((await api.client.post("/ask", json=FERRY, headers=OWN)).text.splitlines()[-1])
    assert end["notices"] == [texts.GAP_NOTICES["partial"]]


async def test_what_a_token_does_not_permit_is_refused_in_words(api: Api) -> None:
    api.client.cookies.set("__Host-threadlore", await api.create_token("read"))
    refused = await api.client.post("/ask", json=FERRY, headers={**OWN, "Accept": "application/x-ndjson"})
    assert (refused.status_code, refused.json()["title"]) == (403, "NotPermitted")
    first = await api.client.get("/")
    assert (first.status_code, first.headers["location"]) == (303, "/search")
    assert 'href="/"' not in (await api.client.get("/graph")).text.partition("<nav")[2].partition("</nav>")[0]


async def test_a_body_for_a_page_is_not_read_before_the_login(api: Api) -> None:
    pieces = list[bytes]()

    async def send() -> AsyncIterator[bytes]:
        for _ in range(3):
            pieces.append(b"x" * 1000)
            yield pieces[-1]

    for path in ("/ask", "/documents/upload", "/graph/corrections"):
        for headers, status in ({"Accept": "*/*"}, 401), ({"Accept": "text/html"}, 303), ({"HX-Request": "true"}, 401):
            refused = await api.client.post(path, content=send(), headers={**OWN, **headers})
            assert (refused.status_code, pieces) == (status, [])
    assert refused.headers["hx-redirect"] == "/login"


async def test_every_page_forbids_foreign_scripts_and_frames(api: Api) -> None:
    api.client.cookies.set("__Host-threadlore", api.token)
    for path in (*PAGES, "/login?next=%3Cscript%3E", "/nothing"):
        page = await api.client.get(path, headers={"Accept": "text/html"})
        policy = page.headers.get("content-security-policy", "")
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert page.headers["cache-control"] == "no-store"
        assert "<script>" not in page.text
        assert " style=" not in page.text


@pytest.fixture
async def local(api: Api) -> AsyncIterator[httpx.AsyncClient]:
    """A browser on the machine of a server that asks it for no login."""
    transport = httpx.ASGITransport(
        build_app(api.app.state.service, api.app.state.clock, PageOptions(HERE, "auto")), raise_app_exceptions=False
    )
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8630") as client:
        yield client


async def test_a_browser_on_this_machine_sees_the_space_of_the_terminal(local: httpx.AsyncClient) -> None:
    headers = {"Origin": "http://localhost:8630"}
    assert "This computer" in (await local.get("/")).text
    assert "noon" in (await local.post("/ask", json=FERRY, headers=headers)).text
    hidden = await local.post("/ask", json={"question": "What is the password of the vault?"}, headers=headers)
    assert SECRET not in hidden.text
    for foreign in ({"Host": "evil.example"}, {"X-Forwarded-For": "10.0.0.1"}):
        assert (await local.get("/", headers=foreign)).status_code == 401
    assert (await local.get("/api/v1/status")).status_code == 401


async def test_wrong_tokens_from_one_address_lock_out_nobody_else_behind_a_proxy(api: Api) -> None:
    for _ in range(MAX_FAILURES):
        await log_in(api, "tl_0123456789_secret", **{"X-Forwarded-For": "203.0.113.9"})
    assert (await log_in(api, **{"X-Forwarded-For": "203.0.113.9"})).status_code == 429
    assert (await log_in(api, **{"X-Forwarded-For": "203.0.113.10"})).status_code == 303


async def test_a_login_with_very_many_fields_is_refused_before_they_are_read(api: Api) -> None:
    content = b"a&" * MAX_FORM_BYTES
    assert (await api.client.post("/login", content=content, headers=OWN)).status_code == 413


class BrokenService:
    """A service that fails in a way that nobody foresaw."""

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        raise RuntimeError(SECRET)
        yield  # a generator


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
async def test_an_unforeseen_failure_is_as_guarded_as_any_page(accept: str) -> None:
    app = build_app(BrokenService(), SYSTEM_CLOCK, PageOptions(HERE, "auto"))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8630") as client:
        failed = await client.get("/documents", headers={"Accept": accept})
    assert (failed.status_code, SECRET in failed.text) == (500, False)
    assert (failed.headers["cache-control"], failed.headers["x-content-type-options"]) == ("no-store", "nosniff")


async def test_the_foot_of_every_page_says_who_answers_and_whom_to_ask() -> None:
    disclosure = Disclosure("https://mill.example/privacy", "dpo@mill.example")
    app = build_app(BrokenService(), SYSTEM_CLOCK, PageOptions(HERE, "always", disclosure))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8630") as client:
        shown = (await client.get("/login", headers={"Accept": "text/html"})).text
    foot = shown[shown.index("<footer") :]
    assert "written automatically" in foot
    assert 'href="https://mill.example/privacy"' in foot
    assert 'href="mailto:dpo@mill.example"' in foot


async def test_too_many_wrong_tokens_are_refused_for_a_while() -> None:
    failed = FailedLogins(clock := ManualClock())
    for _ in range(MAX_FAILURES):
        failed.check("a")
        failed.record("a")
    with pytest.raises(TooManyRequests):
        failed.check("a")
    failed.check("b")
    clock.advance(WINDOW_SECONDS)
    failed.check("a")


@pytest.mark.parametrize(
    ("host", "login", "expected"),
    [
        ("127.0.0.1", "auto", "auto"),
        ("::1", "auto", "auto"),
        ("127.0.0.1", "always", "always"),
        ("0.0.0.0", "auto", "always"),
        ("::", "auto", "always"),
        ("10.0.0.1", "auto", "always"),
        ("box.example", "auto", "always"),
    ],
)
def test_a_login_is_optional_on_a_loopback_address_only(host: str, login: str, expected: str) -> None:
    settings = Settings(_env_file=None, web_host=host, web_login=login)  # type: ignore[arg-type, call-arg]
    assert read_page_options(settings).login == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:8630", "auto"),
        ("https://127.0.0.1/", "auto"),
        ("https://lore.example.org", "always"),
        ("lore.example.org", "always"),
    ],
)
def test_a_page_with_an_address_elsewhere_always_needs_a_login(url: str, expected: str) -> None:
    settings = Settings(_env_file=None, web_url=url)  # type: ignore[call-arg]
    assert read_page_options(settings).login == expected


async def test_without_a_built_page_its_files_are_not_found(
    api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "FOLDER", tmp_path / "static")
    assert (await api.client.get("/static/styles.css")).status_code == 404
