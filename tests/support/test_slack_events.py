"""Which events reach an app, and how they look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.slack_server import App, FakeSlack, File, RateSettings
from tests.support.slack_server.app import EVENTS
from tests.support.slack_server.event_recorder import build_client, open_recorder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.slack_server.event_recorder import EventRecorder


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(rates=RateSettings(on=False)) as opened:
        yield opened


@pytest.fixture
async def ear(slack: FakeSlack) -> AsyncIterator[EventRecorder]:
    async with open_recorder(slack) as heard:
        yield heard


async def test_mention_sends_message_and_app_mention(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    said = await ada.mentions(roof, "who is @Ada & <who> is #roof?")
    await slack.wait_until_delivered()
    assert ear.kinds == ["message", "app_mention"]
    wire = f"<@{slack.bot.id}> who is <@{ada.id}> &amp; &lt;who&gt; is <#{roof.id}|roof>?"
    assert [(event["ts"], event["text"]) for event in ear.events] == [(said.ts, wire)] * 2
    assert len({request.payload["event_id"] for request in ear.requests}) == 2
    assert slack.sees(ada, roof).entries[0].text == "@Threadlore who is @Ada & <who> is #roof?"


async def test_a_direct_message_is_no_mention(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    await ada.mentions(ada.direct, "hello")
    await slack.wait_until_delivered()
    assert [(event["type"], event["channel_type"]) for event in ear.events] == [("message", "im")]


async def test_where_the_app_is_not_it_hears_nothing(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    await ada.mentions(slack.channel("outside", members=[ada], bot=False), "hello")
    await slack.wait_until_delivered()
    assert ear.events == []


async def test_unsubscribed_or_ungranted_events_are_not_sent() -> None:
    for app in (
        App(events=EVENTS - {"message.groups"}),
        App(scopes=frozenset({"connections:write", "channels:history", "app_mentions:read"})),
    ):
        async with FakeSlack(app) as slack, open_recorder(slack) as ear:
            ada = slack.user("Ada")
            await ada.says(slack.channel("closed", members=[ada], kind="private"), "secret")
            await ada.says(slack.channel("open", members=[ada]), "no secret")
            await slack.wait_until_delivered()
            assert [event["text"] for event in ear.events] == ["no secret"]


async def test_edit_event_has_previous_message(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    said = await ada.says(slack.channel("roof", members=[ada]), "one")
    await ada.edits(said, "two")
    await slack.wait_until_delivered()
    assert ear.kinds == ["message", "message/message_changed"]
    event = ear.events[1]
    assert (event["message"]["text"], event["previous_message"]["text"]) == ("two", "one")
    assert event["message"]["edited"]["user"] == ada.id
    assert event["hidden"]


async def test_a_preview_looks_like_an_edit_but_for_the_edit(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    await ada.says(slack.channel("roof", members=[ada]), "see https://news.example/today")
    await slack.wait_until_delivered()
    assert ear.kinds == ["message", "message/message_changed"]
    after, before = ear.events[1]["message"], ear.events[1]["previous_message"]
    assert after["text"] == before["text"] == "see <https://news.example/today>"
    assert ("edited" in after, "attachments" in after) == (False, True)


async def test_a_reply_changes_the_counters_of_its_root(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    root = await ada.says(roof, "one")
    await ada.says(roof, "two", thread=root)
    await slack.wait_until_delivered()
    assert ear.kinds == ["message", "message", "message/message_changed"]
    assert ear.events[1]["thread_ts"] == root.ts
    assert ear.events[1]["parent_user_id"] == ada.id
    assert (ear.events[2]["message"]["reply_count"], ear.events[2]["message"]["text"]) == (1, "one")


async def test_a_deleted_root_with_replies_leaves_a_tombstone(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    root = await ada.says(roof, "one")
    reply = await ada.says(roof, "two", thread=root)
    await ada.deletes(root)
    await slack.wait_until_delivered()
    assert ear.kinds[-1] == "message/message_changed"
    assert ear.events[-1]["message"]["subtype"] == "tombstone"
    history = await build_client(slack).conversations_history(channel=roof.id)
    assert [(each["subtype"], each["user"]) for each in history["messages"]] == [("tombstone", "USLACKBOT")]
    await ada.deletes(reply)
    await slack.wait_until_delivered()
    assert ear.kinds[-2:] == ["message/message_deleted"] * 2
    assert slack.sees(ada, roof).entries == ()


async def test_delete_event_has_previous_message(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    said = await ada.says(slack.channel("roof", members=[ada]), "one")
    await ada.deletes(said)
    await slack.wait_until_delivered()
    event = ear.events[-1]
    assert (event["subtype"], event["deleted_ts"], event["previous_message"]["text"]) == (
        "message_deleted", said.ts, "one",
    )  # fmt: skip


async def test_app_receives_its_own_messages(slack: FakeSlack, ear: EventRecorder) -> None:
    roof = slack.channel("roof")
    await build_client(slack).chat_postMessage(channel=roof.id, text="hello")
    await slack.wait_until_delivered()
    assert [(event["user"], event["bot_id"]) for event in ear.events] == [(slack.bot.id, slack.space.bot.bot_id)]


async def test_file_upload_sends_message_and_file_shared(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    said = await ada.says(slack.channel("roof", members=[ada]), "look", files=[File("a.txt", b"hello")])
    await ada.deletes_file(said.files[0])
    await slack.wait_until_delivered()
    assert ear.kinds == ["message/file_share", "file_shared", "file_deleted", "message/message_changed"]
    told = ear.events[0]["files"][0]
    assert (told["name"], told["size"], told["mimetype"]) == ("a.txt", 5, "text/plain")
    assert ear.events[3]["message"]["files"] == [{"id": said.files[0], "mode": "tombstone"}]


async def test_a_file_of_another_workspace_must_be_asked_for(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    said = await ada.says(
        slack.channel("both", members=[ada], shared=True), "", files=[File("a.txt", b"x", connect=True)]
    )
    await slack.wait_until_delivered()
    assert ear.requests[0].payload["is_ext_shared_channel"]
    assert ear.events[0]["files"][0]["file_access"] == "check_file_info"
    assert (await build_client(slack).files_info(file=said.files[0]))["file"]["name"] == "a.txt"


async def test_membership_events_include_the_app(slack: FakeSlack, ear: EventRecorder) -> None:
    ada, bob = slack.user("Ada"), slack.user("Bob")
    roof = slack.channel("roof", members=[ada], bot=False)
    await ada.invites(roof, slack.bot)
    await bob.joins(roof)
    await bob.leaves(roof)
    await ada.removes(roof, slack.bot)
    await ada.says(roof, "alone at last")
    await slack.wait_until_delivered()
    told = [(kind, event.get("user")) for kind, event in zip(ear.kinds, ear.events, strict=True)]
    assert told == [
        ("member_joined_channel", slack.bot.id), ("message/channel_join", slack.bot.id),
        ("member_joined_channel", bob.id), ("message/channel_join", bob.id),
        ("member_left_channel", bob.id), ("message/channel_leave", bob.id),
        ("member_left_channel", slack.bot.id), ("channel_left", None),
    ]  # fmt: skip
    assert ear.events[0]["inviter"] == ada.id


async def test_channel_lifecycle_events(slack: FakeSlack, ear: EventRecorder) -> None:
    ada, zoe = slack.user("Ada"), slack.stranger("Zoe")
    roof = slack.channel("roof", members=[ada])
    await slack.renames(roof, "attic")
    await slack.shares(roof, zoe)
    await slack.unshares(roof)
    await slack.converts(roof, ada)
    await slack.archives(roof, ada)
    await slack.deletes_channel(roof)
    await slack.wait_until_delivered()
    kinds = [kind for kind in ear.kinds if not kind.endswith(("join", "leave")) and not kind.startswith("member")]
    assert kinds == [
        "channel_rename", "channel_shared", "channel_unshared", "message/channel_convert_to_private",
        "group_archive", "group_deleted",
    ]  # fmt: skip


async def test_uninstalled_app_gets_one_last_event(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    await slack.uninstalls()
    await ada.says(roof, "hello")
    await slack.wait_until_delivered()
    assert ear.kinds == ["tokens_revoked", "app_uninstalled"]


async def test_user_change_and_app_home_events(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    await ada.becomes("guest")
    await ada.opens_app("messages")
    await slack.wait_until_delivered()
    assert ear.kinds == ["user_change", "app_home_opened"]
    assert ear.events[0]["user"]["is_restricted"]
    assert (ear.events[1]["tab"], ear.events[1]["channel"]) == ("messages", ada.direct.id)


async def test_events_of_other_apps_with_and_without_a_user(slack: FakeSlack, ear: EventRecorder) -> None:
    roof = slack.channel("roof")
    robot = slack.robot("Robot")
    roof.channel.members.append(robot.id)
    await robot.says(roof, "beep")
    await slack.webhook_says(roof, "Builds", "build failed")
    await slack.wait_until_delivered()
    assert ear.kinds == ["message", "message/bot_message"]
    assert [event.get("user") for event in ear.events] == [robot.id, None]
    assert ear.events[1]["username"] == "Builds"


async def test_a_broadcast_reply_stands_in_both_places(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    root = await ada.says(roof, "one")
    await ada.says(roof, "two", thread=root, broadcast=True)
    await slack.wait_until_delivered()
    assert ear.kinds[1] == "message/thread_broadcast"
    history = await build_client(slack).conversations_history(channel=roof.id)
    assert [message["text"] for message in history["messages"]] == ["two", "one"]


async def test_event_can_be_redelivered(slack: FakeSlack, ear: EventRecorder) -> None:
    ada = slack.user("Ada")
    await ada.mentions(slack.channel("roof", members=[ada]), "hello")
    await slack.wait_until_delivered()
    slack.redelivers("app_mention")
    await slack.wait_until_delivered()
    assert ear.kinds == ["message", "app_mention", "app_mention"]
    assert len({request.payload["event_id"] for request in ear.requests}) == 2
    assert ear.requests[2].retry_attempt == 1


async def test_the_manifest_decides_what_an_app_may_and_hears() -> None:
    app = App.from_manifest(
        {
            "display_information": {"name": "Owl"},
            "features": {"slash_commands": [{"command": "/owl"}], "app_home": {"home_tab_enabled": True}},
            "oauth_config": {"scopes": {"bot": ["chat:write"]}},
            "settings": {"event_subscriptions": {"bot_events": ["app_mention"]}},
        }
    )
    assert (app.name, set(app.scopes), set(app.commands)) == ("Owl", {"chat:write"}, {"/owl"})
    assert not app.is_subscribed("app_mention")
