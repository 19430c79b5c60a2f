from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.common.download import FileHosts
from adapters.slack.workspace.files import FILE_DOMAINS
from bot.errors import PermissionDenied, PlatformError
from bot.platform.models import Upload
from engine.errors import DocumentTooLarge, InvalidDocument
from tests.adapters.slack.scene import Scene, locate
from tests.support.slack_server import FakeSlack, File

LIMIT = 1 << 20


async def share(scene: Scene, file: File) -> Upload:
    """A shared file as its message announces it."""
    space, sent = scene.slack.space, await scene.ada.says(scene.roof, "look", files=[file])
    stored = space.files[sent.files[0]]
    url = f"{space.base}/files-pri/{space.team}-{stored.id}/{stored.name}"
    return Upload(stored.id, stored.name, len(stored.data), stored.mimetype, "" if file.connect else url)


def withdraw_scope(slack: FakeSlack) -> None:
    slack.space.app = replace(slack.space.app, scopes=slack.space.app.scopes - {"files:read"})


@pytest.mark.parametrize("connect", [False, True], ids=["of this workspace", "of another workspace"])
async def test_a_file_is_downloaded(scene: Scene, *, connect: bool) -> None:
    upload = await share(scene, File("a.txt", b"hello", connect=connect))
    assert await scene.platform.fetch_file(locate(scene.roof), upload, LIMIT) == b"hello"
    assert len(scene.slack.calls_to("files.info")) == connect


async def test_a_login_page_is_not_the_file(scene: Scene) -> None:
    paper = await share(scene, File("a.pdf", b"%PDF"))
    page = await share(scene, File("a.html", b"<html>hello</html>"))
    assert await scene.platform.fetch_file(locate(scene.roof), page, LIMIT) == b"<html>hello</html>"
    withdraw_scope(scene.slack)
    for upload in (paper, page, replace(page, size=0)):
        with pytest.raises(PermissionDenied) as caught:
            await scene.platform.fetch_file(locate(scene.roof), upload, LIMIT)
        assert caught.value.permissions == ("files:read",)


async def test_a_file_over_the_limit_is_refused_also_if_its_announced_size_is_wrong(scene: Scene) -> None:
    upload = await share(scene, File("a.txt", b"x" * 5000))
    for announced in (upload, replace(upload, size=10)):
        with pytest.raises(DocumentTooLarge):
            await scene.platform.fetch_file(locate(scene.roof), announced, 4999)


async def test_a_deleted_file_is_withheld(scene: Scene) -> None:
    upload = await share(scene, File("a.txt", b"hello"))
    scene.slack.space.files[upload.id].deleted = True
    with pytest.raises(PlatformError):
        await scene.platform.fetch_file(locate(scene.roof), upload, LIMIT)


async def test_nothing_is_downloaded_from_other_hosts(scene: Scene) -> None:
    with pytest.raises(InvalidDocument):
        await scene.platform.fetch_file(locate(scene.roof), Upload("F1", "x", 0, "", "http://127.0.0.1:9/file"), LIMIT)


@pytest.mark.parametrize(
    ("url", "own"),
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
def test_only_slacks_own_hosts_get_the_token(url: str, *, own: bool) -> None:
    assert FileHosts(FILE_DOMAINS, "https://slack.com").is_own_url(url) is own
