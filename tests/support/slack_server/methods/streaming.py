"""chat.startStream, appendStream and stopStream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tests.support.slack_server import shapes
from tests.support.slack_server.methods.blocks import PayloadLimits, block_length, check_blocks, find_texts
from tests.support.slack_server.methods.call import Call, method
from tests.support.slack_server.methods.chat import find_thread_root, is_streaming, parse_metadata
from tests.support.slack_server.state import Message, SlackError, Stream

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON, Channel

STATUSES = frozenset({"pending", "in_progress", "complete", "error"})


@method("chat.startStream", "chat:write", minute=20)
def start(call: Call) -> JSON:
    space = call.space
    if not space.app.agent:
        raise SlackError("feature_not_enabled")
    channel = call.writable_channel()
    root = find_thread_root(call, channel)
    if channel.kind != "im":
        _check_recipient(call)
    message = Message(space.new_ts(), channel.id, space.bot.id, "", root)
    message.stream = Stream(space.clock.time())
    _write(call, message, message.stream, _parse_chunks(call))
    call.slack.changes.post(channel, message)
    return {"channel": channel.id, "ts": message.ts}


def _check_recipient(call: Call) -> None:
    """In a channel, Slack requires the person for whom a stream is written."""
    team, user = call.text("recipient_team_id"), call.text("recipient_user_id")
    if not team:
        raise SlackError("missing_recipient_team_id")
    if not user:
        raise SlackError("missing_recipient_user_id")
    if call.space.user(user).team != team:
        raise SlackError("team_not_found")


@method("chat.appendStream", "chat:write", minute=100)
def append(call: Call) -> JSON:
    channel, message, stream = _find_stream(call)
    chunks = _parse_chunks(call)
    if not chunks:
        raise SlackError("no_text")
    before = shapes.message(call.space, message)
    _write(call, message, stream, chunks)
    call.slack.changes.emit_changed(channel, before, message)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.stopStream", "chat:write", minute=20)
def stop(call: Call) -> JSON:
    channel, message, stream = _find_stream(call)
    chunks, blocks, metadata = _parse_chunks(call), call.items("blocks"), parse_metadata(call)
    check_blocks(blocks, call.slack.limits)
    before = shapes.message(call.space, message)
    _write(call, message, stream, chunks)
    end_stream(stream, "completed")
    stream.blocks += blocks
    message.metadata = metadata
    call.slack.changes.emit_changed(channel, before, message)
    return {"channel": channel.id, "ts": message.ts}


def end_stream(stream: Stream, state: Literal["completed", "expired"]) -> None:
    """End a stream; its unfinished tasks are shown as failed."""
    stream.state = state
    for block in stream.blocks:
        if block["type"] == "task_card" and block["status"] in {"in_progress", "pending"}:
            block["status"] = "error"


def _find_stream(call: Call) -> tuple[Channel, Message, Stream]:
    channel = call.joined_channel()
    message = call.space.message(channel, call.text("ts"))
    call.slack.end_if_expired(message)
    if message.stream is None or not is_streaming(message):
        raise SlackError("message_not_in_streaming_state")
    return channel, message, message.stream


def _parse_chunks(call: Call) -> list[JSON]:
    chunks = call.items("chunks", "invalid_chunks")
    for chunk in chunks:
        _check_chunk(chunk, call.slack.limits)
    return chunks


def _check_chunk(chunk: Any, limits: PayloadLimits) -> None:
    match chunk:
        case {"type": "markdown_text", "text": str(text)} if text:
            if len(text) > limits.markdown:
                raise SlackError("msg_too_long")
        case {"type": "task_update", "id": str(), "title": str(title), "status": status} if status in STATUSES:
            if not 0 < len(title) <= limits.task_field:
                raise SlackError("invalid_chunks", f"title must be less than {limits.task_field + 1} characters")
            for source in chunk.get("sources") or []:
                if source.get("type") != "url" or not source.get("url") or not source.get("text"):
                    raise SlackError("invalid_chunks", "a source needs type url, url and text")
        case {"type": "blocks", "blocks": [*blocks]} if blocks:
            check_blocks(blocks, limits)
        case _:
            raise SlackError("invalid_chunks", f"unsupported chunk: {chunk}")


def _write(call: Call, message: Message, stream: Stream, chunks: list[JSON]) -> None:
    """Add chunks; what exceeds the limit of a message is refused as a whole."""
    size = block_length(chunks)
    if stream.written + size > call.slack.limits.streamed:
        raise SlackError("msg_too_long")
    stream.written += size
    for chunk in chunks:
        _add_chunk(stream.blocks, chunk)
    for text in find_texts(stream.blocks):  # of the whole message: a mention may have come in two halves
        call.space.record_pings(message.channel, message.ts, text)
    message.text = "".join(block["text"] for block in stream.blocks if block["type"] == "markdown")


def _add_chunk(blocks: list[JSON], chunk: JSON) -> None:
    """Add text to the last block of text, or blocks; add a task, or update its title, status and sources."""
    if chunk["type"] == "markdown_text":
        if not blocks or blocks[-1]["type"] != "markdown":
            blocks.append({"type": "markdown", "text": ""})
        blocks[-1] = {"type": "markdown", "text": blocks[-1]["text"] + chunk["text"]}
        return
    if chunk["type"] == "blocks":
        blocks += chunk["blocks"]
        return
    task = next((block for block in blocks if block.get("task_id") == chunk["id"]), None)
    if task is None:
        task = {"type": "task_card", "task_id": chunk["id"], "sources": []}
        blocks.append(task)
    task |= {"title": chunk["title"], "status": chunk["status"]}
    task["sources"] = [*task["sources"], *(chunk.get("sources") or [])]
