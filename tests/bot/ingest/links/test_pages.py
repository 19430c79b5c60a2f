"""Linked pages: read where a channel allows it, cited, forgotten with the message or when the channel forbids it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.ingest.links.pages import MAX_LINKS
from bot.platform.events import CommandInvoked, MessageReceived
from bot.platform.models import Location, Message
from engine.models import Question, Scope
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF
from tests.support.web_server import HTML, WebServer, open_web_server

PAGE = "<html><head><title>Ferry times</title></head><body><p>The ferry leaves at noon.</p></body></html>"
SCOPE = Scope(frozenset(), frozenset({ROOF.room}))
pytestmark = pytest.mark.usefixtures("roof")


@pytest.fixture
async def web(bot: BotFixture, roof: Location) -> AsyncIterator[WebServer]:
    """A server with a page, and a channel that allows links."""
    async with open_web_server() as server:
        server.pages["/ferry"] = HTML, PAGE
        bot.ingest_service.links.fetcher = server.fetcher()
        await bot.save_settings(roof, links=True)
        yield server


async def post(bot: BotFixture, text: str, author: str = "ada") -> Message:
    """A message as the dispatcher handles it."""
    message = await bot.post(ROOF, author, text)
    await bot.ingest_service.links.ingest(message)
    return message


async def pages(bot: BotFixture) -> list[str]:
    return [document.title for document in await bot.list_documents(ROOF) if ":link:" in document.key]


async def test_a_linked_page_is_read_once_and_cited_with_its_address_and_day(bot: BotFixture, web: WebServer) -> None:
    message = await post(bot, f"See {web.url('/ferry')}.")
    await bot.ingest_service.links.ingest(message)  # the event again
    assert web.paths() == ["/ferry"]
    [title] = await pages(bot)
    assert title == f"Ferry times (town.example, read {bot.platform.current_time():%Y-%m-%d})"
    await bot.engine.wait_until_indexed()
    sources = (await bot.engine.retrieve(Question("When does the ferry leave?", SCOPE))).sources
    assert web.url("/ferry") in [source.link for source in sources if source.text == "The ferry leaves at noon."]
    assert bot.platform.reactions == {}
    await bot.delete(message)
    assert await pages(bot) == []


async def test_pages_go_with_an_edit_an_opt_out_and_the_setting(bot: BotFixture, web: WebServer) -> None:
    web.pages["/other"] = "text/plain", "The pier is closed."
    message = await post(bot, f"See {web.url('/ferry')}")
    edited = await bot.edit(message, f"See {web.url('/other')}")
    await bot.ingest_service.links.ingest(edited)
    assert [page.partition(" ")[0] for page in await pages(bot)] == ["other"]
    await post(bot, f"See {web.url('/ferry')}", author="bob")
    await bot.forget_person("ada")
    assert [page.partition(" ")[0] for page in await pages(bot)] == ["Ferry"]
    async with bot.run_bot() as running:
        bot.platform.people["boss"] = bot.platform.people["ada"].__class__("boss", "Boss", is_manager=True)
        await running.receive(CommandInvoked("c1", ROOF, "boss", "settings", "links off"), "c1")
        await running.event_queue.wait_until_idle()
    assert await pages(bot) == []
    await post(bot, f"See {web.url('/ferry')}", author="bob")
    assert await pages(bot) == []


async def test_a_link_that_is_removed_while_its_page_is_fetched_is_not_kept(bot: BotFixture, web: WebServer) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        await bot.edit(message, "See nothing.")
        return ["127.0.0.1"]

    bot.ingest_service.links.fetcher.resolve = resolve
    message = await bot.post(ROOF, "ada", f"See {web.url('/ferry')}")
    await bot.ingest_service.links.ingest(message)
    assert await pages(bot) == []
    await bot.ingest_service.links.ingest(message)  # the event again, after the edit
    assert web.paths() == ["/ferry"]


async def test_the_server_is_seen_behind_the_longest_title(bot: BotFixture, web: WebServer) -> None:
    web.pages["/ferry"] = HTML, f"<title>{'Ferry times (other.example) ' * 500}</title><p>The ferry leaves at noon."
    await post(bot, web.url("/ferry"))
    [title] = await pages(bot)
    assert len(title) < 200
    assert "(town.example, read " in title


async def test_a_page_of_a_bad_server_does_not_keep_history_waiting(bot: BotFixture, web: WebServer) -> None:
    web.pages["/robots.txt"] = "text/plain", "User-agent: *\nCrawl-delay: ²\nDisallow: //["
    web.pages["/go"] = "redirect", "http://["
    bot.platform.add_message(ROOF, "bob", f"{web.url('/go')} http://a\u200db.example:{web.port}/ {web.url('/ferry')}")
    await bot.reconcile()
    assert len(await pages(bot)) == 1


async def test_a_message_to_the_bot_an_old_one_and_a_fourth_link_fetch_nothing(bot: BotFixture, web: WebServer) -> None:
    await post(bot, " ".join(web.url(f"/{number}") for number in range(MAX_LINKS + 1)))
    assert web.paths() == [f"/{number}" for number in range(MAX_LINKS)]
    old = await bot.post(ROOF, "ada", f"See {web.url('/ferry')}")
    bot.platform.advance(8 * 86400)
    await bot.ingest_service.links.ingest(old)
    assert "/ferry" not in web.paths()


async def test_who_links_to_what_is_not_public_reaches_nothing(bot: BotFixture, web: WebServer) -> None:
    web.addresses |= {"inside.example": ["10.0.0.1"], "localhost": ["127.0.0.1"]}
    web.pages["/go"] = "redirect", f"http://localhost:{web.port}/ferry"
    await post(bot, f"http://169.254.169.254/latest/meta-data {web.url('/ferry', 'inside.example')} {web.url('/go')}")
    assert web.paths() == ["/go"]
    assert await pages(bot) == []
    assert bot.platform.private_messages == []


async def test_nothing_is_read_until_the_channel_allows_it(bot: BotFixture, web: WebServer) -> None:
    await bot.save_settings(ROOF, links=False)
    async with bot.run_bot() as running:
        running.ingest_service.links.fetcher = web.fetcher()
        for number, allowed in enumerate((False, True)):
            await bot.save_settings(ROOF, links=allowed)
            message = bot.platform.add_message(ROOF, "bob", f"See {web.url('/ferry')}")
            await running.receive(MessageReceived(message, addressed=False), f"m{number}")
            await running.event_queue.wait_until_idle()
            assert len(await pages(bot)) == int(allowed)
            assert bool(web.resolved) == allowed


async def test_pages_linked_while_the_bot_was_away_are_read(bot: BotFixture, web: WebServer) -> None:
    bot.platform.add_message(ROOF, "bob", f"See {web.url('/ferry')}")
    await bot.reconcile()
    assert len(await pages(bot)) == 1
    await bot.reconcile(60)
    assert web.paths() == ["/ferry"]
