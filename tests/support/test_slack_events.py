"""Which events reach an app, and how they look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.slack_server import App, FakeSlack, File, Rates
from tests.support.slack_server.app import EVENTS
from tests.support.slack_server.event_recorder import client_of, listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.slack_server.event_recorder import Ear


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(rates=Rates(on=False)) as opened:
        yield opened


@pytest.fixture
async def ear(slack: FakeSlack) -> AsyncIterator[Ear]:
    async with listening(slack) as heard:
        yield heard


async def test_a_mention_is_told_twice(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    said = await ada.mentions(roof, "who is @Ada & <who> is #roof?")
    await slack.delivered()
    assert ear.kinds == ["message", "app_mention"]
    wire = f"<@{slack.bot.id}> who is <@{ada.id}> &amp; &lt;who&gt; is <#{roof.id}|roof>?"
    assert [(event["ts"], event["text"]) for event in ear.events] == [(said.ts, wire)] * 2
    assert len({request.payload["event_id"] for request in ear.heard}) == 2
    assert slack.sees(ada, roof).entries[0].text == "@Threadlore who is @Ada & <who> is #roof?"


async def test_a_direct_message_is_no_mention(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    await ada.mentions(ada.direct, "hello")
    await slack.delivered()
    assert [(event["type"], event["channel_type"]) for event in ear.events] == [("message", "im")]


async def test_where_the_app_is_not_it_hears_nothing(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    await ada.mentions(slack.channel("outside", members=[ada], bot=False), "hello")
    await slack.delivered()
    assert ear.events == []


async def test_what_is_not_subscribed_or_not_granted_is_not_told() -> None:
    for app in (
        App(events=EVENTS - {"message.groups"}),
        App(scopes=frozenset({"connections:write", "channels:history", "app_mentions:read"})),
    ):
        async with FakeSlack(app) as slack, listening(slack) as ear:
            ada = slack.user("Ada")
            await ada.says(slack.channel("closed", members=[ada], kind="private"), "secret")
            await ada.says(slack.channel("open", members=[ada]), "no secret")
            await slack.delivered()
            assert [event["text"] for event in ear.events] == ["no secret"]


async def test_an_edit_says_what_was_there_before(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    said = await ada.says(slack.channel("roof", members=[ada]), "one")
    await ada.edits(said, "two")
    await slack.delivered()
    assert ear.kinds == ["message", "message/message_changed"]
    event = ear.events[1]
    assert (event["message"]["text"], event["previous_message"]["text"]) == ("two", "one")
    assert event["message"]["edited"]["user"] == ada.id
    assert event["hidden"]


async def test_a_preview_looks_like_an_edit_but_for_the_edit(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    await ada.says(slack.channel("roof", members=[ada]), "see https://news.example/today")
    await slack.delivered()
    assert ear.kinds == ["message", "message/message_changed"]
    after, before = ear.events[1]["message"], ear.events[1]["previous_message"]
    assert after["text"] == before["text"] == "see <https://news.example/today>"
    assert ("edited" in after, "attachments" in after) == (False, True)


async def test_a_reply_changes_the_counters_of_its_root(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    root = await ada.says(roof, "one")
    await ada.says(roof, "two", thread=root)
    await slack.delivered()
    assert ear.kinds == ["message", "message", "message/message_changed"]
    assert ear.events[1]["thread_ts"] == root.ts
    assert ear.events[1]["parent_user_id"] == ada.id
    assert (ear.events[2]["message"]["reply_count"], ear.events[2]["message"]["text"]) == (1, "one")


async def test_a_deleted_root_with_replies_leaves_a_tombstone(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    root = await ada.says(roof, "one")
    reply = await ada.says(roof, "two", thread=root)
    await ada.deletes(root)
    await slack.delivered()
    assert ear.kinds[-1] == "message/message_changed"
    assert ear.events[-1]["message"]["subtype"] == "tombstone"
    history = await client_of(slack).conversations_history(channel=roof.id)
    assert [(each["subtype"], each["user"]) for each in history["messages"]] == [("tombstone", "USLACKBOT")]
    await ada.deletes(reply)
    await slack.delivered()
    assert ear.kinds[-2:] == ["message/message_deleted"] * 2
    assert slack.sees(ada, roof).entries == ()


async def test_a_deleted_message_is_told_with_what_it_said(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    said = await ada.says(slack.channel("roof", members=[ada]), "one")
    await ada.deletes(said)
    await slack.delivered()
    event = ear.events[-1]
    assert (event["subtype"], event["deleted_ts"], event["previous_message"]["text"]) == (
        "message_deleted", said.ts, "one",
    )  # fmt: skip


async def test_the_app_hears_itself_as_well(slack: FakeSlack, ear: Ear) -> None:
    roof = slack.channel("roof")
    await client_of(slack).chat_postMessage(channel=roof.id, text="hello")
    await slack.delivered()
    assert [(event["user"], event["bot_id"]) for event in ear.events] == [(slack.bot.id, slack.space.bot.bot_id)]


async def test_a_file_is_told_with_its_message_and_by_itself(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    said = await ada.says(slack.channel("roof", members=[ada]), "look", files=[File("a.txt", b"hello")])
    await ada.deletes_file(said.files[0])
    await slack.delivered()
    assert ear.kinds == ["message/file_share", "file_shared", "file_deleted", "message/message_changed"]
    told = ear.events[0]["files"][0]
    assert (told["name"], told["size"], told["mimetype"]) == ("a.txt", 5, "text/plain")
    assert ear.events[3]["message"]["files"] == [{"id": said.files[0], "mode": "tombstone"}]


async def test_a_file_of_another_workspace_must_be_asked_for(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    said = await ada.says(
        slack.channel("both", members=[ada], shared=True), "", files=[File("a.txt", b"x", connect=True)]
    )
    await slack.delivered()
    assert ear.heard[0].payload["is_ext_shared_channel"]
    assert ear.events[0]["files"][0]["file_access"] == "check_file_info"
    assert (await client_of(slack).files_info(file=said.files[0]))["file"]["name"] == "a.txt"


async def test_comings_and_goings_are_told_of_the_app_too(slack: FakeSlack, ear: Ear) -> None:
    ada, bob = slack.user("Ada"), slack.user("Bob")
    roof = slack.channel("roof", members=[ada], bot=False)
    await ada.invites(roof, slack.bot)
    await bob.joins(roof)
    await bob.leaves(roof)
    await ada.removes(roof, slack.bot)
    await ada.says(roof, "alone at last")
    await slack.delivered()
    told = [(kind, event.get("user")) for kind, event in zip(ear.kinds, ear.events, strict=True)]
    assert told == [
        ("member_joined_channel", slack.bot.id), ("message/channel_join", slack.bot.id),
        ("member_joined_channel", bob.id), ("message/channel_join", bob.id),
        ("member_left_channel", bob.id), ("message/channel_leave", bob.id),
        ("member_left_channel", slack.bot.id), ("channel_left", None),
    ]  # fmt: skip
    assert ear.events[0]["inviter"] == ada.id


async def test_the_life_of_channels_is_told(slack: FakeSlack, ear: Ear) -> None:
    ada, zoe = slack.user("Ada"), slack.stranger("Zoe")
    roof = slack.channel("roof", members=[ada])
    await slack.renames(roof, "attic")
    await slack.shares(roof, zoe)
    await slack.unshares(roof)
    await slack.converts(roof, ada)
    await slack.archives(roof, ada)
    await slack.deletes_channel(roof)
    await slack.delivered()
    kinds = [kind for kind in ear.kinds if not kind.endswith(("join", "leave")) and not kind.startswith("member")]
    assert kinds == [
        "channel_rename", "channel_shared", "channel_unshared", "message/channel_convert_to_private",
        "group_archive", "group_deleted",
    ]  # fmt: skip


async def test_an_uninstalled_app_hears_so_and_nothing_more(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    await slack.uninstalls()
    await ada.says(roof, "hello")
    await slack.delivered()
    assert ear.kinds == ["tokens_revoked", "app_uninstalled"]


async def test_people_change_and_look_at_the_app(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    await ada.becomes("guest")
    await ada.opens_app("messages")
    await slack.delivered()
    assert ear.kinds == ["user_change", "app_home_opened"]
    assert ear.events[0]["user"]["is_restricted"]
    assert (ear.events[1]["tab"], ear.events[1]["channel"]) == ("messages", ada.direct.id)


async def test_other_apps_are_heard_with_and_without_a_user(slack: FakeSlack, ear: Ear) -> None:
    roof = slack.channel("roof")
    robot = slack.robot("Robot")
    roof.channel.members.append(robot.id)
    await robot.says(roof, "beep")
    await slack.webhook_says(roof, "Builds", "build failed")
    await slack.delivered()
    assert ear.kinds == ["message", "message/bot_message"]
    assert [event.get("user") for event in ear.events] == [robot.id, None]
    assert ear.events[1]["username"] == "Builds"


async def test_a_broadcast_reply_stands_in_both_places(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    root = await ada.says(roof, "one")
    await ada.says(roof, "two", thread=root, broadcast=True)
    await slack.delivered()
    assert ear.kinds[1] == "message/thread_broadcast"
    history = await client_of(slack).conversations_history(channel=roof.id)
    assert [message["text"] for message in history["messages"]] == ["two", "one"]


async def test_an_event_can_be_told_again(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    await ada.mentions(slack.channel("roof", members=[ada]), "hello")
    await slack.delivered()
    slack.again("app_mention")
    await slack.delivered()
    assert ear.kinds == ["message", "app_mention", "app_mention"]
    assert len({request.payload["event_id"] for request in ear.heard}) == 2
    assert ear.heard[2].retry_attempt == 1


async def test_the_manifest_decides_what_an_app_may_and_hears() -> None:
    app = App.of(
        {
            "display_information": {"name": "Owl"},
            "features": {"slash_commands": [{"command": "/owl"}], "app_home": {"home_tab_enabled": True}},
            "oauth_config": {"scopes": {"bot": ["chat:write"]}},
            "settings": {"event_subscriptions": {"bot_events": ["app_mention"]}},
        }
    )
    assert (app.name, set(app.scopes), set(app.commands)) == ("Owl", {"chat:write"}, {"/owl"})
    assert not app.hears("app_mention")
