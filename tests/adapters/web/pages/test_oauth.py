"""Logins by Slack and Discord: of members of served workspaces, each in the browser in which it was begun."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from adapters.web.app import build_app
from adapters.web.oauth import LoginOptions
from bot.capabilities.access.control import AccessControl
from bot.errors import InvalidToken
from bot.permissions.resolver import AudienceResolver
from bot.platform.models import Location, Person
from bot.rpc.service import LocalService
from bot.store import BotStore, Subject
from engine import Document, Passage
from engine.clock import SYSTEM_CLOCK
from tests.support import echo_language
from tests.support.fake_platform import FakePlatform
from tests.support.login_server import LoginServer, open_login_server
from tests.support.services import build_deps

PAGE = "http://testserver"
OWN = {"Origin": PAGE, "Sec-Fetch-Site": "same-origin"}
ATTEMPT, COOKIE = "__Host-threadlore-login", "__Host-threadlore"
QUESTION = {"question": "When does the ferry leave?"}


@dataclass
class Site:
    """The page of a bot that serves the workspace T1 of Slack, and the servers 1 and 2 of Discord."""

    app: httpx.ASGITransport
    server: LoginServer
    access: AccessControl
    slack: FakePlatform
    discord: FakePlatform

    def browser(self) -> httpx.AsyncClient:
        """A browser; it follows no redirect by itself. All cookies are for secure connections."""
        return httpx.AsyncClient(transport=self.app, base_url="https://testserver", headers={"Accept": "text/html"})

    async def begin(self, browser: httpx.AsyncClient, provider: str = "slack", query: str = "") -> str:
        """Begin a login; returns the address of the platform."""
        begun = await browser.get(f"/login/{provider}{query}")
        assert begun.status_code == 303
        return str(begun.headers["location"])

    async def log_in(
        self, browser: httpx.AsyncClient, person: str, team: str = "T1", provider: str = "slack", query: str = ""
    ) -> httpx.Response:
        address = self.server.permit(await self.begin(browser, provider, query), person, team)
        return await browser.get(address.removeprefix(PAGE))


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with (
        BotStore.open(tmp_path / "bot.db", SYSTEM_CLOCK) as store,
        echo_language.open_engine_context(tmp_path / "home") as context,
        open_login_server() as server,
    ):
        slack, discord = FakePlatform("slack", "T1"), FakePlatform("discord", "1")
        slack.people |= {name: Person(name, name.title()) for name in ("U1", "U2")}
        slack.people["U3"] = Person("U3", "Guest", is_guest=True)
        discord.people |= {"7": Person("7", "Ada"), "8": Person("8", "Stranger", is_guest=True)}
        square = slack.add_channel("SQUARE", "U1", "U2")
        await store.channels.upsert(square, "square")
        for guild in ("1", "2"):
            await store.channels.upsert(Location("discord", guild, f"c{guild}"), "hall")
        audience = AudienceResolver({"slack": slack, "discord": discord}, store, 0.0, SYSTEM_CLOCK)
        access = AccessControl(store, SYSTEM_CLOCK, audience)
        note = Document("n", "slack:T1:open", square.room, "Note", (Passage("1", "The ferry leaves at noon."),))
        await context.engine.documents.add(note)
        await context.engine.wait_until_indexed()
        options = LoginOptions(
            {name: server.client(name) for name in ("slack", "discord")},
            {"slack": server.slack, "discord": server.discord},
        )
        service = LocalService(build_deps(context, store, access))
        app = httpx.ASGITransport(build_app(service, service.clock, login_options=options), raise_app_exceptions=False)
        yield Site(app, server, access, slack, discord)


def refused(response: httpx.Response, browser: httpx.AsyncClient) -> bool:
    """Whether a login failed, with an end of the attempt and no session."""
    ended = f'{ATTEMPT}="";' in response.headers["set-cookie"]
    return response.status_code == 401 and ended and COOKIE not in browser.cookies


async def test_a_member_logs_in_by_slack_asks_and_logs_out(site: Site) -> None:
    async with site.browser() as browser:
        assert "Sign in with Slack" in (await browser.get("/login")).text
        entered = await site.log_in(browser, "U1", query="?next=/%3Fq%3D1")
        assert (entered.status_code, entered.headers["location"]) == (303, "/?q=1")
        cookies = entered.headers.get_list("set-cookie")
        assert {"HttpOnly", "Path=/", "SameSite=strict", "Secure"} <= set(cookies[0].split("; "))
        assert ATTEMPT not in browser.cookies
        [token] = await site.access.list_tokens()
        assert (token.name, token.subject.person, token.permissions) == ("U1", "U1", ("ask", "read", "write"))
        answer = await browser.post("/ask", json=QUESTION, headers=OWN)
        assert "noon" in answer.text
        kept = browser.cookies[COOKIE]
        await browser.post("/logout", headers=OWN)
        browser.cookies.set(COOKIE, kept)
        assert (await browser.get("/")).headers["location"].startswith("/login")
        assert await site.access.list_tokens() == []


async def test_a_member_who_left_is_out_at_once(site: Site) -> None:
    async with site.browser() as browser:
        await site.log_in(browser, "U1")
        site.slack.people["U1"] = Person("U1", "U1", is_deactivated=True)
        answer = await browser.post("/ask", json=QUESTION, headers=OWN)
        assert "noon" not in answer.text


async def test_discord_logs_in_to_a_server_in_which_the_bot_knows_the_member(site: Site) -> None:
    async with site.browser() as browser:
        assert (await site.log_in(browser, "7", provider="discord", query="?workspace=2")).status_code == 303
        [token] = await site.access.list_tokens()
        assert (token.subject.platform, token.subject.workspace, token.subject.person) == ("discord", "2", "7")
    for person, guilds in (("8", [{"id": "1"}]), ("7", [{"id": "3"}]), ("7", []), ("7", {"id": "1"})):
        site.server.guilds = guilds
        async with site.browser() as browser:
            assert refused(await site.log_in(browser, person, provider="discord"), browser)


async def test_guests_of_a_slack_workspace_log_in_and_people_of_other_workspaces_do_not(site: Site) -> None:
    async with site.browser() as browser:
        assert (await site.log_in(browser, "U3")).status_code == 303
    for person, team in (("U1", "T2"), ("U9", "T1")):
        async with site.browser() as browser:
            assert refused(await site.log_in(browser, person, team), browser)
    assert len(await site.access.list_tokens()) == 1


async def test_only_the_browser_that_began_a_login_completes_it_and_only_once(site: Site) -> None:
    async with site.browser() as victim, site.browser() as attacker:
        address = site.server.permit(await site.begin(attacker), "U2").removeprefix(PAGE)
        assert refused(await victim.get(address), victim)  # without an attempt
        await site.begin(victim)
        assert refused(await victim.get(address), victim)  # with the state of another
        assert (await attacker.get(address)).status_code == 303
        spent = attacker.cookies[COOKIE]
        again = await attacker.get(address)
        assert again.status_code == 401
        assert attacker.cookies[COOKIE] == spent
        own = site.server.permit(await site.begin(victim), "U1").removeprefix(PAGE)
        foreign_code = own.replace(parse_qs(urlsplit(own).query)["code"][0], "wrong")
        assert refused(await victim.get(foreign_code), victim)
        mixed = site.server.permit(await site.begin(victim), "U1").removeprefix(PAGE)
        assert refused(await victim.get(mixed.replace("/slack/", "/discord/")), victim)


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "claims",
    [{"nonce": "x"}, {"aud": "other"}, {"iss": "https://evil.example"}, {"exp": 1}, {"exp": "soon"}]
    + [{"https://slack.com/team_id": value} for value in (None, "", "T1:open", ["T1"])],
)
async def test_an_id_token_of_another_login_is_refused(site: Site, claims: dict[str, object]) -> None:
    site.server.claims = claims
    async with site.browser() as browser:
        assert refused(await site.log_in(browser, "U1"), browser)


async def test_a_provider_that_fails_or_redirects_logs_nobody_in(site: Site) -> None:
    for status in (302, 500):
        site.server.status = status
        for provider in ("slack", "discord"):
            async with site.browser() as browser:
                assert refused(await site.log_in(browser, "U1", provider=provider), browser)
    async with site.browser() as browser:
        await site.begin(browser)
        assert refused(await browser.get("/login/slack/callback?error=access_denied"), browser)
        assert (await browser.get("/login/github")).status_code == 404
        assert (await browser.get("/login/github/callback?code=1&state=2")).status_code == 404


@pytest.mark.parametrize(
    "target", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:1", "/%0a"]
)
async def test_a_login_leads_to_a_path_of_this_page_only(site: Site, target: str) -> None:
    async with site.browser() as browser:
        entered = await site.log_in(browser, "U1", query=f"?next={target}")
        assert (entered.status_code, entered.headers["location"]) == (303, "/")


async def test_the_address_after_a_login_is_that_of_the_settings(site: Site) -> None:
    async with site.browser() as browser:
        begun = await browser.get("/login/slack", headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"})
        asked = parse_qs(urlsplit(begun.headers["location"]).query)
        assert asked["redirect_uri"] == [f"{PAGE}/login/slack/callback"]
        cookie = begun.headers["set-cookie"]
        assert {"HttpOnly", "Path=/", "SameSite=lax", "Secure"} <= set(cookie.split("; "))


async def test_a_token_entered_over_a_login_ends_the_login(site: Site) -> None:
    async with site.browser() as browser:
        await site.log_in(browser, "U1")
        former = browser.cookies[COOKIE]
        _, other = await site.access.create_token("laptop", Subject(space="console:local"), ("ask",), 10, None)
        await browser.post("/login", data={"token": other}, headers=OWN)
        assert browser.cookies[COOKIE] == other
    await site.access.authenticate(other)
    with pytest.raises(InvalidToken):
        await site.access.authenticate(former)


async def test_a_login_by_a_platform_ends_the_former_one_of_the_browser(site: Site) -> None:
    async with site.browser() as browser:
        await site.log_in(browser, "U1")
        former = browser.cookies[COOKIE]
        address = site.server.permit(await site.begin(browser), "U2").removeprefix(PAGE)
        browser.cookies.delete(COOKIE)  # one with SameSite=Strict is not sent on the way back from another site
        assert (await browser.get(address)).status_code == 303
        latter = browser.cookies[COOKIE]
    await site.access.authenticate(latter)
    with pytest.raises(InvalidToken):
        await site.access.authenticate(former)


async def test_a_login_that_fails_leaves_the_former_one(site: Site) -> None:
    async with site.browser() as browser:
        await site.log_in(browser, "U1")
        former = browser.cookies[COOKIE]
        assert (await site.log_in(browser, "U9")).status_code == 401
    await site.access.authenticate(former)
