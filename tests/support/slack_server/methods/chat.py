"""chat.postMessage, update, delete, postEphemeral, getPermalink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.slack_server import limits, shapes
from tests.support.slack_server.call import Call, method
from tests.support.slack_server.refusals import SlackError
from tests.support.slack_server.state import Channel, Message

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON

METADATA_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class MessageContent:
    """What a message is to say: `text` in mrkdwn, which blocks outshine."""

    text: str
    blocks: list[JSON] | None
    metadata: JSON | None
    truncated: bool = False


def parse_content(call: Call, text_limit: int, *, required: bool = True) -> MessageContent:
    """The content of a post or an update, checked."""
    limit = call.slack.limits
    text, markdown, blocks = call.text("text"), call.text("markdown_text"), call.items("blocks")
    if markdown and (text or blocks):
        raise SlackError("markdown_text_conflict")
    if markdown:
        if len(markdown) > limit.markdown:
            raise SlackError("msg_too_long")
        text, blocks = markdown, [{"type": "markdown", "text": markdown}]
    elif blocks:
        limits.BlockValidator(limit).check(blocks)
    if required and not text and not blocks and not call.args.get("attachments"):
        raise SlackError("no_text")
    truncated = False
    if not markdown and len(text) > text_limit:
        if text_limit != limit.text:
            raise SlackError("msg_too_long")
        text, truncated = text[:text_limit], True
    return MessageContent(text, blocks, parse_metadata(call), truncated)


def parse_metadata(call: Call) -> JSON | None:
    """What machines may read in a message, checked."""
    given = call.object("metadata")
    if given is None:
        return None
    if not given.get("event_type") or not isinstance(given.get("event_payload"), dict):
        raise SlackError("invalid_metadata_format")
    if len(str(given)) > METADATA_BYTES:
        raise SlackError("metadata_too_large")
    return given


def find_thread_root(call: Call, channel: Channel) -> str:
    """The root to reply to, which must exist, and be one."""
    ts = call.text("thread_ts")
    if ts and call.space.message(channel, ts, "thread_not_found").is_reply:
        raise SlackError("cannot_reply_to_message")
    return ts


def resolve_channel(call: Call) -> Channel:
    """The channel to post into; a person's id stands for the direct conversation with them."""
    target = call.text("channel")
    if target.startswith(("U", "W")) and target in call.space.users:
        return call.space.direct(target)
    return call.writable()


def record_pings(call: Call, message: Message) -> None:
    """Whoever is named in a message is notified."""
    shown = message.blocks or [{"text": message.text}]
    for text in limits.find_texts(shown):
        call.space.record_pings(message.channel, message.ts, text)
        if call.text("link_names") in {"1", "True", "true"} or call.text("parse") == "full":
            call.space.record_pings(
                message.channel, message.ts, text.replace("@channel", "<!channel>").replace("@here", "<!here>")
            )


@method("chat.postMessage", "chat:write", minute=600)
def post_message(call: Call) -> JSON:
    channel = resolve_channel(call)
    call.slack.buckets.count_post(channel.id)
    said = parse_content(call, call.slack.limits.text)
    ts = call.space.new_ts()
    message = Message(ts, channel.id, call.space.bot.id, said.text, find_thread_root(call, channel))
    message.blocks, message.metadata = said.blocks, said.metadata
    if call.flag("reply_broadcast") and message.thread_ts:
        message.subtype = "thread_broadcast"
    record_pings(call, message)
    call.slack.actions.post(channel, message, unfurl=bool(call.flag("unfurl_links")))
    body: JSON = {"channel": channel.id, "ts": ts, "message": shapes.message(call.space, message)}
    if said.truncated:
        body["response_metadata"] = {"warnings": ["message_truncated"]}
    return body


@method("chat.update", "chat:write", minute=50)
def update(call: Call) -> JSON:
    channel = call.inside()
    message = call.space.message(channel, call.text("ts"))
    if message.user != call.space.bot.id or message.subtype == "tombstone":
        raise SlackError("cant_update_message")
    call.slack.end_if_expired(message)
    if message.stream is not None and message.stream.state == "in_progress":
        raise SlackError("streaming_state_conflict")
    said = parse_content(call, call.slack.limits.updated_text)
    before = shapes.message(call.space, message)
    message.text = said.text
    if said.blocks is not None:  # without the field the blocks of before stay, and outshine the text
        message.blocks, message.stream = said.blocks, None
    elif message.stream is not None:
        message.blocks, message.stream = message.stream.blocks, None
    message.metadata = said.metadata or message.metadata
    message.edited = call.space.new_ts()
    record_pings(call, message)
    call.slack.actions.emit_changed(channel, message, before)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": shapes.message(call.space, message),
    }


@method("chat.delete", "chat:write", minute=50)
def delete(call: Call) -> JSON:
    channel = call.inside()
    message = call.space.message(channel, call.text("ts"))
    call.slack.end_if_expired(message)
    streaming = message.stream is not None and message.stream.state == "in_progress"
    if message.user != call.space.bot.id or streaming or message.subtype == "tombstone":
        raise SlackError("cant_delete_message")
    call.slack.actions.delete(channel, message)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.postEphemeral", "chat:write", minute=100)
def post_ephemeral(call: Call) -> JSON:
    channel = call.writable()
    reader = call.require("user")
    if reader not in call.space.users or reader not in channel.members:
        raise SlackError("user_not_in_channel")
    said = parse_content(call, call.slack.limits.text)
    message = Message(call.space.new_ts(), channel.id, call.space.bot.id, said.text, find_thread_root(call, channel))
    message.blocks, message.only_for = said.blocks, reader
    channel.ephemeral_messages.append(message)
    call.space.changed()
    return {"message_ts": message.ts}


@method("chat.getPermalink", minute=600)
def get_permalink(call: Call) -> JSON:
    channel = call.seen()
    message = call.space.message(channel, call.require("message_ts"))
    return {"channel": channel.id, "permalink": permalink(call, message)}


def permalink(call: Call, message: Message) -> str:
    """Where a message stands."""
    link = f"https://{call.space.domain}.slack.com/archives/{message.channel}/p{message.ts.replace('.', '')}"
    return f"{link}?thread_ts={message.thread_ts}&cid={message.channel}" if message.is_reply else link
