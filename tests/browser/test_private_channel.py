"""Two managers of a workspace log in: what is in a private channel of one is in no response to the other."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from playwright.async_api import Browser, BrowserContext, Response, expect

from adapters.mcp.resources import document_uri
from adapters.web.app import build_app
from adapters.web.oauth import LoginOptions
from bot.rpc.service import LocalService
from bot.server import build_deps
from tests.browser.calls import API_CALLS, MCP_CALLS, PAGE_CALLS, SECRETS, SHARED_NAME, WHAT, Call, list_operations
from tests.support.login_server import open_login_server
from tests.support.patience import PATIENCE
from tests.support.site import open_server
from tests.support.town.live_bot import LiveBot, open_live_bot, open_models, password
from tests.support.town.protocol import TownFile
from tests.support.town.slack import SlackTown

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=PATIENCE * 1000)

NAME = f"{SECRETS['name'].title()} Vale"
READING = {
    "/ask",
    "/api/v1/query",
    "/api/v1/query/stream",
    "/api/v1/query/data",
    "/api/v1/summaries",
    "/v1/chat/completions",
}
NEXT = str.maketrans(
    {character: chr(ord(character) + 1) for character in "abcdefghijklmnopqrstuvwxyABCDEFGHIJKLMNOPQRSTUVWXY012345678"}
)
LOADED = {"document", "fetch", "xhr"}
ACCEPTED = "application/x-ndjson, application/json, text/event-stream, */*"
VARIABLE = re.compile(r"source-[0-9a-f]{8}-")


@dataclass(frozen=True)
class Visitor:
    """Somebody who is logged in: a browser, and a program with the token of this login."""

    url: str
    context: BrowserContext
    client: httpx.AsyncClient
    token: str

    async def send(self, method: str, call: Call) -> str:
        """The status and all that a response says."""
        return await self._request(method, call.address, json=call.body, data=call.form)

    async def upload(self, name: str, text: str) -> str:
        return await self._request("POST", "/documents/upload", files={"file": (name, text.encode())})

    async def get_json(self, address: str) -> Any:
        return json.loads((await self.send("GET", Call(address))).split(" ", 2)[2])

    async def _request(self, method: str, address: str, **given: Any) -> str:
        headers = {"Accept": ACCEPTED, "Origin": self.url, "Sec-Fetch-Site": "same-origin"}
        if address.startswith(("/api/", "/v1/", "/mcp")):
            headers |= {"Authorization": f"Bearer {self.token}"}
        else:
            headers |= {"Cookie": f"threadlore-{urlsplit(self.url).port}={self.token}"}
        response = await self.client.request(method, f"{self.url}{address}", headers=headers, **given)
        return VARIABLE.sub("", f"{response.status_code} {response.headers.get('location', '-')} {response.text}")

    async def open(self, address: str) -> str:
        """What a page contains once its scripts have loaded everything, with all that was loaded."""
        page, responses = await self.context.new_page(), list[Response]()
        page.on("response", lambda response: responses.append(response))  # noqa: PLW0108 - it takes no built-in
        await page.goto(f"{self.url}{address}", wait_until="networkidle")
        loaded = [
            await response.text() for response in responses if response.ok and response.request.resource_type in LOADED
        ]
        content = "\n".join([await page.title(), await page.content(), *loaded])
        await page.close()
        return content


def list_calls(*, is_read: bool) -> list[tuple[str, Call]]:
    """The calls that read, or those that change something, each with its method."""
    every = [*PAGE_CALLS.items(), *API_CALLS.items(), *((f"READ {name}", calls) for name, calls in MCP_CALLS.items())]
    found = [(name.split(" ")[0], call) for name, calls in every for call in calls]
    return [
        ("POST" if method == "READ" else method, call)
        for method, call in found
        if is_read == (method in {"GET", "READ"} or call.address.partition("?")[0] in READING)
    ]


async def log_in(context: BrowserContext, url: str) -> str:
    """Log in by Slack; gives the token of the login."""
    context.set_default_timeout(PATIENCE * 1000)
    page = await context.new_page()
    await page.goto(f"{url}/login")
    await page.get_by_role("link", name="Sign in with Slack").click()
    await page.get_by_role("link", name="Allow").click()
    await expect(page.get_by_label("Your question")).to_be_visible()
    [cookie] = await context.cookies(url)
    return cookie["value"]


async def fill_channel(live: LiveBot[SlackTown], ada: Visitor) -> dict[str, str]:
    """Put every kind of secret into a private channel of Ada; gives the ids that she finds."""
    town, channel = live.town, SECRETS["channel"]
    town.add_channel(channel, "ada", "private")
    await live.read(channel)
    await town.say("ada", channel, f"{password(SECRETS['message'])} {SHARED_NAME} married {NAME} in Paris.")
    await town.say("ada", channel, "Read this.", files=[TownFile(f"{SECRETS['title']}.md", password(SECRETS["file"]))])
    await live.close_conversations()
    question = f"Who holds the {SECRETS['question']}, and what is the password of the {SECRETS['title']}?"
    asked = await town.ask("ada", channel, question)
    [*_, answer] = [post for post in await live.posts(asked) if post.buttons]
    form = await town.click_form("ada", answer, "👎")
    await live.answer(await town.submit_form(form, comment=f"Not the {SECRETS['reason']}."))
    room = town.location(channel).room
    await fill_pages(ada, room)
    return await find_ids(ada, room)


async def fill_pages(ada: Visitor, room: str) -> None:
    """Put secrets into a channel on the pages."""
    [space] = (await ada.get_json(f"/api/v1/graph/entity?name={quote(NAME)}"))["spaces"]
    correction = {"action": "describe", "name": NAME, "space": space, "description": SECRETS["correction"]}
    verified = {"room": room, "question": f"Where is the {SECRETS['verified']}?", "text": SECRETS["answer"]}
    sent = [
        await ada.upload(f"{SECRETS['upload']}.txt", password(SECRETS["upload"])),
        await ada.send("POST", Call("/graph/corrections", body=correction)),
        await ada.send("POST", Call("/questions/pin", form=verified)),
        await ada.send("POST", Call(f"/channels/{quote(room)}", form={"style": SECRETS["style"]})),
    ]
    assert [each[:2] for each in sent] == ["20"] * len(sent)


async def find_ids(ada: Visitor, room: str) -> dict[str, str]:
    """The ids of what is in the channel, as Ada finds them."""
    documents = (await ada.get_json("/api/v1/documents"))["documents"]
    [question] = (await ada.get_json(f"/api/v1/questions?room={quote(room)}"))["questions"]
    [verified] = (await ada.get_json(f"/api/v1/verified-answers?room={quote(room)}"))["answers"]
    [space] = (await ada.get_json(f"/api/v1/graph/entity?name={quote(NAME)}"))["spaces"]
    keys = {
        name: next(
            document["key"]
            for document in documents
            if SECRETS[secret] in document["title"] and document["kind"] == kind
        )
        for name, secret, kind in (
            ("file", "title", "file"),
            ("upload", "upload", "file"),
            ("conversation", "channel", "conversation"),
        )
    }
    own = {"name": NAME, "title": SECRETS["title"], "channel": SECRETS["channel"], "room": room, "space": space}
    found = {"answer": question["answer"], "verified": verified["id"], "resource": document_uri(keys["file"])}
    return {**keys, **own, **found}


def imitate(id_: str) -> str:
    """An id of the same form which nobody has."""
    start, colon, end = id_.rpartition(":")
    return start + colon + end.translate(NEXT)


def hide(text: str, ids: Mapping[str, str]) -> str:
    """A text in which ids that were sent have been replaced by their names, as it may repeat them."""
    for name, value in sorted(ids.items(), key=lambda item: -len(item[1])):
        for form in {value, quote(value), quote(value, safe=""), escape(value), quote_plus(value)}:
            text = re.sub(re.escape(form), f"<{name}>", text, flags=re.IGNORECASE)
    return text


def find_secrets(text: str, room: str) -> set[str]:
    """The kinds of secrets in a text."""
    words = {**SECRETS, "room": room.rpartition(":")[2]}
    return {kind for kind, word in words.items() if word.casefold() in text.casefold()}


@dataclass(frozen=True)
class Walk:
    """Every call, as Ada makes it, who reads the channel with these ids, and as Bob does, who does not."""

    ada: Visitor
    bob: Visitor
    ids: Mapping[str, str]

    def list_found(self, call: Call, text: str) -> set[str]:
        """The kinds of secrets in a response, apart from what was sent."""
        return find_secrets(hide(text, self._get_sent(call)), self.ids["room"])

    async def check_reader(self) -> None:
        """Ada finds each secret where it belongs."""
        for method, call in list_calls(is_read=True):
            if call.shows:
                found = find_secrets(await self.ada.send(method, call.fill(self.ids)), self.ids["room"])
                assert found >= set(call.shows.split()), call

    async def check_other(self, before: Mapping[Call, str]) -> list[Call]:
        """Bob finds nothing, not even whether it is there; gives the calls that show him a page."""
        nobody = {name: imitate(value) for name, value in self.ids.items()}
        nobody["resource"] = document_uri(nobody["file"])
        pages = []
        for method, call in list_calls(is_read=True) + list_calls(is_read=False):
            text = await self.bob.send(method, call.fill(self.ids))
            assert self.list_found(call, text) == set(), call
            if call.ids:
                guessed = await self.bob.send(method, call.fill(nobody))
                assert hide(text, self._get_sent(call)) == hide(guessed, {id_: nobody[id_] for id_ in call.ids}), call
            elif call in before:
                assert text == before[call], call
            if method == "GET" and "<!doctype html>" in text:
                pages.append(call)
        return pages

    async def check_pages(self, pages: Sequence[Call]) -> None:
        """Bob's browser shows nothing of it, nor do its scripts load any."""
        async with asyncio.TaskGroup() as group:
            opened = {call: group.create_task(self.bob.open(call.fill(self.ids).address)) for call in pages}
        for call, task in opened.items():
            assert self.list_found(call, task.result()) == set(), call

    def _get_sent(self, call: Call) -> dict[str, str]:
        return {id_: self.ids[id_] for id_ in call.ids}


@pytest.mark.long
async def test_what_is_in_a_private_channel_is_in_no_response_to_others(browser: Browser, tmp_path: Path) -> None:
    async with (
        open_models() as models,
        open_live_bot(SlackTown(), tmp_path / "live", models) as live,
        open_pages(live, browser) as (app, ada, bob),
    ):
        assert list_operations(app) == (set(PAGE_CALLS), set(API_CALLS))
        same = [(method, call) for method, call in list_calls(is_read=True) if call.is_same and not call.ids]
        before = {call: await bob.send(method, call) for method, call in same}
        walk = Walk(ada, bob, await fill_channel(live, ada))
        await walk.check_reader()
        pages = await walk.check_other(before)
        await walk.check_reader()  # nothing that Bob sent has changed anything
        await walk.check_pages(pages)
        room = walk.ids["room"]
        assert await ask_in_browser(ada, room) >= {"message", "file", "title", "upload"}
        assert await ask_in_browser(bob, room) == set()


async def ask_in_browser(visitor: Visitor, room: str) -> set[str]:
    """The kinds of secrets that somebody sees on the page after they asked."""
    page = await visitor.context.new_page()
    await page.goto(visitor.url)
    await page.get_by_label("Your question").fill(WHAT)
    await page.keyboard.press("Enter")
    await expect(page.locator(".answer")).to_have_attribute("aria-busy", "false")
    await expect(page.locator(".answer")).to_contain_text("agate")
    return find_secrets(await page.content(), room)


@asynccontextmanager
async def open_pages(live: LiveBot[SlackTown], browser: Browser) -> AsyncIterator[tuple[FastAPI, Visitor, Visitor]]:
    """The pages of a bot to whose workspace Ada and Bob have logged in, both of whom manage it."""
    for name in ("ada", "bob"):
        live.add_manager(name)
    live.town.add_channel("square", "ada bob")
    await live.read("square")
    await live.town.say("bob", "square", f"{password('agate')} {SHARED_NAME} met Carl Brook.")
    await live.close_conversations()
    app = build_app(LocalService(build_deps(live.bot)), live.bot.clock)
    # No connection is kept: the server could close it at the moment of the next request.
    limits = httpx.Limits(max_keepalive_connections=0)
    async with (
        open_login_server(live.town.clock) as login,
        open_server(app) as url,
        httpx.AsyncClient(timeout=PATIENCE, limits=limits) as client,
        await browser.new_context() as first,
        await browser.new_context() as second,
    ):
        login.team = live.town.slack.space.team
        app.state.login_options = LoginOptions({"slack": login.client("slack", url)}, {"slack": login.slack})
        visitors = []
        for name, context in (("ada", first), ("bob", second)):
            login.visitor = live.town.person(name).id
            visitors.append(Visitor(url, context, client, await log_in(context, url)))
        yield app, visitors[0], visitors[1]
