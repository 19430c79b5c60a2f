"""Which events the fake Slack sends, and until when."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from tests.support.slack_scene import Scene, open_scene
from tests.support.slack_server import App, FakeSlack, File, Timing


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with open_scene() as opened:
        yield opened


EVENTS: dict[str, tuple[Any, list[str]]] = {
    "a mention": (lambda s: s.ada.mentions(s.roof, "hi"), ["message", "app_mention"]),
    "a mention in private": (lambda s: s.ada.mentions(s.ada.direct, "hi"), ["message"]),
    "a message where the app is not": (lambda s: s.ada.mentions(s.outside, "hi"), []),
    "an own message": (lambda s: s.call("chat.postMessage", channel="ROOF", text="x"), ["message"]),
    "a link": (lambda s: s.ada.says(s.roof, "https://news.example"), ["message", "message/message_changed"]),
    "a reply": (lambda s: s.ada.says(s.roof, "x", thread=s.root), ["message", "message/message_changed"]),
    "a webhook": (lambda s: s.slack.webhook_says(s.roof, "Builds", "failed"), ["message/bot_message"]),
    "a file": (lambda s: s.ada.says(s.roof, "", files=[File("b.txt", b"x")]), ["message/file_share"]),
    "an edit": (lambda s: s.ada.edits(s.single, "x"), ["message/message_changed"]),
    "a deletion": (lambda s: s.ada.deletes(s.single), ["message/message_deleted"]),
    "a deleted root": (lambda s: s.ada.deletes(s.root), ["message/message_changed"]),
    "a deleted reply": (lambda s: s.ada.deletes(s.reply), ["message/message_deleted", "message/message_changed"]),
    "a deleted file": (lambda s: s.ada.deletes_file(s.single.files[0]), ["file_deleted", "message/message_changed"]),
    "the app comes": (
        lambda s: s.ada.invites(s.outside, s.slack.bot), ["member_joined_channel", "message/channel_join"],
    ),
    "the app is removed": (lambda s: s.ada.removes(s.roof, s.slack.bot), ["member_left_channel", "channel_left"]),
    "a person leaves": (lambda s: s.bob.leaves(s.roof), ["member_left_channel", "message/channel_leave"]),
    "the end of a channel": (lambda s: s.slack.deletes_channel(s.outside), ["channel_deleted"]),
    "an archived channel": (lambda s: s.slack.archives(s.roof, s.ada), ["channel_archive"]),
    "a channel made private": (lambda s: s.slack.converts(s.roof, s.ada), ["message/channel_convert_to_private"]),
    "a shared channel": (
        lambda s: s.slack.shares(s.roof, s.eve), ["channel_shared", "member_joined_channel", "message/channel_join"],
    ),
    "a former member": (lambda s: s.bob.becomes("guest"), ["user_change"]),
    "a look at the app": (lambda s: s.ada.opens_app("messages"), ["app_home_opened"]),
    "the end of the app": (lambda s: s.slack.uninstalls(), ["tokens_revoked", "app_uninstalled"]),
}  # fmt: skip


@pytest.mark.parametrize(("act", "kinds"), EVENTS.values(), ids=EVENTS)
async def test_events_of_what_happens(
    scene: Scene, act: Callable[[Scene], Awaitable[object]], kinds: list[str]
) -> None:
    before = len(scene.slack.socket.deliveries)
    await act(scene)
    events = [each.payload["event"] for each in scene.slack.socket.deliveries[before:]]
    assert ["/".join(filter(None, (each["type"], each.get("subtype")))) for each in events] == kinds


async def test_what_events_say_about_a_changed_message(scene: Scene) -> None:
    await scene.ada.edits(scene.single, "edited")
    await scene.ada.deletes_file(scene.single.files[0])
    await scene.ada.deletes(scene.root)
    event, _, without_file, tombstone = [each.payload["event"] for each in scene.slack.socket.deliveries[-4:]]
    assert (event["message"]["text"], event["previous_message"]["text"]) == ("edited", "single")
    assert event["message"]["edited"]["user"] == scene.ada.id
    assert without_file["message"]["files"] == [{"id": scene.single.files[0], "mode": "tombstone"}]
    assert (tombstone["message"]["subtype"], tombstone["message"]["reply_count"]) == ("tombstone", 3)


async def test_events_need_a_subscription_and_a_scope() -> None:
    shipped = App.from_manifest()
    without_event = replace(shipped, events=shipped.events - {"message.groups"})
    without_scope = replace(shipped, scopes=shipped.scopes - {"groups:history"})
    for app in (without_event, without_scope):
        async with FakeSlack(app) as slack:
            ada = slack.user("Ada")
            await ada.says(slack.channel("closed", members=[ada], kind="private"), "secret")
            assert not slack.socket.deliveries


async def test_an_event_that_is_not_acknowledged_comes_again_until_it_is_lost() -> None:
    async with FakeSlack(timing=Timing(ack=0.1, retries=(0, 0.1))) as slack, aiohttp.ClientSession() as session:
        ada, url = slack.user("Ada"), slack.socket_url(slack.socket.ticket())
        roof = slack.channel("roof", members=[ada])
        await ada.says(roof, "lost")
        await slack.wait_until_delivered()
        assert slack.socket.deliveries[0].lost == "connection_failed"
        async with session.ws_connect(url) as ws:
            assert (await ws.receive_json())["type"] == "hello"
            await ada.says(roof, "kept")
            first, second = await ws.receive_json(), await ws.receive_json()
            await ws.send_json({"envelope_id": second["envelope_id"]})
            await slack.wait_until_delivered()
        assert first["payload"] == second["payload"]
        assert (first["retry_attempt"], second["retry_attempt"], second["retry_reason"]) == (0, 1, "timeout")
        with pytest.raises(aiohttp.WSServerHandshakeError):  # a ticket is good for one connection
            await session.ws_connect(url)


async def test_a_command_that_is_not_acknowledged_shows_a_failure() -> None:
    async with FakeSlack(timing=Timing(ack=0.05)) as slack:
        ada = slack.user("Ada")
        roof = slack.channel("roof", members=[ada])
        await ada.slash(roof, "status")
        assert "dispatch_failed" in slack.sees(ada, roof)
