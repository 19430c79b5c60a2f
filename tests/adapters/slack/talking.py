"""A question in a channel, and what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.platform.models import AnswerFooter, Button, FooterSource, Location
from bot.platform.ports import ReplyTarget

if TYPE_CHECKING:
    from bot.platform.ports import Reply
    from tests.adapters.slack.conftest import Desk
    from tests.support.slack_server import Entry, FakeSlack, Person, Room, SentMessage

CLOSING = AnswerFooter(
    "a1",
    (FooterSource(1, "#roof · 2026-05-01", "https://smallco.slack.com/archives/C1/p1", "it leaks"),),
    "Answered from what everyone in #roof can see.",
    (Button("👍", "up", "a1"), Button("👎", "down", "a1"), Button("Delete", "delete", "a1")),
)
BARE = AnswerFooter("a1")


class Talk:
    """A question in a channel, and what becomes of it."""

    def __init__(self, slack: FakeSlack, ada: Person, room: Room, said: SentMessage) -> None:
        self.slack = slack
        self.ada = ada
        self.room = room
        self.said = said

    def reply(self, desk: Desk, *, fresh: bool = True, mark: str = "", answer: str = "a1") -> Reply:
        if fresh:
            desk.platform.record_question(self.room.id, self.said.ts)
        place = Location("slack", self.slack.space.team, self.room.id, self.said.message.thread_ts)
        return desk.platform.start_reply(ReplyTarget(answer, place, self.ada.id, self.said.ts, reply_ref=mark))

    @property
    def replies(self) -> list[Entry]:
        return self.slack.replies(self.ada, self.room, self.said.root)

    @property
    def texts(self) -> list[str]:
        return [entry.text.strip() for entry in self.replies]

    @property
    def status(self) -> str:
        """What is said below the thread of what the bot is doing."""
        return next(each.status for each in self.slack.sees(self.ada, self.room).entries if each.ts == self.said.root)

    @property
    def only(self) -> Entry:
        (entry,) = self.replies
        assert not entry.writing
        assert not entry.broken
        return entry
