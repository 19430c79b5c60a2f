from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adapters.slack.workspace.users import parse_person
from tests.adapters.slack.payloads import US

if TYPE_CHECKING:
    from tests.adapters.slack.conftest import Desk
    from tests.support.slack_server import FakeSlack


def test_somebody_is_called_as_he_wants_to_be() -> None:
    profile = {"display_name": "", "real_name": "Ada Lovelace"}
    assert parse_person({"id": "U1", "name": "ada", "profile": profile}, US).name == "Ada Lovelace"
    assert parse_person({"id": "U1", "name": "ada", "profile": {**profile, "display_name": "Ada"}}, US).name == "Ada"
    assert parse_person({"id": "U1"}, US).name == "U1"


@pytest.mark.parametrize(
    "user",
    [{"is_restricted": True}, {"is_ultra_restricted": True}, {"is_stranger": True}, {"team_id": "T2"}],
)
def test_who_does_not_belong_here_is_a_guest(user: dict[str, object]) -> None:
    assert parse_person({"id": "U1", **user}, US).is_guest
    assert not parse_person({"id": "U1", "team_id": "T1"}, US).is_guest


def test_who_belongs_here_by_his_organisation_is_none() -> None:
    assert not parse_person({"id": "U1", "team_id": "T2", "enterprise_user": {"teams": ["T2", "T1"]}}, US).is_guest


def test_slacks_own_servant_is_a_program() -> None:
    assert parse_person({"id": "USLACKBOT"}, US).is_bot


async def test_everybody_is_known_at_once_where_many_are_asked_for(desk: Desk, slack: FakeSlack) -> None:
    people = [slack.user(f"P{number}") for number in range(9)]
    await desk.study.users.preload()
    await desk.study.users.get_readers([person.id for person in people])
    assert len(slack.calls_to("users.list")) == 1
    assert not slack.calls_to("users.info")


async def test_a_server_without_a_list_is_asked_for_one_after_another(desk: Desk, slack: FakeSlack) -> None:
    people = [slack.user(f"P{number}") for number in range(9)]
    slack.fail_next("users.list", "unknown_method")
    found = await desk.study.users.get_readers([person.id for person in people])
    assert found.keys() == {person.id for person in people}
    assert len(slack.calls_to("users.info")) == 9


async def test_what_events_say_is_believed_until_some_were_missed(desk: Desk, slack: FakeSlack) -> None:
    ada, people = slack.user("Ada"), desk.study.users
    assert not (await people.get_person(ada.id)).is_guest
    ada.user.kind = "guest"
    assert not (await people.get_person(ada.id)).is_guest
    people.invalidate()
    assert (await people.get_person(ada.id)).is_guest


async def test_a_young_fact_can_be_asked_for(desk: Desk, slack: FakeSlack) -> None:
    ada, people = slack.user("Ada"), desk.study.users
    await people.get_person(ada.id)
    await people.get_person(ada.id, max_age=0.0)
    assert len(slack.calls_to("users.info")) == 2
