"""conversations.info, members, history, replies, list, open, join, and users.conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.slack_server import shapes
from tests.support.slack_server.call import Call, method, paginate
from tests.support.slack_server.refusals import SlackError

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON, Channel, Message

PREFIX = {"public": "channels", "private": "groups", "mpim": "mpim", "im": "im"}
TYPES = {"public_channel": "public", "private_channel": "private", "mpim": "mpim", "im": "im"}
READS = ("channels:read", "groups:read", "im:read", "mpim:read")
HISTORIES = ("channels:history", "groups:history", "im:history", "mpim:history")

MOST = 999  # objects on a page


def _readable(call: Call, what: str) -> Channel:
    """A channel that the app can see, and whose kind it may read."""
    channel = call.seen()
    call.granted(f"{PREFIX[channel.kind]}:{what}")
    return channel


@method("conversations.info", *READS, minute=50)
def info(call: Call) -> JSON:
    channel = _readable(call, "read")
    body = shapes.channel(call.space, channel)
    if call.flag("include_num_members"):
        body["num_members"] = len(channel.members)
    return {"channel": body}


@method("conversations.members", *READS, minute=100)
def members(call: Call) -> JSON:
    channel = _readable(call, "read")
    page, cursor = paginate(channel.members, call.text("cursor"), _limit(call))
    return {"members": page, "response_metadata": {"next_cursor": cursor}}


def _limit(call: Call, default: int = 100) -> int:
    limit = call.number("limit", default)
    if not 1 <= limit <= MOST:
        raise SlackError("invalid_limit")
    return min(limit, call.slack.page or MOST)


def _between(call: Call, messages: list[Message]) -> list[Message]:
    oldest, latest, inclusive = call.text("oldest") or "0", call.text("latest"), call.flag("inclusive")
    for value in filter(None, (oldest, latest)):
        if not value.replace(".", "", 1).isdigit():
            raise SlackError("invalid_ts_oldest" if value == oldest else "invalid_ts_latest")

    def fits(message: Message) -> bool:
        ts = float(message.ts)
        if inclusive and message.ts in {oldest, latest}:
            return True
        return float(oldest) < ts and (not latest or ts < float(latest))

    return [message for message in messages if fits(message)]


def _message_json(call: Call, message: Message) -> JSON:
    call.slack.end_if_expired(message)
    body = shapes.message(call.space, message)
    if call.flag("include_all_metadata") and message.metadata:
        body["metadata"] = message.metadata
    return body


@method("conversations.history", *HISTORIES, minute=50)
def history(call: Call) -> JSON:
    channel = _readable(call, "history")
    call.inside()
    heard = [each for each in channel.messages.values() if not each.is_reply or each.subtype == "thread_broadcast"]
    shown = [each for each in heard if each.ts >= call.space.hidden]
    rows = sorted(_between(call, shown), key=lambda each: each.ts, reverse=True)
    page, cursor = paginate(rows, call.text("cursor"), _limit(call))
    body: JSON = {"messages": [_message_json(call, each) for each in page], "has_more": bool(cursor), "pin_count": 0}
    if len(shown) < len(heard):
        body["is_limited"] = True
    return body | ({"response_metadata": {"next_cursor": cursor}} if cursor else {})


@method("conversations.replies", *HISTORIES, minute=50)
def replies(call: Call) -> JSON:
    channel = _readable(call, "history")
    call.inside()
    root = call.space.message(channel, call.require("ts"), "thread_not_found")
    if root.ts < call.space.hidden:
        raise SlackError("thread_not_found")
    rows = [root] if root.is_reply else [root, *_between(call, channel.thread(root.ts))]
    page, cursor = paginate(rows, call.text("cursor"), _limit(call, MOST))
    body: JSON = {"messages": [_message_json(call, each) for each in page], "has_more": bool(cursor)}
    return body | ({"response_metadata": {"next_cursor": cursor}} if cursor else {})


def _listed(call: Call, channels: list[Channel]) -> JSON:
    wanted = {TYPES.get(each.strip(), "") for each in (call.text("types") or "public_channel").split(",")}
    if "" in wanted:
        raise SlackError("invalid_types")
    for kind in wanted:
        call.granted(f"{PREFIX[kind]}:read")
    rows = [each for each in channels if each.kind in wanted and not (call.flag("exclude_archived") and each.archived)]
    page, cursor = paginate(rows, call.text("cursor"), _limit(call))
    told = [shapes.channel(call.space, each) for each in page]
    return {"channels": told, "response_metadata": {"next_cursor": cursor}}


@method("conversations.list", *READS, minute=20)
def list_all(call: Call) -> JSON:
    mine = call.space.bot.id
    return _listed(
        call, [each for each in call.space.channels.values() if each.kind == "public" or mine in each.members]
    )


@method("users.conversations", *READS, minute=50)
def of_user(call: Call) -> JSON:
    user, mine = call.space.user(call.text("user") or call.space.bot.id), call.space.bot.id
    shared = [each for each in call.space.channels.values() if user.id in each.members]
    body = _listed(call, [each for each in shared if each.kind == "public" or mine in each.members])
    for each in body["channels"]:
        each.pop("is_member", None)  # what the list is of is what it does not say
    return body


@method("conversations.open", "im:write", "mpim:write", minute=50)
def open_direct(call: Call) -> JSON:
    people = [each for each in call.text("users").split(",") if each]
    if not people:
        return {"channel": {"id": call.seen().id}}
    for person in people:
        call.space.user(person)
    if len(people) > 1:
        call.granted("mpim:write")
        channel = call.space.add_channel("mpdm", "mpim", [*people, call.space.bot.id])
    else:
        channel = call.space.direct(people[0])
    return {"channel": shapes.channel(call.space, channel) if call.flag("return_im") else {"id": channel.id}}


@method("conversations.join", "channels:join", minute=50)
def join(call: Call) -> JSON:
    channel = call.seen()
    if channel.kind != "public":
        raise SlackError("method_not_supported_for_channel_type")
    if channel.archived:
        raise SlackError("is_archived")
    already = call.space.bot.id in channel.members
    call.slack.actions.join(channel, call.space.bot)
    body: JSON = {"channel": shapes.channel(call.space, channel)}
    return body | ({"warning": "already_in_channel"} if already else {})
