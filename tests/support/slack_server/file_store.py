"""Private files over HTTP, and the address that uploads go to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

from tests.support.slack_server.refusals import SlackError

if TYPE_CHECKING:
    from tests.support.slack_server.server import Server
    from tests.support.slack_server.state import StoredFile

LOGIN = """<!DOCTYPE html><html lang="en-US"><head><title>Sign in | Slack</title></head>
<body><h1>Sign in to your workspace</h1><form action="/signin" method="post"></form></body></html>"""


class Uploads:
    """Files on their way in: announced, then sent, then completed; in this order only."""

    def __init__(self) -> None:
        self._expected: dict[str, tuple[StoredFile, int]] = {}
        self._sent: dict[str, StoredFile] = {}

    def expect(self, attached: StoredFile, length: int) -> None:
        self._expected[attached.id] = (attached, length)

    def receive(self, name: str, data: bytes) -> int:
        """The bytes of an announced file. Raises Refused if there is none, or the length differs."""
        if name not in self._expected:
            raise SlackError("file_not_found", status=404)
        attached, length = self._expected[name]
        if len(data) != length:
            raise SlackError("file_upload_size_mismatch", status=400)
        attached.data = data
        self._sent[name] = attached
        return len(data)

    def complete(self, name: str, title: str) -> StoredFile:
        if name not in self._sent:
            raise SlackError("file_not_found")
        self._expected.pop(name)
        attached = self._sent.pop(name)
        attached.title = title or attached.name
        return attached


async def upload(slack: Server, request: web.Request) -> web.Response:
    """The end of an upload address; takes the bytes bare or in a form."""
    if request.content_type == "multipart/form-data":
        form = await request.post()
        field = next((value for value in form.values() if isinstance(value, web.FileField)), None)
        data = field.file.read() if field is not None else b""
    else:
        data = await request.read()
    try:
        size = slack.uploads.receive(request.match_info["file"], data)
    except SlackError as refused:
        return web.Response(status=refused.status, text=refused.error)
    return web.Response(text=f"OK - {size}")


async def download(slack: Server, request: web.Request) -> web.Response:
    """A private file; whoever may not have it sees the login page, with status 200."""
    space, fault = slack.space, slack.faults.pop("download")
    if fault is not None and fault.kind == "server":
        return web.Response(status=fault.status)
    attached = space.files.get(request.match_info["file"].rpartition("-")[2])
    allowed = request.headers.get("Authorization") == f"Bearer {space.app.bot_token}" and not space.revoked
    if not allowed or "files:read" not in space.app.scopes:
        return web.Response(text=LOGIN, content_type="text/html")
    if attached is None or attached.deleted or not slack.can_read_file(attached):
        return web.Response(status=404, text="file not found", content_type="text/html")
    return web.Response(body=attached.data, content_type=attached.mimetype)
