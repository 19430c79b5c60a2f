from __future__ import annotations

import pytest

from adapters.slack.workspace.channels import Channels, ListingForbidden
from bot.errors import PermissionDenied
from bot.platform.models import Button, Card
from tests.adapters.slack.scene import PICTURE, Scene, locate

# Names and links.


async def test_texts_are_read_with_names_but_without_those_of_private_channels(scene: Scene) -> None:
    secret = scene.slack.channel("merger", members=[scene.ada], kind="private")
    text = f"<@{scene.ada.id}> in <#{scene.roof.id}> and <#{secret.id}|merger> &amp; <https://x.org|here>"
    plain = "@Ada in #roof and #private-channel & here (https://x.org)"
    assert await scene.platform.to_plain_text("", text) == plain


async def test_the_name_of_a_channel_is_fetched_once_until_it_changes(scene: Scene) -> None:
    hidden = scene.slack.channel("merger", members=[scene.ada], kind="private", bot=False)
    text = f"<#{scene.roof.id}|roof> <#{hidden.id}|merger>"
    for _ in range(3):
        assert await scene.platform.to_plain_text("", text) == "#roof #private-channel"
    assert len(scene.slack.calls_to("conversations.info")) == 2
    scene.roof.channel.kind = "private"
    scene.platform.invalidate_channel(scene.roof.id)
    assert await scene.platform.to_plain_text("", text) == "#private-channel #private-channel"
    assert len(scene.slack.calls_to("conversations.info")) == 3


@pytest.mark.parametrize(("is_allowed", "shown"), [(True, "@crew @crew @devs"), (False, "@group @old @devs")])
async def test_user_groups_have_their_current_names_if_the_app_may_list_them(
    scene: Scene, shown: str, *, is_allowed: bool
) -> None:
    scene.slack.space.groups["S1"] = "crew"
    scene.slack.fail_next("usergroups.list", "missing_scope", times=not is_allowed)
    for _ in range(3):
        text = await scene.platform.to_plain_text("", "<!subteam^S1> <!subteam^S1|@old> <!subteam^S2|@devs>")
        assert text == shown
    assert len(scene.slack.calls_to("usergroups.list")) == 1


async def test_members_of_a_user_group_are_looked_up_once_a_minute(scene: Scene) -> None:
    scene.slack.space.groups["S1"] = "crew"
    scene.slack.space.group_members["S1"] = [scene.ada.id]
    for person, expected in ((scene.ada.id, True), ("U9", False), (scene.ada.id, True)):
        assert await scene.platform.is_in_group("T1", person, "S1") is expected
    assert len(scene.slack.calls_to("usergroups.users.list")) == 1
    with pytest.raises(PermissionDenied):
        await scene.platform.is_in_group("T1", scene.ada.id, "S9")


async def test_links_equal_those_of_slack(scene: Scene) -> None:
    root = await scene.ada.says(scene.roof, "root")
    reply = await scene.ada.says(scene.roof, "reply", thread=root)
    for sent, place in ((root, locate(scene.roof)), (reply, locate(scene.roof, root.ts))):
        slacks = await scene.context.idempotent_client.chat_getPermalink(channel=scene.roof.id, message_ts=sent.ts)
        assert scene.platform.message_link(place, sent.ts) == slacks["permalink"]


# Reactions and cards.


async def test_a_reaction_replaces_the_one_before_and_a_refused_one_is_left_out(scene: Scene) -> None:
    sent = await scene.ada.says(scene.roof, "a file")
    for reaction, shown in (("working", "hourglass_flowing_sand"), ("done", "white_check_mark"), (None, "")):
        await scene.platform.set_reaction(locate(scene.roof), sent.ts, reaction)  # type: ignore[arg-type]
        assert scene.slack.sees(scene.ada, scene.roof).entries[0].reactions == (((shown, 1),) if shown else ())
    await scene.platform.set_reaction(locate(scene.roof), "1.2", "done")


async def test_a_card_is_posted_with_its_buttons_and_picture_and_notifies_nobody(scene: Scene) -> None:
    card = Card("I read **here** now. <!channel>", PICTURE, (Button("Stop", "stop", "C"),))
    ts = await scene.platform.post(locate(scene.roof), card)
    first, second = scene.slack.sees(scene.ada, scene.roof).entries
    assert (first.ts, first.buttons, second.files) == (ts, ("Stop",), ("graph.png",))
    assert not scene.slack.space.pings


async def test_a_card_notifies_the_people_whom_it_mentions_and_nobody_else(scene: Scene) -> None:
    bob = scene.slack.user("Bob")
    card = Card(f"asks you: <!here> <@{scene.ada.id}>", mentions=(bob.id, "S1>", "!channel"))
    await scene.platform.post(locate(scene.roof), card)
    assert [ping.target for ping in scene.slack.space.pings] == [bob.id]


async def test_slack_makes_no_link_of_a_name_in_a_card(scene: Scene) -> None:
    await scene.platform.post(locate(scene.roof), Card("evil.example/collect?d=SECRET and bob@evil.example"))
    [entry] = scene.slack.sees(scene.ada, scene.roof).entries
    assert "evil.example" in entry.text
    assert entry.links == ()


async def test_a_card_cannot_be_posted_where_the_bot_is_not(scene: Scene) -> None:
    with pytest.raises(PermissionDenied):
        await scene.platform.post(locate(scene.slack.channel("hall", members=[scene.ada], bot=False)), Card("hello"))


async def test_a_workspace_that_may_not_be_listed_is_asked_again_later(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise ListingForbidden("No.")

    team = scene.context.identity.team
    monkeypatch.setattr(Channels, "list_channels", refuse)
    with pytest.raises(PermissionDenied):
        await scene.platform.list_channels(team)
    assert list(scene.platform.listable_workspaces) == []
    scene.slack.clock.advance(60)
    assert list(scene.platform.listable_workspaces) == [team]
