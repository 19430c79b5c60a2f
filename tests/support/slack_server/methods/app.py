"""auth.test, apps.connections.open, team.info, bots.info."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.slack_server import shapes
from tests.support.slack_server.call import Call, method
from tests.support.slack_server.refusals import SlackError

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON


@method("auth.test", minute=600)
def auth_test(call: Call) -> JSON:
    space = call.space
    return {
        "url": f"https://{space.domain}.slack.com/",
        "team": space.name,
        "user": space.app.handle,
        "team_id": space.team,
        "user_id": space.bot.id,
        "bot_id": space.bot.bot_id,
        "is_enterprise_install": False,
    }


@method("apps.connections.open", minute=60, token="xapp")
def connections_open(call: Call) -> JSON:
    return {"url": call.slack.socket_url(call.slack.socket.ticket())}


@method("team.info", "team:read", minute=50)
def team_info(call: Call) -> JSON:
    space = call.space
    if (call.text("team") or space.team) != space.team:
        raise SlackError("team_not_found")
    url = f"https://{space.domain}.slack.com/"
    return {"team": {"id": space.team, "name": space.name, "domain": space.domain, "url": url, "email_domain": ""}}


@method("bots.info", "users:read", minute=50)
def bots_info(call: Call) -> JSON:
    space = call.space
    wanted = call.text("bot") or space.bot.bot_id
    for user in space.users.values():
        if user.bot_id and user.bot_id == wanted:
            more = {"user_id": user.id, "updated": 1_700_000_000, "icons": {}}
            return {"bot": shapes.bot_profile(space, user) | more}
    raise SlackError("bot_not_found")
