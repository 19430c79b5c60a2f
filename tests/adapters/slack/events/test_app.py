"""Which workspace a request of Slack is for."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.events.app import list_candidate_teams

USER, MESSAGE = {"user": {"team_id": "TUSER"}}, {"message": {"team": "TAUTHOR"}}


@pytest.mark.parametrize(
    ("team", "body", "teams"),
    [
        ("T1", {"type": "block_actions"}, ("T1",)),
        (None, {"type": "block_actions", **USER, **MESSAGE}, ("TAUTHOR", "TUSER")),
        (None, {"type": "view_submission", **USER}, ("TUSER",)),
        (None, {"type": "event_callback", **USER}, ()),
    ],
)
def test_where_an_organization_installed_the_app_a_button_or_form_names_its_workspace_otherwise(
    team: str | None, body: dict[str, Any], teams: tuple[str, ...]
) -> None:
    assert list_candidate_teams(team, body) == teams


def test_a_shortcut_is_never_for_the_workspace_of_a_message_s_author() -> None:
    assert list_candidate_teams(None, {"type": "message_action", **USER, **MESSAGE}) == ("TUSER",)
