"""conversations.info, members, history, replies, open; users.conversations, info, list; usergroups.list, users.list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.slack_server import shapes
from tests.support.slack_server.methods.call import Call, check_scopes, method, paginate
from tests.support.slack_server.state import SlackError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.slack_server.state import JSON, Message

TYPES = {"public_channel": "public", "private_channel": "private", "mpim": "mpim", "im": "im"}
PREFIXES = {"public_channel": "channels", "private_channel": "groups", "mpim": "mpim", "im": "im"}
READS = tuple(f"{prefix}:read" for prefix in PREFIXES.values())
HISTORIES = tuple(f"{prefix}:history" for prefix in PREFIXES.values())
MAX_PAGE = 999


def _page(call: Call, name: str, rows: list[JSON] | list[str], default: int = 100) -> JSON:
    """A page of rows, with its cursor."""
    limit = call.number("limit", default)
    if not 1 <= limit <= MAX_PAGE:
        raise SlackError("invalid_limit")
    page, cursor = paginate(rows, call.text("cursor"), min(limit, call.slack.page or MAX_PAGE))
    return {name: page, "has_more": bool(cursor), "response_metadata": {"next_cursor": cursor}}


@method("conversations.info", *READS, minute=50)
def info(call: Call) -> JSON:
    return {"channel": shapes.channel(call.space, call.readable_channel("read"))}


@method("conversations.members", *READS, minute=100)
def members(call: Call) -> JSON:
    return _page(call, "members", call.readable_channel("read").members)


def _message_page(call: Call, messages: Iterable[Message], default: int = 100) -> JSON:
    """A page of the messages between `oldest` and `latest`."""
    oldest, latest = call.text("oldest") or "0", call.text("latest") or "9999999999"
    included = {oldest, latest} if call.flag("inclusive") else set()
    rows = []
    for message in messages:
        if message.ts in included or float(oldest) < float(message.ts) < float(latest):
            call.slack.end_if_expired(message)
            marked = call.flag("include_all_metadata") and message.metadata
            rows.append(shapes.message(call.space, message) | ({"metadata": message.metadata} if marked else {}))
    return _page(call, "messages", rows, default)


@method("conversations.history", *HISTORIES, minute=50)
def history(call: Call) -> JSON:
    """Roots of threads and single messages, newest first."""
    call.readable_channel("history")
    roots = [message for message in call.joined_channel().messages.values() if not message.is_reply]
    shown = [root for root in roots if root.ts >= call.space.hidden]
    body = _message_page(call, reversed(shown))
    return body | ({"is_limited": True} if len(shown) < len(roots) else {})


@method("conversations.replies", *HISTORIES, minute=50)
def replies(call: Call) -> JSON:
    """The root of a thread and its replies, oldest first; the root whatever its time."""
    call.readable_channel("history")
    channel = call.joined_channel()
    root = call.space.message(channel, call.text("ts"), "thread_not_found")
    if root.ts < call.space.hidden:
        raise SlackError("thread_not_found")
    return _message_page(call, [root] if root.is_reply else [root, *channel.thread(root.ts)], MAX_PAGE)


@method("users.conversations", *READS, minute=50)
def user_conversations(call: Call) -> JSON:
    """The channels of the app or of a person; private ones only if the app is in them, too."""
    user, mine = call.space.user(call.text("user") or call.space.bot.id), call.space.bot.id
    kinds = {TYPES[part]: f"{PREFIXES[part]}:read" for part in (call.text("types") or "public_channel").split(",")}
    for scope in kinds.values():
        check_scopes(call.space, (scope,))
    found = [
        channel for channel in call.space.channels.values() if user.id in channel.members and channel.kind in kinds
    ]
    shown = [channel for channel in found if channel.kind == "public" or mine in channel.members]
    return _page(call, "channels", [shapes.channel(call.space, channel) for channel in shown])


@method("conversations.open", "im:write", minute=50)
def open_direct(call: Call) -> JSON:
    return {"channel": {"id": call.space.direct(call.space.user(call.text("users")).id).id}}


@method("users.info", "users:read", minute=100)
def user_info(call: Call) -> JSON:
    return {
        "user": shapes.user(
            call.space, call.space.user(call.text("user")), locale=call.text("include_locale") in {"1", "true"}
        )
    }


@method("users.list", "users:read", minute=20)
def list_users(call: Call) -> JSON:
    page, cursor = paginate(list(call.space.users.values()), call.text("cursor"), call.number("limit", 1000))
    locale = call.text("include_locale") in {"1", "true"}
    return {
        "members": [shapes.user(call.space, message, locale=locale) for message in page],
        "response_metadata": {"next_cursor": cursor},
    }


@method("usergroups.list", "usergroups:read", minute=20)
def list_groups(call: Call) -> JSON:
    groups = call.space.groups.items()
    return {"usergroups": [{"id": id_, "name": handle.title(), "handle": handle} for id_, handle in groups]}


@method("usergroups.users.list", "usergroups:read", minute=20)
def list_group_members(call: Call) -> JSON:
    if (group := call.text("usergroup")) not in call.space.groups:
        raise SlackError("no_such_subteam")
    return {"users": call.space.group_members.get(group, [])}
