"""The facts of channels: which of many are known, and how long an open channel counts as open."""

from __future__ import annotations

from typing import Any

import pytest

from bot.errors import NotConnected, PlatformError
from bot.permissions.channel_facts import ChannelFacts, find_platform
from bot.platform.models import Channel, Location
from tests.support.builders import HALL
from tests.support.clock import ManualClock
from tests.support.fake_platform import FakePlatform


class BusyPlatform(FakePlatform):
    """One of its channels cannot be looked up for now; its clock is set by hand."""

    def __init__(self) -> None:
        super().__init__(clock=ManualClock())
        self.advance(1000.0)
        self.add_channel("HALL", "ada")

    async def fetch_channel(self, place: Location) -> Channel:
        if place.channel == "BUSY":
            raise PlatformError("Try again.")
        return await super().fetch_channel(place)


@pytest.fixture
def slack() -> BusyPlatform:
    return BusyPlatform()


@pytest.fixture
def facts(slack: BusyPlatform) -> ChannelFacts:
    return ChannelFacts({"slack": slack}, 60.0, slack.clock)


@pytest.mark.parametrize(
    ("names", "found", "is_complete"),
    [
        (["HALL"], ["hall"], True),
        (["LOST", "HALL"], ["hall"], True),  # nobody lets the bot see it
        (["HALL", "BUSY"], ["hall"], False),
        (["LOST", "BUSY"], [], False),
    ],
)
async def test_channels_are_complete_unless_one_cannot_be_looked_up_for_now(
    slack: BusyPlatform, facts: ChannelFacts, names: list[str], found: list[str], *, is_complete: bool
) -> None:
    channels, complete = await facts.get_all([slack.place(name) for name in names])
    assert ([channel.name for channel in channels], complete) == (found, is_complete)


@pytest.mark.parametrize(("later", "since"), [(599.9, 1000.0), (600.0, None)])
async def test_an_open_channel_counts_as_open_for_ten_minutes(
    slack: BusyPlatform, facts: ChannelFacts, later: float, since: float | None
) -> None:
    assert facts.find_recently_open(HALL) is None
    await facts.get(HALL)
    slack.advance(later)
    assert facts.find_recently_open(HALL) == since


@pytest.mark.parametrize("change", [{"kind": "closed"}, {"shared": True}], ids=["closed", "shared"])
async def test_a_channel_that_is_found_closed_or_shared_no_longer_counts_as_open(
    slack: BusyPlatform, facts: ChannelFacts, change: dict[str, Any]
) -> None:
    await facts.get(HALL)
    slack.change_channel("HALL", **change)
    slack.advance(60.0)
    await facts.get(HALL)
    assert facts.find_recently_open(HALL) is None


def test_a_platform_that_is_not_connected_is_named(slack: BusyPlatform) -> None:
    assert find_platform({"slack": slack}, "slack") is slack
    with pytest.raises(NotConnected, match="discord"):
        find_platform({"slack": slack}, "discord")
