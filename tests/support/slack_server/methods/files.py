"""files.info, the upload in three steps, and the addresses from which files are downloaded."""

from __future__ import annotations

import mimetypes
from typing import TYPE_CHECKING

from aiohttp import web

from tests.support.slack_server import shapes
from tests.support.slack_server.methods.call import Call, check_scopes, method
from tests.support.slack_server.methods.chat import find_thread_root
from tests.support.slack_server.state import Message, SlackError, StoredFile

if TYPE_CHECKING:
    from tests.support.slack_server.server import Server
    from tests.support.slack_server.state import JSON

LOGIN = """<!DOCTYPE html><html lang="en-US"><head><title>Sign in | Slack</title></head>
<body><h1>Sign in to your workspace</h1><form action="/signin" method="post"></form></body></html>"""


@method("files.info", "files:read", minute=100)
def info(call: Call) -> JSON:
    file = call.space.files.get(call.text("file"))
    if file is None or not call.space.can_read_file(file):
        raise SlackError("file_not_found")
    return {"file": shapes.whole_file(call.space, file)}


@method("files.getUploadURLExternal", "files:write", minute=100)
def announce(call: Call) -> JSON:
    name, length = call.text("filename"), call.number("length", 0)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    space = call.space
    file = StoredFile(space.new_id("F"), name, kind, b"", space.bot.id, int(space.clock.time()))
    call.slack.uploads[file.id] = (file, length)
    return {"upload_url": f"{space.base}/upload/v1/{file.id}", "file_id": file.id}


async def receive(slack: Server, request: web.Request) -> web.Response:
    """Serve an upload address: the bytes of an announced file, of the announced length."""
    data = await request.read()
    file, length = slack.uploads[request.match_info["file"]]
    if len(data) != length:
        return web.Response(status=400, text="file_upload_size_mismatch")
    file.data = data
    return web.Response(text=f"OK - {length}")


@method("files.completeUploadExternal", "files:write", minute=100)
def complete(call: Call) -> JSON:
    """Share uploaded files in a channel, in a message of their own."""
    files = []
    for each in call.items("files", "invalid_arguments"):
        file, length = call.slack.uploads.get(str(each.get("id")), (None, 0))
        if file is None or len(file.data) != length:
            raise SlackError("file_not_found")
        file.title = str(each.get("title") or file.name)
        call.space.files[file.id] = file
        files.append(file)
    channel = call.writable_channel("channel_id")
    message = Message(call.space.new_ts(), channel.id, call.space.bot.id, "", find_thread_root(call, channel))
    message.subtype, message.files = "file_share", files
    call.slack.changes.post(channel, message)
    return {"files": [shapes.whole_file(call.space, each) for each in files]}


async def download(slack: Server, request: web.Request) -> web.Response:
    """Serve a private file; without a token or the scope, Slack answers with its login page and status 200."""
    space, fault = slack.space, slack.faults.pop("download")
    if fault is not None and fault.kind == "hang":
        await slack.faults.closing.wait()
    elif fault is not None:
        return web.Response(status=fault.status)
    file = space.files.get(request.match_info["file"].rpartition("-")[2])
    try:
        space.check_token(request.headers.get("Authorization", "").removeprefix("Bearer "))
        check_scopes(space, ("files:read",))
    except SlackError:
        return web.Response(text=LOGIN, content_type="text/html")
    if file is None or file.deleted or not space.can_read_file(file):
        return web.Response(status=404, text="file not found", content_type="text/html")
    is_canvas = file.mimetype == shapes.CANVAS
    return web.Response(body=file.data, content_type="text/html" if is_canvas else file.mimetype)
