"""Managers connect websites in the chat, if the operator allows it, after they saw who finds how much."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.errors import BadSetting, NotAllowed, NotPermitted, SourceUnavailable
from bot.platform.models import Location
from engine import Scope
from engine.errors import InvalidQuestion, NotFound
from tests.bot.commands.conftest import OPEN, Workspace
from tests.support.bot_fixture import with_settings
from tests.support.builders import ROOF
from tests.support.web_server import HTML, WebServer, open_web_server

ALLOWED = with_settings(chat_sources="website")


@pytest.fixture
async def web(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WebServer]:
    """A wiki of two pages, one of which is a picture."""
    monkeypatch.setattr("adapters.sources.website.DELAY_SECONDS", 0.0)
    async with open_web_server() as server:
        pages = "".join(f"<url><loc>{server.url(text)}</loc></url>" for text in ("/ferry", "/quay"))
        server.pages |= {
            "/sitemap.xml": ("application/xml", f"<urlset>{pages}</urlset>"),
            "/ferry": (HTML, "<title>Ferry</title><p>The ferry Gudgeon leaves at noon.</p>"),
            "/quay": ("image/png", "x"),
        }
        workspace.ingest_service.sources.web = server.fetcher()
        await workspace.context.store.channels.upsert(ROOF, "roof")
        await workspace.context.store.channels.record_announced(ROOF.room)
        yield server


async def list_titles(workspace: Workspace, space: str) -> list[str]:
    return [each.title for each in await workspace.engine.documents.list(Scope.of(space))]


@ALLOWED
async def test_a_website_is_read_once_its_audience_was_confirmed(workspace: Workspace, web: WebServer) -> None:
    card = await workspace.command("ada", f"connect <{web.url()}>")
    readers = "Every full member of the workspace and everyone in #roof"
    assert card.text == f"{readers} can find what is in `{web.url()}` (2 pages)."
    [button] = card.buttons
    assert "/ferry" not in web.paths()
    card = await workspace.command("ada", f"{button.action} {button.value}")
    assert (card.text.rpartition(" ")[2], card.buttons) == (f"town.example-{web.port}.", ())
    await workspace.ingest_service.sources.run_due()
    assert await list_titles(workspace, OPEN) == ["Ferry"]
    [unread] = await workspace.context.store.unread_files.list_newest(Scope.of(OPEN))
    assert (unread.name, unread.reason) == ("/quay", "It is not a page of text.")
    [record] = await workspace.context.store.sources.list_all()
    assert (record.room, record.added_by) == (ROOF.room, "slack:T1:ada")
    listed = await workspace.command("ada", "connect")
    assert f" · {readers} · 1 · 1 · " in listed.text


@ALLOWED
async def test_pages_that_change_or_go_do_so_here(workspace: Workspace, web: WebServer) -> None:
    await workspace.command("ada", f"connect {web.url()} open now")
    await workspace.ingest_service.sources.run_due()
    assert await list_titles(workspace, OPEN) == ["Ferry"]
    web.pages["/quay"] = HTML, "<title>Quay</title><p>Mina sells tickets.</p>"
    web.pages["/ferry"] = "410", ""
    [record] = await workspace.context.store.sources.list_all()
    said = await workspace.command("ada", f"connect sync {record.name}")
    assert "within minutes" in said.text
    await workspace.ingest_service.sources.run_due()
    assert await list_titles(workspace, OPEN) == ["Quay"]
    web.pages["/quay"] = "503", "0"
    await workspace.command("ada", f"connect sync {record.name}")
    await workspace.ingest_service.sources.run_due()
    assert await list_titles(workspace, OPEN) == ["Quay"]
    card = await workspace.command("ada", f"connect remove {record.name}")
    assert "1 document" in card.text
    [button] = card.buttons
    await workspace.command("ada", f"{button.action} {button.value}")
    assert (await list_titles(workspace, OPEN), await workspace.context.store.sources.list_all()) == ([], [])


async def test_without_the_operator_nobody_in_the_chat_connects_anything(workspace: Workspace, web: WebServer) -> None:
    with pytest.raises(NotPermitted):
        await workspace.command("ada", f"connect {web.url()} now")
    assert web.requests == []


@ALLOWED
async def test_only_managers_connect_and_only_public_websites(workspace: Workspace, web: WebServer) -> None:
    for words in ("connect", f"connect {web.url()} now", "connect remove x now", "connect sync x"):
        with pytest.raises(NotAllowed):
            await workspace.command("bob", words)
    for address in ("file:///etc", "/etc", "https://git.example/x.git", "git@git.example:x"):
        with pytest.raises((NotPermitted, NotFound, BadSetting)):
            await workspace.command("ada", f"connect {address} now")
    web.addresses["town.example"] = ["169.254.169.254"]
    with pytest.raises(SourceUnavailable):
        await workspace.command("ada", f"connect {web.url()} now")
    assert await workspace.context.store.sources.list_all() == []


@ALLOWED
async def test_other_words_are_explained(workspace: Workspace, web: WebServer) -> None:
    assert web.port
    for words in ("connect a b c d", "connect x closed"):
        with pytest.raises(InvalidQuestion):
            await workspace.command("ada", words)
    workspace.platform.add_channel("UNREAD", "ada")
    with pytest.raises(NotAllowed, match="do not read"):
        await workspace.command("ada", f"connect {web.url()} now", Location("slack", "T1", "UNREAD"))
