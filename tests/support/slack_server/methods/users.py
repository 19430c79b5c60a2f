"""users.info and users.list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.slack_server import shapes
from tests.support.slack_server.call import Call, method, paginate

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON


@method("users.info", "users:read", minute=100)
def info(call: Call) -> JSON:
    return {"user": shapes.user(call.space, call.space.user(call.require("user")))}


@method("users.list", "users:read", minute=20)
def list_all(call: Call) -> JSON:
    page, cursor = paginate(list(call.space.users.values()), call.text("cursor"), call.number("limit", 1000))
    members = [shapes.user(call.space, each) for each in page]
    return {"members": members, "cache_ts": 1_700_000_000, "response_metadata": {"next_cursor": cursor}}
