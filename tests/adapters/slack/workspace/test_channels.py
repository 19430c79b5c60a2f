from __future__ import annotations

import pytest

from bot.errors import ChannelGone, PermissionDenied, PlatformError
from bot.platform.models import Location
from tests.adapters.slack.scene import Scene, locate
from tests.support.slack_server.state import ChannelKind


@pytest.mark.parametrize(("kind", "expected"), [("public", "open"), ("private", "closed"), ("mpim", "closed")])
async def test_only_public_channels_are_open(scene: Scene, kind: ChannelKind, expected: str) -> None:
    channel = await scene.platform.fetch_channel(locate(scene.slack.channel("x", members=[scene.ada], kind=kind)))
    assert (channel.kind, channel.name, channel.shared, set(channel.members)) == (expected, "x", False, {scene.ada.id})


async def test_a_direct_conversation_has_one_member(scene: Scene) -> None:
    channel = await scene.platform.fetch_channel(locate(scene.ada.direct))
    assert (channel.kind, set(channel.members)) == ("direct", {scene.ada.id})


async def test_strangers_are_guests_and_apps_and_deactivated_people_read_nothing(scene: Scene) -> None:
    gus, eve, gone = scene.slack.user("Gus", kind="guest"), scene.slack.stranger("Eve"), scene.slack.user("Gone")
    await gone.becomes("deactivated")
    room = scene.slack.channel("deal", members=[scene.ada, gus, eve, gone, scene.slack.robot("Clock")], shared=True)
    channel = await scene.platform.fetch_channel(locate(room))
    assert channel.shared
    assert channel.members == {scene.ada.id, gus.id, eve.id}
    assert channel.guests == {gus.id, eve.id}


async def test_all_pages_of_members_are_read(scene: Scene) -> None:
    scene.slack.page = 10
    people = [scene.slack.user(f"P{number}") for number in range(35)]
    channel = await scene.platform.fetch_channel(locate(scene.slack.channel("all", members=people)))
    assert channel.members == {person.id for person in people}
    assert not scene.slack.calls_to("users.info")  # one list instead of 35 calls


async def test_an_unknown_member_counts_as_a_guest(scene: Scene) -> None:
    scene.slack.fail_next("users.info", "user_not_found")
    assert (await scene.platform.fetch_channel(locate(scene.roof))).guests == {scene.ada.id}


async def test_a_channel_whose_members_are_unknown_is_unknown(scene: Scene) -> None:
    scene.slack.fail_next("conversations.members", "internal_error")
    with pytest.raises(PlatformError):
        await scene.platform.fetch_channel(locate(scene.roof))


async def test_only_a_channel_of_this_workspace_can_be_gone(scene: Scene) -> None:
    secret = scene.slack.channel("secret", members=[scene.ada], kind="private", bot=False)
    with pytest.raises(ChannelGone):
        await scene.platform.fetch_channel(locate(secret))
    with pytest.raises(PermissionDenied) as refused:
        await scene.platform.fetch_channel(Location("slack", "T0OTHER", "C0OTHER"))
    assert not isinstance(refused.value, ChannelGone)


async def test_the_bot_counts_as_inside_an_archived_channel(scene: Scene) -> None:
    hall = scene.slack.channel("hall", members=[scene.ada], bot=False)
    assert (await scene.platform.fetch_channel(locate(scene.roof))).has_bot
    assert not (await scene.platform.fetch_channel(locate(hall))).has_bot
    await scene.slack.archives(hall, scene.ada)
    assert (await scene.platform.fetch_channel(locate(hall))).has_bot
