"""files.info, getUploadURLExternal, completeUploadExternal; the retired files.upload."""

from __future__ import annotations

import mimetypes
from typing import TYPE_CHECKING

from tests.support.slack_server import shapes
from tests.support.slack_server.call import Call, method
from tests.support.slack_server.methods.chat import find_thread_root
from tests.support.slack_server.refusals import SlackError
from tests.support.slack_server.state import Message, StoredFile

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON


@method("files.info", "files:read", minute=100)
def info(call: Call) -> JSON:
    attached = call.space.files.get(call.require("file"))
    if attached is None or not readable(call, attached):
        raise SlackError("file_not_found")
    if attached.deleted:
        raise SlackError("file_deleted")
    return {"file": shapes.whole_file(call.space, attached), "comments": [], "response_metadata": {"next_cursor": ""}}


def readable(call: Call, attached: StoredFile) -> bool:
    """Whether the app is where the file was shown, or put it there itself."""
    mine = call.space.bot.id
    return attached.user == mine or any(mine in call.space.channels[place].members for place, _ in attached.places)


@method("files.upload", minute=20)
def upload(call: Call) -> JSON:
    raise SlackError("method_deprecated")


@method("files.getUploadURLExternal", "files:write", minute=100)
def get_url(call: Call) -> JSON:
    name, length = call.require("filename"), call.number("length", 0)
    if length <= 0:
        raise SlackError("invalid_arguments", "must be greater than 0 [json-pointer:/length]")
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    space = call.space
    attached = StoredFile(space.new_id("F"), name, kind, b"", space.bot.id, int(space.clock.now()))
    call.slack.uploads.expect(attached, length)
    return {"upload_url": f"{space.base}/upload/v1/{attached.id}", "file_id": attached.id}


@method("files.completeUploadExternal", "files:write", minute=100)
def complete(call: Call) -> JSON:
    given = call.items("files", "invalid_arguments") or []
    if not given:
        raise SlackError("invalid_arguments", "missing required field: files")
    channel = call.writable("channel_id") if call.text("channel_id") else None
    root = find_thread_root(call, channel) if channel is not None else ""
    done = [call.slack.uploads.complete(str(each.get("id")), str(each.get("title") or "")) for each in given]
    for attached in done:
        call.space.files[attached.id] = attached
    if channel is not None:
        message = Message(call.space.new_ts(), channel.id, call.space.bot.id, call.text("initial_comment"), root)
        message.subtype, message.files = "file_share", done
        call.space.record_pings(channel.id, message.ts, message.text)
        call.slack.actions.post(channel, message, unfurl=False)
    return {"files": [shapes.whole_file(call.space, each) for each in done]}
