from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from adapters.common.download import FileHosts
from adapters.slack.workspace.files import FILE_DOMAINS, Files
from bot.errors import PlatformError
from bot.platform.models import Upload
from engine.errors import DocumentTooLarge, InvalidDocument
from tests.support.slack_server import FakeSlack, File

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.adapters.slack.conftest import Desk

LIMIT = 1 << 20


async def dropped(slack: FakeSlack, file: File, *, where: str = "roof") -> Upload:
    ada = slack.user("Ada")
    said = await ada.says(slack.channel(where, members=[ada]), "look", files=[file])
    known = slack.space.files[said.files[0]]
    url = f"{slack.url}/files-pri/{slack.space.team}-{known.id}/{known.name}"
    return Upload(known.id, known.name, len(known.data), known.mimetype, "" if file.connect else url)


async def test_a_file_is_fetched_with_the_token(desk: Desk, slack: FakeSlack) -> None:
    upload = await dropped(slack, File("a.txt", b"hello"))
    assert await desk.platform.fetch_file(upload, LIMIT) == b"hello"


async def test_a_file_of_another_workspace_is_asked_for_first(desk: Desk, slack: FakeSlack) -> None:
    upload = await dropped(slack, File("a.txt", b"hello", connect=True))
    assert await desk.platform.fetch_file(upload, LIMIT) == b"hello"
    assert slack.calls_to("files.info")


async def test_the_login_page_is_no_file(slack: FakeSlack, desk: Desk) -> None:
    upload = await dropped(slack, File("a.pdf", b"%PDF"))
    slack.space.app = replace(slack.space.app, scopes=slack.space.app.scopes - {"files:read"})
    with pytest.raises(InvalidDocument):
        await desk.platform.fetch_file(upload, LIMIT)


async def test_the_login_page_is_not_taken_for_a_page_that_somebody_dropped(slack: FakeSlack, desk: Desk) -> None:
    page = await dropped(slack, File("a.html", b"<html>hello</html>"))
    assert await desk.platform.fetch_file(page, LIMIT) == b"<html>hello</html>"
    slack.space.app = replace(slack.space.app, scopes=slack.space.app.scopes - {"files:read"})
    with pytest.raises(InvalidDocument):
        await desk.platform.fetch_file(page, LIMIT)
    unknown = Upload(page.id, page.name, 0, page.kind, page.url)
    with pytest.raises(InvalidDocument):
        await desk.platform.fetch_file(unknown, LIMIT)


async def test_a_file_that_is_too_large_is_refused_before_and_while_it_is_read(desk: Desk, slack: FakeSlack) -> None:
    upload = await dropped(slack, File("a.txt", b"x" * 5000))
    with pytest.raises(DocumentTooLarge):
        await desk.platform.fetch_file(upload, 4999)
    liar = Upload(upload.id, upload.name, 10, upload.kind, upload.url)
    with pytest.raises(DocumentTooLarge):
        await desk.platform.fetch_file(liar, 4999)


async def test_a_file_that_is_gone_is_withheld(desk: Desk, slack: FakeSlack) -> None:
    upload = await dropped(slack, File("a.txt", b"hello"))
    slack.space.files[upload.id].deleted = True
    with pytest.raises(PlatformError):
        await desk.platform.fetch_file(upload, LIMIT)


class Elsewhere:
    """A server that is not Slack's, and what it was shown."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.url = ""


@pytest.fixture
async def elsewhere() -> AsyncIterator[Elsewhere]:
    other = Elsewhere()

    async def serve(request: web.Request) -> web.Response:
        other.seen.append(request.headers.get("Authorization", ""))
        return web.Response(text="stolen")

    app = web.Application()
    app.router.add_get("/{path:.*}", serve)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    other.url = f"http://127.0.0.1:{runner.addresses[0][1]}/file"
    yield other
    await runner.cleanup()


async def test_nothing_is_fetched_from_elsewhere_and_the_token_stays_here(desk: Desk, elsewhere: Elsewhere) -> None:
    with pytest.raises(InvalidDocument):
        await desk.platform.fetch_file(Upload("F1", "x", 0, "", elsewhere.url), LIMIT)
    assert elsewhere.seen == []


async def test_a_redirect_does_not_lead_elsewhere(elsewhere: Elsewhere) -> None:
    async def lead(_: web.Request) -> web.Response:
        raise web.HTTPFound(elsewhere.url)

    app = web.Application()
    app.router.add_get("/files/a", lead)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    with pytest.raises(InvalidDocument):
        await Files(AsyncWebClient("xoxb-1", f"{base}/api/")).download(
            Upload("F1", "a", 0, "", f"{base}/files/a"), LIMIT
        )
    assert elsewhere.seen == []
    await runner.cleanup()


@pytest.mark.parametrize(
    ("address", "ours"),
    [
        ("https://files.slack.com/files-pri/T1-F1/a", True),
        ("https://small.slack.com/x", True),
        ("https://a.slack-edge.com/x", True),
        ("http://files.slack.com/x", False),
        ("https://files.slack.com.evil.example/x", False),
        ("https://notslack.com/x", False),
        ("https://files.slack.com@evil.example/x", False),
        ("https://files.slack.com:8443/x", False),
        ("file:///etc/passwd", False),
        ("http://169.254.169.254/latest", False),
        ("", False),
    ],
)
def test_slacks_own_hosts_are_recognized(address: str, ours: bool) -> None:  # noqa: FBT001
    assert FileHosts(FILE_DOMAINS, "https://slack.com").is_own_url(address) is ours
