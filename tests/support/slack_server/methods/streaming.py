"""chat.startStream, appendStream, stopStream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.slack_server import limits, shapes
from tests.support.slack_server.call import Call, method
from tests.support.slack_server.methods.chat import find_thread_root, parse_metadata
from tests.support.slack_server.refusals import SlackError
from tests.support.slack_server.state import Channel, Message, Stream

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON

MODES = {"", "timeline", "plan", "dense"}


@method("chat.startStream", "chat:write", minute=20)
def start(call: Call) -> JSON:
    space = call.space
    if not space.app.agent:
        raise SlackError("feature_not_enabled")
    channel = call.writable()
    root = find_thread_root(call, channel)
    if channel.kind != "im":
        _recipient(call)
    if call.text("task_display_mode") not in MODES:
        raise SlackError("invalid_arguments", "must be a valid enum value [json-pointer:/task_display_mode]")
    message = Message(space.new_ts(), channel.id, space.bot.id, "", root)
    message.stream = Stream(space.clock.now(), call.text("recipient_user_id"))
    _write(call, message, _chunks(call))
    call.slack.actions.post(channel, message, unfurl=False)
    return {"channel": channel.id, "ts": message.ts}


def _recipient(call: Call) -> None:
    """In a channel Slack wants to know for whom it is written."""
    team, user = call.text("recipient_team_id"), call.text("recipient_user_id")
    if not team:
        raise SlackError("missing_recipient_team_id")
    if not user:
        raise SlackError("missing_recipient_user_id")
    if call.space.user(user).team != team:
        raise SlackError("team_not_found")


@method("chat.appendStream", "chat:write", minute=100)
def append(call: Call) -> JSON:
    channel, message = _streaming(call)
    chunks = _chunks(call)
    if not chunks:
        raise SlackError("no_text")
    before = shapes.message(call.space, message)
    _write(call, message, chunks)
    call.slack.actions.emit_changed(channel, message, before)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.stopStream", "chat:write", minute=20)
def stop(call: Call) -> JSON:
    channel, message = _streaming(call)
    chunks, blocks, facts = _chunks(call), call.items("blocks"), parse_metadata(call)
    if blocks:
        limits.BlockValidator(call.slack.limits).check(blocks)
    before = shapes.message(call.space, message)
    _write(call, message, chunks)
    assert message.stream is not None
    end(message.stream, "completed")
    message.stream.blocks += blocks or []
    message.metadata = facts or message.metadata
    call.slack.actions.emit_changed(channel, message, before)
    return {"channel": channel.id, "ts": message.ts, "message": shapes.message(call.space, message)}


def end(stream: Stream, state: Any) -> None:
    """A stream is over; tasks that still ran are shown as failed."""
    stream.state = state
    for block in stream.blocks:
        if block["type"] == "task_card" and block["status"] in {"in_progress", "pending"}:
            block["status"] = "error"


def _streaming(call: Call) -> tuple[Channel, Message]:
    channel = call.inside()
    message = call.space.message(channel, call.text("ts"))
    call.slack.end_if_expired(message)
    if message.stream is None or message.stream.state != "in_progress":
        raise SlackError("message_not_in_streaming_state")
    return channel, message


def _chunks(call: Call) -> list[JSON]:
    """What is to be added, as chunks, checked."""
    limit, text, chunks = call.slack.limits, call.text("markdown_text"), call.items("chunks", "invalid_chunks")
    if text and chunks:
        raise SlackError("invalid_arguments", "markdown_text and chunks cannot be given together")
    if text:
        chunks = [{"type": "markdown_text", "text": text}]
    for chunk in chunks or []:
        _check(chunk, limit)
    return chunks or []


def _check(chunk: Any, limit: limits.PayloadLimits) -> None:
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if kind == "markdown_text":
        if not isinstance(chunk.get("text"), str) or not chunk["text"]:
            raise SlackError("invalid_chunks", "missing required field: text")
        if len(chunk["text"]) > limit.markdown:
            raise SlackError("msg_too_long")
    elif kind == "task_update":
        _check_task(chunk, limit)
    elif kind == "plan_update":
        if not chunk.get("title") or len(chunk["title"]) > limit.task_field:
            raise SlackError("invalid_chunks", f"title must be 1 to {limit.task_field} characters")
    elif kind == "blocks":
        limits.BlockValidator(limit).check(chunk.get("blocks") or [])
    else:
        raise SlackError("invalid_chunks", f"unsupported type: {kind}")


def _check_task(chunk: JSON, limit: limits.PayloadLimits) -> None:
    if not chunk.get("id") or not chunk.get("title") or chunk.get("status") not in limits.STATUSES:
        raise SlackError("invalid_chunks", "a task needs id, title and a status")
    for name in ("title", "details", "output"):
        if len(chunk.get(name) or "") > limit.task_field:
            raise SlackError("invalid_chunks", f"{name} must be less than {limit.task_field + 1} characters")
    for source in chunk.get("sources") or []:
        if source.get("type") != "url" or not source.get("url") or not source.get("text"):
            raise SlackError("invalid_chunks", "a source needs type url, url and text")


def _write(call: Call, message: Message, chunks: list[JSON]) -> None:
    """Add chunks; all that a message takes is limited, and what goes beyond is refused as a whole."""
    stream = message.stream
    assert stream is not None
    size = sum(limits.block_length(chunk) for chunk in chunks)
    if stream.written + size > call.slack.limits.streamed:
        raise SlackError("msg_too_long")
    stream.written += size
    for chunk in chunks:
        _add_chunk(stream.blocks, chunk)
    for text in limits.find_texts(stream.blocks):  # as a whole: a mention may have come in two halves
        call.space.record_pings(message.channel, message.ts, text)
    message.text = "".join(block["text"] for block in stream.blocks if block["type"] == "markdown")


def _add_chunk(blocks: list[JSON], chunk: JSON) -> None:
    if chunk["type"] == "markdown_text":
        if blocks and blocks[-1]["type"] == "markdown":
            blocks[-1] = {"type": "markdown", "text": blocks[-1]["text"] + chunk["text"]}
        else:
            blocks.append({"type": "markdown", "text": chunk["text"]})
    elif chunk["type"] == "blocks":
        blocks += chunk["blocks"]
    elif chunk["type"] == "plan_update":
        known = next((block for block in blocks if block["type"] == "plan"), None)
        if known is None:
            blocks.insert(0, {"type": "plan", "title": chunk["title"]})
        else:
            known["title"] = chunk["title"]
    else:
        _add_task(blocks, chunk)


def _add_task(blocks: list[JSON], chunk: JSON) -> None:
    """Title and status of a known task are replaced; its details and output go on."""
    known = next((block for block in blocks if block.get("task_id") == chunk["id"]), None)
    if known is None:
        known = {"type": "task_card", "task_id": chunk["id"], "details": "", "output": "", "sources": []}
        blocks.append(known)
    known["title"], known["status"] = chunk["title"], chunk["status"]
    known["details"] += chunk.get("details") or ""
    known["output"] += chunk.get("output") or ""
    known["sources"] = [*known["sources"], *(chunk.get("sources") or [])]
