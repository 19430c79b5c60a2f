"""A workspace, Ada in #roof, a run of the adapter, and Ada's question."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.adapters.slack.scene import Question, Scene, open_scene
from tests.support.slack_server import FakeSlack, Person, Room


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    """A workspace in which the app is installed as the shipped manifest says."""
    async with FakeSlack() as opened:
        yield opened


@pytest.fixture
def ada(slack: FakeSlack) -> Person:
    return slack.user("Ada")


@pytest.fixture
def roof(slack: FakeSlack, ada: Person) -> Room:
    return slack.channel("roof", members=[ada])


@pytest.fixture
async def scene(slack: FakeSlack, ada: Person, roof: Room) -> AsyncIterator[Scene]:
    async with open_scene(slack, ada, roof) as opened:
        yield opened


@pytest.fixture
async def question(scene: Scene) -> Question:
    return Question(scene, scene.ada, await scene.ada.mentions(scene.roof, "why is it wet?"))
