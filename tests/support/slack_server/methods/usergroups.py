"""usergroups.list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.slack_server.call import Call, method

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON


@method("usergroups.list", "usergroups:read", minute=20)
def list_all(call: Call) -> JSON:
    team = call.space.team
    listed = [
        {"id": id_, "team_id": team, "is_usergroup": True, "name": handle.title(), "handle": handle, "date_delete": 0}
        for id_, handle in call.space.groups.items()
    ]
    return {"usergroups": listed}
