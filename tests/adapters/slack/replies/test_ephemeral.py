"""Messages that one person sees: by response URL, as ephemeral messages, or directly."""

from __future__ import annotations

import pytest

from adapters.slack.replies.ephemeral import parse_response_error
from bot.platform.models import AnswerFooter, Card
from bot.platform.ports import ReplyTarget
from tests.adapters.slack.scene import PICTURE, Scene, locate
from tests.support.slack_server import Person, Room
from tests.support.slack_server.screen import build_screen


def private_texts(person: Person, room: Room) -> list[str]:
    """What only this person sees in a channel."""
    entries = build_screen(person.slack, person.user, room.channel).all_entries()
    return [entry.text for entry in entries if entry.private]


async def test_a_private_message_is_seen_by_one_member(scene: Scene) -> None:
    ben = scene.slack.user("Ben")
    await ben.joins(scene.roof)
    await scene.platform.send_private(ReplyTarget("", locate(scene.roof), scene.ada.id), Card("for Ada"))
    assert private_texts(scene.ada, scene.roof) == ["for Ada"]
    assert private_texts(ben, scene.roof) == []


async def test_a_private_message_to_somebody_outside_is_direct(scene: Scene) -> None:
    ben = scene.slack.user("Ben")
    await scene.platform.send_private(ReplyTarget("", locate(scene.roof), ben.id), Card("for Ben"))
    assert [entry.text for entry in scene.slack.sees(ben, ben.direct).entries] == ["for Ben"]


async def test_a_private_message_in_a_direct_conversation_is_a_reply(scene: Scene) -> None:
    sent = await scene.ada.says(scene.ada.direct, "a file")
    target = ReplyTarget("", locate(scene.ada.direct), scene.ada.id, sent.ts)
    await scene.platform.send_private(target, Card("not read"))
    assert [entry.text for entry in scene.slack.replies(scene.ada, scene.ada.direct, sent.ts)] == ["not read"]


async def test_a_private_picture_is_direct(scene: Scene) -> None:
    target = ReplyTarget("", locate(scene.roof), scene.ada.id)
    await scene.platform.send_private(target, Card("the neighborhood", PICTURE))
    assert "in a direct message" in private_texts(scene.ada, scene.roof)[0]
    assert [entry.files for entry in scene.slack.sees(scene.ada, scene.ada.direct).entries] == [("graph.png",)]
    assert not any(entry.files for entry in scene.slack.sees(scene.ada, scene.roof).entries)


@pytest.mark.parametrize(
    ("is_inside", "uses"), [(False, 0), (True, 5)], ids=["by its response URL", "by other means if that is used up"]
)
async def test_a_command_is_answered_once_the_answer_is_complete(scene: Scene, uses: int, *, is_inside: bool) -> None:
    room = scene.slack.channel("elsewhere", members=[scene.ada], bot=is_inside)
    handle = scene.slack.interactions.create_response_url(room.channel, scene.ada.id)
    scene.slack.interactions.hooks[handle.rpartition("/")[2]].uses = uses
    target = ReplyTarget("a1", locate(room), scene.ada.id, private=True, handle=handle)
    reply = scene.platform.start_reply(target)
    await reply.show_status("is searching…")
    await reply.show(["The"])
    assert private_texts(scene.ada, room) == []
    await reply.finish(["The answer", "and its end"], AnswerFooter("a1", notice="private"))
    assert private_texts(scene.ada, room) == ["The answer", "and its end\nprivate"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("ok", ""),
        ('{"ok": true}', ""),
        ('{"ok": false, "error": "expired_url"}', "expired_url"),
        ("no_service", "no_service"),
        ("<html>Sorry</html>", "unreadable_answer"),
        ("", "unreadable_answer"),
        ("7", "unreadable_answer"),
    ],
)
def test_only_the_body_of_a_response_says_whether_it_was_accepted(body: str, error: str) -> None:
    assert parse_response_error(200, body) == error
    assert parse_response_error(400, body)
