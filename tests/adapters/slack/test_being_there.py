"""Whether a channel, and a message in it, are there: what is not sure is not said, for then something is forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import ChannelGone, PermissionDenied, PlatformError
from bot.platform.models import Location
from tests.adapters.slack.test_platform import place

if TYPE_CHECKING:
    from tests.adapters.slack.conftest import Desk
    from tests.support.slack_server import FakeSlack


async def test_a_private_channel_without_the_bot_is_not_there_for_it(desk: Desk, slack: FakeSlack) -> None:
    room = slack.channel("secret", members=[slack.user("Ada")], kind="private", bot=False)
    with pytest.raises(ChannelGone):
        await desk.platform.fetch_channel(place(slack, room))


async def test_of_a_channel_of_another_workspace_nothing_is_sure(desk: Desk, slack: FakeSlack) -> None:
    with pytest.raises(PermissionDenied) as refused:
        await desk.platform.fetch_channel(Location("slack", "T0OTHER", "C0OTHER"))
    assert not isinstance(refused.value, ChannelGone)


async def test_whether_the_bot_is_in_a_channel_is_told_as_far_as_it_is_sure(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    roof, hall = slack.channel("roof", members=[ada]), slack.channel("hall", members=[ada], bot=False)
    assert (await desk.platform.fetch_channel(place(slack, roof))).has_bot
    assert not (await desk.platform.fetch_channel(place(slack, hall))).has_bot
    await slack.archives(hall, ada)
    assert (await desk.platform.fetch_channel(place(slack, hall))).has_bot


async def test_a_message_is_told_as_it_is_now_until_it_is_deleted(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    root = await ada.says(room, "It is wet.")
    reply = await ada.says(room, "Is it?", thread=root)
    await ada.edits(reply, "It is not!")
    found = await desk.platform.fetch_message(place(slack, room, root.ts), reply.ts)
    assert found
    assert found.text == "It is not!"
    await ada.deletes(root)
    assert await desk.platform.fetch_message(place(slack, room), root.ts) is None
    await ada.deletes(reply)
    assert await desk.platform.fetch_message(place(slack, room, root.ts), reply.ts) is None
    slack.fail_next("conversations.replies", "internal_error")
    with pytest.raises(PlatformError):
        await desk.platform.fetch_message(place(slack, room), root.ts)
