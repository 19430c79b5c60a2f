from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.errors import PermissionDenied
from bot.platform.models import AnswerFooter, Button, Card, Picture
from bot.platform.ports import ReplyTarget
from tests.adapters.slack.scene import locate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.adapters.slack.scene import Scene
    from tests.support.slack_server import FakeSlack, Person, Room

PICTURE = Picture("graph.png", b"\x89PNG\r\n\x1a\n" + b"0" * 32, "a graph")


def private_texts(slack: FakeSlack, person: Person, room: Room) -> list[str]:
    return [entry.text for entry in slack.sees(person, room).all_entries() if entry.private]


# Names and links.


async def test_a_person_has_a_name_and_a_role(scene: Scene) -> None:
    ada, gus = scene.slack.user("Ada", admin=True), scene.slack.user("Gus", kind="single_channel_guest")
    found = await scene.platform.fetch_person("", ada.id)
    assert (found.name, found.is_manager, found.is_guest, found.is_bot) == ("Ada", True, False, False)
    assert (await scene.platform.fetch_person("", gus.id)).is_guest


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


async def test_user_groups_have_names_if_the_app_may_list_them(scene: Scene) -> None:
    scene.slack.fail_next("usergroups.list", "missing_scope")
    for _ in range(3):
        text = await scene.platform.to_plain_text("", "<!subteam^S1> <!subteam^S2|@devs>")
        assert text == "@group @devs"
    assert len(scene.slack.calls_to("usergroups.list")) == 1


async def test_the_current_names_of_user_groups_are_shown(scene: Scene) -> None:
    scene.slack.space.groups["S1"] = "crew"
    text = await scene.platform.to_plain_text("", "<!subteam^S1> and <!subteam^S1|@old>")
    assert text == "@crew and @crew"
    assert len(scene.slack.calls_to("usergroups.list")) == 1


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


async def test_a_card_cannot_be_posted_where_the_bot_is_not(scene: Scene) -> None:
    with pytest.raises(PermissionDenied):
        await scene.platform.post(locate(scene.slack.channel("hall", members=[scene.ada], bot=False)), Card("hello"))


# Private messages.


async def test_a_private_message_is_seen_by_one_person(scene: Scene) -> None:
    ben = scene.slack.user("Ben")
    room = scene.slack.channel("both", members=[scene.ada, ben])
    await scene.platform.send_private(ReplyTarget("", locate(room), scene.ada.id), Card("for Ada"))
    assert private_texts(scene.slack, scene.ada, room) == ["for Ada"]
    assert private_texts(scene.slack, ben, room) == []


async def test_a_private_message_to_somebody_outside_is_direct(scene: Scene) -> None:
    ben = scene.slack.user("Ben")
    await scene.platform.send_private(ReplyTarget("", locate(scene.roof), ben.id), Card("for Ben"))
    assert [entry.text for entry in scene.slack.sees(ben, ben.direct).entries] == ["for Ben"]


async def test_a_private_message_in_a_direct_conversation_is_a_reply(scene: Scene) -> None:
    sent = await scene.ada.says(scene.ada.direct, "a file")
    await scene.platform.send_private(
        ReplyTarget("", locate(scene.ada.direct), scene.ada.id, sent.ts), Card("not read")
    )
    assert [entry.text for entry in scene.slack.replies(scene.ada, scene.ada.direct, sent.ts)] == ["not read"]


async def test_a_private_picture_comes_directly(scene: Scene) -> None:
    target = ReplyTarget("", locate(scene.roof), scene.ada.id)
    await scene.platform.send_private(target, Card("the neighborhood", PICTURE))
    assert "in a direct message" in private_texts(scene.slack, scene.ada, scene.roof)[0]
    assert [entry.files for entry in scene.slack.sees(scene.ada, scene.ada.direct).entries] == [("graph.png",)]
    assert not any(entry.files for entry in scene.slack.sees(scene.ada, scene.roof).entries)


# Response URLs.


async def finish_privately(scene: Scene, room: Room, handle: str, *parts: str) -> None:
    target = ReplyTarget("a1", locate(room), scene.ada.id, private=True, handle=handle)
    reply = scene.platform.start_reply(target)
    await reply.show_status("is searching…")
    await reply.show(["The"])
    await reply.finish(list(parts), AnswerFooter("a1", notice="private"))


async def test_a_command_is_answered_once_complete_by_its_response_url_even_where_the_bot_is_not(scene: Scene) -> None:
    room = scene.slack.channel("elsewhere", members=[scene.ada], bot=False)
    handle = scene.slack.interactions.create_response_url(room.channel, scene.ada.id)
    await finish_privately(scene, room, handle, "The answer", "and its end")
    assert private_texts(scene.slack, scene.ada, room) == ["The answer", "and its end\nprivate"]


async def test_an_answer_is_not_lost_with_a_used_response_url(scene: Scene) -> None:
    handle = scene.slack.interactions.create_response_url(scene.roof.channel, scene.ada.id)
    scene.slack.interactions.hooks[handle.rpartition("/")[2]].uses = 5
    await finish_privately(scene, scene.roof, handle, "The answer")
    assert private_texts(scene.slack, scene.ada, scene.roof) == ["The answer\nprivate"]


@asynccontextmanager
async def serve_response_url(status: int, body: str) -> AsyncIterator[str]:
    """A response URL that answers with this body."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body, status=status)

    app = web.Application()
    app.router.add_post("/hook", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("/hook"))


@pytest.mark.parametrize(
    ("status", "body", "accepted"),
    [
        (200, "ok", True),
        (200, '{"ok": true}', True),
        *(
            (status, body, False)
            for status in (200, 400)
            for body in ('{"ok": false}', "no_service", "<html>", "", "7")
        ),
    ],
)
async def test_only_the_body_of_a_response_says_whether_it_was_accepted(
    scene: Scene, status: int, body: str, *, accepted: bool
) -> None:
    async with serve_response_url(status, body) as handle:
        await finish_privately(scene, scene.roof, handle, "The answer")
    assert private_texts(scene.slack, scene.ada, scene.roof) == ([] if accepted else ["The answer\nprivate"])
