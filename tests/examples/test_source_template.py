"""The connector of examples/source_template reads the API as it is documented, by the main road of the program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.capabilities.requests import AtSpace
from bot.capabilities.results import SourceReport
from bot.capabilities.run import run
from bot.capabilities.sources.requests import AddSource, SyncSource
from bot.errors import SourceUnavailable
from engine import Scope
from tests.support.bot_fixture import BotFixture, open_bot
from tests.support.loopback import listening

EXAMPLE = Path(__file__).parents[2] / "examples" / "source_template"
LOCAL, SECRET = "console:local", "ntn-agate"
PAGE_SIZE = 2  # of the server, so that every list has cursors


@dataclass
class NotionServer:
    """Pages with their blocks by id. `busy`: how many of the next requests are answered by a pause."""

    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    blocks: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    busy: int = 0
    requests: list[str] = field(default_factory=list)
    port: int = 0

    def write(self, id_: str, title: str, *blocks: dict[str, Any], edited: str = "2026-11-01T10:00:00.000Z") -> None:
        title_property = {"type": "title", "title": [{"plain_text": title}]}
        self.pages[id_] = {
            "object": "page",
            "id": id_,
            "last_edited_time": edited,
            "archived": False,
            "in_trash": False,
            "url": f"https://notes.example/{id_}",
            "properties": {"Name": title_property},
        }
        self.blocks[id_] = list(blocks)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer as the documentation of the API says."""
        self.requests.append(request.path)
        if request.headers.get("Authorization") != f"Bearer {SECRET}" or "Notion-Version" not in request.headers:
            return web.json_response({"object": "error", "status": 401, "message": "no"}, status=401)
        if self.busy:
            self.busy -= 1
            return web.json_response({"object": "error", "status": 429}, status=429, headers={"Retry-After": "0"})
        if request.path == "/v1/search":
            values = await request.json()
            assert values["filter"] == {"property": "object", "value": "page"}
            return paginate(list(self.pages.values()), values.get("start_cursor"))
        id_ = request.path.split("/")[3]
        if id_ not in self.blocks:
            return web.json_response({"object": "error", "status": 404, "message": "no"}, status=404)
        return paginate(self.blocks[id_], request.query.get("start_cursor"))


def paginate(entries: list[dict[str, Any]], cursor: str | None) -> web.Response:
    start = int(cursor or 0)
    stop = start + PAGE_SIZE
    more = stop < len(entries)
    listed = {"object": "list", "results": entries[start:stop], "has_more": more}
    return web.json_response({**listed, "next_cursor": str(stop) if more else None})


def block(kind: str, text: str = "", id_: str = "", **more: Any) -> dict[str, Any]:
    content = {"rich_text": [{"plain_text": text}], **more} if text else more
    return {"object": "block", "id": id_, "type": kind, "has_children": bool(id_), kind: content}


@asynccontextmanager
async def open_server() -> AsyncIterator[NotionServer]:
    server = NotionServer()
    async with listening(server.handle) as server.port:
        yield server


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example as an installed package: its module, and what an installer writes beside it."""
    info = tmp_path / "packages" / "threadlore_notion-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: threadlore-notion\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[threadlore.sources]\nnotion = notion_source:NOTION\n")
    (info.parent / "notion_source").symlink_to(EXAMPLE / "notion_source")
    monkeypatch.syspath_prepend(info.parent)


@pytest.fixture
async def server(_installed: None) -> AsyncIterator[NotionServer]:
    async with open_server() as running:
        running.write(
            *("p1", "Ferry", block("heading_2", "Times"), block("paragraph", "The ferry Gudgeon leaves at noon.")),
            *(block("bulleted_list_item", "On Sundays at ten.", "b1"), block("image", file={}), block("divider")),
        )
        running.blocks["b1"] = [block("bulleted_list_item", "Not in winter.")]
        running.write("p2", "Quay", block("paragraph", "Mina sells tickets at the quay."))
        running.write("p3", "Minutes", block("code", "x = 1", language="python"), block("quote", "Enough."))
        yield running


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[BotFixture]:
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n")
    secret.chmod(0o600)
    async with open_bot(tmp_path / "home") as opened:
        yield opened


async def own(bot: BotFixture, request: Any) -> SourceReport:
    async with aclosing(run(bot.deps, AtSpace(LOCAL, request))) as results:
        [report] = [result async for result in results if isinstance(result, SourceReport)]
    return report


def add(server: NotionServer, secret: Path) -> AddSource:
    options = (("api", f"http://127.0.0.1:{server.port}"), ("secret-file", str(secret)))
    return AddSource("notion:team", confirmed=True, options=options)


async def test_pages_are_read_changed_and_forgotten(server: NotionServer, bot: BotFixture, tmp_path: Path) -> None:
    server.busy = 2
    report = await own(bot, add(server, tmp_path / "secret"))
    assert (report.documents, report.changed, report.unread) == ("3 pages", 3, ())
    documents = {each.title: each for each in await bot.engine.documents.list(Scope.of(LOCAL))}
    assert set(documents) == {"Ferry", "Quay", "Minutes"}
    ferry = await bot.engine.documents.get(documents["Ferry"].key, Scope.of(LOCAL))
    text = "\n".join(passage.text for passage in ferry.passages)
    for words in ("The ferry Gudgeon leaves at noon.", "On Sundays at ten.", "Not in winter."):
        assert words in text
    assert ferry.link == "https://notes.example/p1"
    assert [(omission.part, omission.reason) for omission in ferry.omissions] == [
        ("1 × image", "the connector reads no blocks of this type")
    ]
    server.requests.clear()
    server.write("p2", "Quay", block("paragraph", "Otto sells tickets."), edited="2026-11-02T10:00:00.000Z")
    server.pages["p3"]["in_trash"] = True
    report = await own(bot, SyncSource())
    assert (report.changed, report.removed) == (1, 1)
    assert [request for request in server.requests if "blocks" in request] == ["/v1/blocks/p2/children"]


@pytest.mark.long
async def test_a_page_that_was_edited_a_moment_ago_is_read_again(
    server: NotionServer, bot: BotFixture, tmp_path: Path
) -> None:
    now = bot.clock.now().strftime("%Y-%m-%dT%H:%M:00.000Z")
    server.write("p2", "Quay", block("paragraph", "Mina sells tickets."), edited=now)
    await own(bot, add(server, tmp_path / "secret"))
    server.write("p2", "Quay", block("paragraph", "Otto sells tickets."), edited=now)
    assert (await own(bot, SyncSource())).changed == 1


@pytest.mark.long
async def test_a_secret_that_is_refused_loses_nothing(server: NotionServer, bot: BotFixture, tmp_path: Path) -> None:
    await own(bot, add(server, tmp_path / "secret"))
    (tmp_path / "secret").write_text("another")
    with pytest.raises(SourceUnavailable, match="refuses the secret"):
        await own(bot, SyncSource())
    assert len(await bot.engine.documents.list(Scope.of(LOCAL))) == 3
