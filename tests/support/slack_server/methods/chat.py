"""chat.postMessage, update, delete, postEphemeral and getPermalink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.slack_server import shapes
from tests.support.slack_server.methods.blocks import check_blocks, find_texts
from tests.support.slack_server.methods.call import Call, method
from tests.support.slack_server.state import Message, SlackError

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON, Channel

MAX_METADATA = 16_384


@dataclass(frozen=True, slots=True)
class MessageContent:
    """What a message says: `text` in mrkdwn, which is hidden by blocks."""

    text: str
    blocks: list[JSON] | None
    metadata: JSON | None


def parse_content(call: Call, text_limit: int) -> MessageContent:
    """The content of a post or an update, checked."""
    text, blocks = call.text("text"), call.items("blocks")
    check_blocks(blocks, call.slack.limits)
    if not text and not blocks:
        raise SlackError("no_text")
    if len(text) > text_limit:
        raise SlackError("msg_too_long")
    return MessageContent(text, blocks if "blocks" in call.args else None, parse_metadata(call))


def parse_metadata(call: Call) -> JSON | None:
    """The metadata of a message, checked."""
    metadata = call.object("metadata")
    if metadata is not None:
        if not metadata.get("event_type") or not isinstance(metadata.get("event_payload"), dict):
            raise SlackError("invalid_metadata_format")
        if len(str(metadata)) > MAX_METADATA:
            raise SlackError("metadata_too_large")
    return metadata


def find_thread_root(call: Call, channel: Channel) -> str:
    """The root to reply to, which must exist and not be a reply itself."""
    ts = call.text("thread_ts")
    if ts and call.space.message(channel, ts, "thread_not_found").is_reply:
        raise SlackError("cannot_reply_to_message")
    return ts


def find_own_message(call: Call, channel: Channel, error: str) -> Message:
    """The message of the call, which the app must have written."""
    message = call.space.message(channel, call.text("ts"))
    call.slack.end_if_expired(message)
    if message.user != call.space.bot.id or message.subtype == "tombstone":
        raise SlackError(error)
    return message


def is_streaming(message: Message) -> bool:
    return message.stream is not None and message.stream.state == "in_progress"


def record_pings(call: Call, message: Message) -> None:
    """Notify everyone whom a message mentions; `link_names` and `parse` make plain words mentions, too."""
    for text in find_texts(message.blocks or [{"text": message.text}]):
        if call.flag("link_names") or call.text("parse") == "full":
            text = text.replace("@channel", "<!channel>").replace("@here", "<!here>")  # noqa: PLW2901
        call.space.record_pings(message.channel, message.ts, text)


@method("chat.postMessage", "chat:write", minute=600)
def post_message(call: Call) -> JSON:
    channel = call.writable_channel()
    call.slack.buckets.count_post(channel.id)
    content = parse_content(call, call.slack.limits.text)
    message = Message(call.space.new_ts(), channel.id, call.space.bot.id, content.text, find_thread_root(call, channel))
    message.blocks, message.metadata = content.blocks, content.metadata
    record_pings(call, message)
    call.slack.changes.post(channel, message, unfurl=call.flag("unfurl_links"))
    return {"channel": channel.id, "ts": message.ts, "message": shapes.message(call.space, message)}


@method("chat.update", "chat:write", minute=50)
def update(call: Call) -> JSON:
    """Without `blocks` the former blocks, streamed ones too, stay and hide the new text."""
    channel = call.joined_channel()
    message = find_own_message(call, channel, "cant_update_message")
    if is_streaming(message):
        raise SlackError("streaming_state_conflict")
    content = parse_content(call, call.slack.limits.updated_text)
    before = shapes.message(call.space, message)
    streamed = message.stream.blocks if message.stream is not None else message.blocks
    message.text, message.stream = content.text, None
    message.blocks = streamed if content.blocks is None else content.blocks
    message.metadata = content.metadata or message.metadata
    message.edited = call.space.new_ts()
    record_pings(call, message)
    call.slack.changes.emit_changed(channel, before, message)
    return {"channel": channel.id, "ts": message.ts, "text": message.text}


@method("chat.delete", "chat:write", minute=50)
def delete(call: Call) -> JSON:
    channel = call.joined_channel()
    message = find_own_message(call, channel, "cant_delete_message")
    if is_streaming(message):
        raise SlackError("cant_delete_message")
    call.slack.changes.delete(channel, message)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.postEphemeral", "chat:write", minute=100)
def post_ephemeral(call: Call) -> JSON:
    channel = call.writable_channel()
    reader = call.text("user")
    if reader not in channel.members:
        raise SlackError("user_not_in_channel")
    content = parse_content(call, call.slack.limits.text)
    message = Message(call.space.new_ts(), channel.id, call.space.bot.id, content.text, find_thread_root(call, channel))
    message.blocks, message.only_for = content.blocks, reader
    channel.ephemeral_messages.append(message)
    call.space.changed()
    return {"message_ts": message.ts}


@method("chat.getPermalink", minute=600)
def get_permalink(call: Call) -> JSON:
    channel = call.joined_channel()
    message = call.space.message(channel, call.text("message_ts"))
    link = f"https://{call.space.domain}.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}"
    return {"permalink": f"{link}?thread_ts={message.thread_ts}&cid={channel.id}" if message.is_reply else link}
