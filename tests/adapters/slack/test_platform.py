from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.errors import PermissionDenied, PlatformError
from bot.platform.models import AnswerFooter, Button, Card, Location, Picture
from bot.platform.ports import ReplyTarget

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp.typedefs import Handler

    from tests.adapters.slack.conftest import Desk
    from tests.support.slack_server import FakeSlack, Person, Room

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 32


def place(slack: FakeSlack, room: Room, thread: str = "") -> Location:
    return Location("slack", slack.space.team, room.id, thread)


# Facts.


async def test_a_public_channel_is_open_and_its_members_are_known(desk: Desk, slack: FakeSlack) -> None:
    ada, ben = slack.user("Ada"), slack.user("Ben", kind="guest")
    found = await desk.platform.fetch_channel(place(slack, slack.channel("roof", members=[ada, ben])))
    assert (found.kind, found.name, found.shared) == ("open", "roof", False)
    assert found.members == {ada.id, ben.id}
    assert found.guests == {ben.id}


@pytest.mark.parametrize(("kind", "said"), [("private", "closed"), ("mpim", "closed")])
async def test_private_channels_and_group_conversations_are_closed(
    desk: Desk, slack: FakeSlack, kind: str, said: str
) -> None:
    ada = slack.user("Ada")
    found = await desk.platform.fetch_channel(place(slack, slack.channel("x", members=[ada], kind=kind)))  # type: ignore[arg-type]
    assert found.kind == said
    assert found.members == {ada.id}


async def test_a_direct_conversation_is_one_persons(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    found = await desk.platform.fetch_channel(place(slack, ada.direct))
    assert found.kind == "direct"
    assert found.members == {ada.id}


async def test_people_of_other_workspaces_are_guests_of_a_shared_channel(desk: Desk, slack: FakeSlack) -> None:
    ada, eve = slack.user("Ada"), slack.stranger("Eve")
    found = await desk.platform.fetch_channel(place(slack, slack.channel("deal", members=[ada, eve], shared=True)))
    assert found.shared
    assert found.guests == {eve.id}


async def test_programs_and_the_deactivated_read_nothing(desk: Desk, slack: FakeSlack) -> None:
    ada, gone, robot = slack.user("Ada"), slack.user("Gone"), slack.robot("Clock")
    await gone.becomes("deactivated")
    found = await desk.platform.fetch_channel(place(slack, slack.channel("roof", members=[ada, gone, robot])))
    assert found.members == {ada.id}


async def test_all_pages_of_members_are_read(slack: FakeSlack, desk: Desk) -> None:
    slack.page = 10
    people = [slack.user(f"P{number}") for number in range(35)]
    found = await desk.platform.fetch_channel(place(slack, slack.channel("all", members=people)))
    assert found.members == {person.id for person in people}
    assert len(slack.calls_to("users.info")) == 0  # one list spares 35 questions


async def test_who_cannot_be_looked_up_counts_as_a_guest(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    slack.fail_next("users.info", "user_not_found")
    assert (await desk.platform.fetch_channel(place(slack, room))).guests == {ada.id}


async def test_a_channel_whose_members_cannot_be_known_is_not_known(desk: Desk, slack: FakeSlack) -> None:
    room = slack.channel("roof", members=[slack.user("Ada")])
    slack.fail_next("conversations.members", "internal_error")
    with pytest.raises(PlatformError):
        await desk.platform.fetch_channel(place(slack, room))


async def test_somebody_is_known_by_name_and_standing(desk: Desk, slack: FakeSlack) -> None:
    ada, ben = slack.user("Ada", admin=True), slack.user("Ben", kind="single_channel_guest")
    found = await desk.platform.fetch_person("", ada.id)
    assert (found.name, found.is_manager, found.is_guest, found.is_bot) == ("Ada", True, False, False)
    assert (await desk.platform.fetch_person("", ben.id)).is_guest


async def test_texts_are_read_with_names(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    roof, secret = slack.channel("roof", members=[ada]), slack.channel("merger", members=[ada], kind="private")
    text = f"<@{ada.id}> in <#{roof.id}> and <#{secret.id}|merger> &amp; <https://x.org|here>"
    assert await desk.platform.to_plain_text("", text) == "@Ada in #roof and #private-channel & here (https://x.org)"


async def test_a_channel_is_asked_for_its_name_once_until_it_changes(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    hidden = slack.channel("merger", members=[ada], kind="private", bot=False)
    text = f"<#{roof.id}|roof> <#{hidden.id}|merger>"
    for _ in range(3):
        assert await desk.platform.to_plain_text("", text) == "#roof #private-channel"
    assert len(slack.calls_to("conversations.info")) == 2
    roof.channel.kind = "private"
    desk.platform.invalidate_channel(roof.id)
    assert await desk.platform.to_plain_text("", text) == "#private-channel #private-channel"
    assert len(slack.calls_to("conversations.info")) == 3


async def test_links_are_those_that_slack_gives(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    root = await ada.says(room, "root")
    reply = await ada.says(room, "reply", thread=root)
    for said, where in ((root, place(slack, room)), (reply, place(slack, room, root.ts))):
        told = await desk.study.idempotent_client.chat_getPermalink(channel=room.id, message_ts=said.ts)
        assert desk.platform.message_link(where, said.ts) == told["permalink"]


# Saying.


async def test_a_sign_takes_the_place_of_the_one_before(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    said = await ada.says(room, "a file")
    await desk.platform.set_reaction(place(slack, room), said.ts, "working")
    assert slack.sees(ada, room).entries[0].reactions == (("hourglass_flowing_sand", 1),)
    await desk.platform.set_reaction(place(slack, room), said.ts, "done")
    assert slack.sees(ada, room).entries[0].reactions == (("white_check_mark", 1),)
    await desk.platform.set_reaction(place(slack, room), said.ts, None)
    assert slack.sees(ada, room).entries[0].reactions == ()


async def test_a_sign_that_cannot_be_set_is_left_out(desk: Desk, slack: FakeSlack) -> None:
    room = slack.channel("roof", members=[slack.user("Ada")])
    await desk.platform.set_reaction(place(slack, room), "1.2", "done")


async def test_a_card_is_posted_with_its_buttons_and_picture(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    card = Card("I read **here** now. <!channel>", Picture("graph.png", PNG, "a graph"), (Button("Stop", "stop", "C"),))
    ts = await desk.platform.post(place(slack, room), card)
    first, second = slack.sees(ada, room).entries
    assert first.ts == ts
    assert first.buttons == ("Stop",)
    assert second.files == ("graph.png",)
    assert not slack.space.pings


async def test_what_is_posted_where_the_bot_is_not_is_withheld(desk: Desk, slack: FakeSlack) -> None:
    room = slack.channel("roof", members=[slack.user("Ada")], bot=False)
    with pytest.raises(PermissionDenied):
        await desk.platform.post(place(slack, room), Card("hello"))


def whispered(slack: FakeSlack, person: Person, room: Room) -> list[str]:
    return [entry.text for entry in slack.sees(person, room).all_entries() if entry.private]


async def test_a_whisper_is_seen_by_one_person_alone(desk: Desk, slack: FakeSlack) -> None:
    ada, ben = slack.user("Ada"), slack.user("Ben")
    room = slack.channel("roof", members=[ada, ben])
    await desk.platform.send_private(ReplyTarget("", place(slack, room), ada.id), Card("for Ada"))
    assert whispered(slack, ada, room) == ["for Ada"]
    assert whispered(slack, ben, room) == []


async def test_a_whisper_to_somebody_who_is_not_there_comes_directly(desk: Desk, slack: FakeSlack) -> None:
    ada, ben = slack.user("Ada"), slack.user("Ben")
    room = slack.channel("roof", members=[ben])
    await desk.platform.send_private(ReplyTarget("", place(slack, room), ada.id), Card("for Ada"))
    assert [entry.text for entry in slack.sees(ada, ada.direct).entries] == ["for Ada"]


async def test_a_whisper_in_a_direct_conversation_is_a_message(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    said = await ada.says(ada.direct, "a file")
    await desk.platform.send_private(ReplyTarget("", place(slack, ada.direct), ada.id, said.ts), Card("not read"))
    assert [entry.text for entry in slack.replies(ada, ada.direct, said.ts)] == ["not read"]


async def test_the_picture_of_a_whisper_comes_directly(desk: Desk, slack: FakeSlack) -> None:
    ada, ben = slack.user("Ada"), slack.user("Ben")
    room = slack.channel("roof", members=[ada, ben])
    card = Card("the neighbourhood", Picture("graph.png", PNG, "a graph"))
    await desk.platform.send_private(ReplyTarget("", place(slack, room), ada.id), card)
    assert "in a direct message" in whispered(slack, ada, room)[0]
    assert [entry.files for entry in slack.sees(ada, ada.direct).entries] == [("graph.png",)]
    assert "graph.png" not in str(slack.sees(ben, room))


async def test_a_command_is_answered_to_its_response_address_even_where_the_bot_is_not(
    desk: Desk, slack: FakeSlack
) -> None:
    ada = slack.user("Ada")
    room = slack.channel("elsewhere", members=[ada], bot=False)
    handle = slack.interactions.create_response_url(room.channel, ada.id)
    target = ReplyTarget("a1", place(slack, room), ada.id, private=True, handle=handle)
    reply = desk.platform.start_reply(target)
    await reply.show_status("is searching…")
    await reply.show_status("searching more…")
    await reply.show(["The"])
    await reply.finish(["The answer", "and its end"], AnswerFooter("a1", notice="private"))
    assert whispered(slack, ada, room)[0] == "The answer"
    assert "and its end" in whispered(slack, ada, room)[1]
    assert len(whispered(slack, ada, room)) == 2


async def test_a_response_address_that_is_used_up_does_not_swallow_the_answer(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    handle = slack.interactions.create_response_url(room.channel, ada.id)
    slack.interactions.hooks[handle.rpartition("/")[2]].uses = 5
    target = ReplyTarget("a1", place(slack, room), ada.id, private=True, handle=handle)
    await desk.platform.start_reply(target).finish(["The answer"], AnswerFooter("a1"))
    assert whispered(slack, ada, room) == ["The answer"]


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("body", ['{"ok": false, "error": "expired_url"}', "no_service", "<html>Sorry</html>", ""])
async def test_a_response_address_is_judged_by_what_it_says(
    desk: Desk, slack: FakeSlack, status: int, body: str
) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body, status=status)

    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    async with served(answer) as address:
        target = ReplyTarget("a1", place(slack, room), ada.id, private=True, handle=address)
        await desk.platform.start_reply(target).finish(["The answer"], AnswerFooter("a1"))
    assert whispered(slack, ada, room) == ["The answer"]


@pytest.mark.parametrize("body", ["ok", '{"ok": true}'])
async def test_one_that_says_ok_has_taken_it(desk: Desk, slack: FakeSlack, body: str) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body)

    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    async with served(answer) as address:
        target = ReplyTarget("a1", place(slack, room), ada.id, private=True, handle=address)
        await desk.platform.start_reply(target).finish(["The answer"], AnswerFooter("a1"))
    assert whispered(slack, ada, room) == []


@asynccontextmanager
async def served(answer: Handler) -> AsyncIterator[str]:
    """The address of a server that answers like this."""
    app = web.Application()
    app.router.add_post("/hook", answer)
    server = TestServer(app)
    async with server:
        yield str(server.make_url("/hook"))


async def test_user_groups_are_read_by_their_names(desk: Desk, slack: FakeSlack) -> None:
    slack.space.groups["S1"] = "crew"
    assert await desk.platform.to_plain_text("", "<!subteam^S1> and <!subteam^S1|@old>") == "@crew and @crew"
    assert len(slack.calls_to("usergroups.list")) == 1


async def test_without_the_scope_for_it_a_user_group_is_a_group(desk: Desk, slack: FakeSlack) -> None:
    slack.fail_next("usergroups.list", "missing_scope", times=9)
    for _ in range(3):
        assert await desk.platform.to_plain_text("", "<!subteam^S1> <!subteam^S2|@devs>") == "@group @devs"
    assert len(slack.calls_to("usergroups.list")) == 1
