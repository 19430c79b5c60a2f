from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.context import BotIdentity
from adapters.slack.workspace.users import parse_person
from tests.adapters.slack.scene import Scene

IDENTITY = BotIdentity(team="T1", user="UBOT", bot="BBOT", url="https://small.slack.com/")
FULL_NAME = {"display_name": "", "real_name": "Ada Lovelace"}


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ({"name": "ada", "profile": FULL_NAME}, {"name": "Ada Lovelace"}),
        ({"name": "ada", "profile": {**FULL_NAME, "display_name": "Ada"}}, {"name": "Ada"}),
        ({}, {"name": "U1"}),
        ({"team_id": "T1"}, {"is_guest": False}),
        ({"is_restricted": True}, {"is_guest": True}),
        ({"is_ultra_restricted": True}, {"is_guest": True}),
        ({"is_stranger": True}, {"is_guest": True}),
        ({"team_id": "T2"}, {"is_guest": True}),
        ({"team_id": "T2", "enterprise_user": {"teams": ["T2", "T1"]}}, {"is_guest": False}),
        ({"id": "USLACKBOT"}, {"is_bot": True}),
        ({"is_admin": True}, {"is_manager": True, "is_bot": False, "is_deactivated": False}),
        ({"is_admin": True, "team_id": "T2"}, {"is_manager": False, "is_guest": True}),
        ({"is_owner": True, "is_stranger": True}, {"is_manager": False, "is_guest": True}),
        ({"deleted": True, "tz": None}, {"is_deactivated": True, "time_zone": ""}),
        ({"tz": "America/Lima"}, {"time_zone": "America/Lima"}),
    ],
)
def test_a_user_payload_is_parsed(user: dict[str, Any], expected: dict[str, object]) -> None:
    person = parse_person({"id": "U1", **user}, IDENTITY)
    assert {name: getattr(person, name) for name in expected} == expected


async def test_many_users_are_listed_by_one_call(scene: Scene) -> None:
    people = [scene.slack.user(f"P{number}") for number in range(9)]
    await scene.context.users.preload()
    await scene.context.users.get_readers([person.id for person in people])
    assert len(scene.slack.calls_to("users.list")) == 1
    assert not scene.slack.calls_to("users.info")


async def test_users_are_fetched_one_by_one_if_the_list_is_refused(scene: Scene) -> None:
    people = [scene.slack.user(f"P{number}") for number in range(9)]
    scene.slack.fail_next("users.list", "unknown_method")
    found = await scene.context.users.get_readers([person.id for person in people])
    assert found.keys() == {person.id for person in people}
    assert len(scene.slack.calls_to("users.info")) == 9


async def test_a_user_is_fetched_again_if_events_were_missed_or_a_recent_answer_is_needed(scene: Scene) -> None:
    users = scene.context.users
    assert not (await users.get_person(scene.ada.id)).is_guest
    scene.ada.user.kind = "guest"
    assert not (await users.get_person(scene.ada.id)).is_guest
    users.invalidate()
    assert (await users.get_person(scene.ada.id)).is_guest
    await users.get_person(scene.ada.id, max_age=0.0)
    assert len(scene.slack.calls_to("users.info")) == 3
