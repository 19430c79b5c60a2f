"""The adapter in the fake workspace, a question with the replies to it, and a bot that records events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace

import aiohttp

from adapters.slack.clients import ClientFactory
from adapters.slack.context import SlackContext, fetch_identity
from adapters.slack.platform import SlackPlatform
from adapters.slack.retries import MethodPauses, RateLimits
from adapters.slack.workspaces import build_context
from bot.platform.models import AnswerFooter, Button, FooterSource, Location, Picture
from bot.platform.ports import Reply, ReplyTarget
from bot.settings import Settings
from tests.support.slack_server import Entry, FakeSlack, Person, Room, SentMessage
from tests.support.slack_server.workspace import TEAM

LINK = "https://smallco.slack.com/archives/C1/p1"
FOOTER = AnswerFooter(
    "a1",
    (FooterSource(1, "#roof · 2026-05-01", LINK, "it leaks"),),
    "Answered from what everyone in #roof can see.",
    (Button("👍", "up", "a1"), Button("👎", "down", "a1"), Button("Delete", "delete", "a1")),
)
BARE = AnswerFooter("a1")
PICTURE = Picture("graph.png", b"\x89PNG\r\n\x1a\n" + b"0" * 32, "a graph")


def locate(room: Room, thread: str = "") -> Location:
    return Location("slack", TEAM, room.id, thread)


def settings_for(slack: FakeSlack, **changes: str) -> Settings:
    app = slack.space.app
    own = {"slack_bot_token": app.bot_token, "slack_app_token": app.app_token, "slack_api_base": slack.base_url}
    return Settings.model_validate({"adapter_settings": {**own, **changes}})


@dataclass(frozen=True)
class Scene:
    """A run of the adapter without its socket, by the clock of the workspace, and Ada in #roof."""

    slack: FakeSlack
    ada: Person
    roof: Room
    platform: SlackPlatform
    context: SlackContext

    def restart(self) -> AbstractAsyncContextManager[Scene]:
        """Another run, which remembers nothing of this one."""
        return open_scene(self.slack, self.ada, self.roof)


@asynccontextmanager
async def open_scene(slack: FakeSlack, ada: Person, roof: Room) -> AsyncIterator[Scene]:
    settings = settings_for(slack)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
        pauses = MethodPauses(TEAM, None, slack.clock)
        clients = ClientFactory(session, slack.base_url).build_set(slack.space.app.bot_token, pauses)
        identity = await fetch_identity(clients.idempotent)
        context = build_context(clients, identity, RateLimits(slack.clock, sleep=slack.clock.sleep))
        platform = SlackPlatform(context, settings.membership_cache_seconds)
        yield Scene(slack, ada, roof, platform, context)
        for task in list(context.tasks):
            task.cancel()


class Question:
    """A question in a channel, and the replies to it."""

    def __init__(self, scene: Scene, asker: Person, sent: SentMessage) -> None:
        self.scene = scene
        self.slack = scene.slack
        self.asker = asker
        self.room = sent.room
        self.sent = sent

    def reply(self, again: Scene | None = None, *, ref: str = "", answer: str = "a1", stop: bool = False) -> Reply:
        """A reply in the run in which the question arrived, or in a later one."""
        place = locate(self.room, self.sent.message.thread_ts)
        buttons = (Button("Stop", "stop", answer),) if stop else ()
        target = ReplyTarget(answer, place, self.asker.id, self.sent.ts, reply_ref=ref, progress_buttons=buttons)
        target = replace(target, is_new=again is None)
        return (again or self.scene).platform.start_reply(target)

    @property
    def replies(self) -> list[Entry]:
        return self.slack.replies(self.asker, self.room, self.sent.root)

    @property
    def texts(self) -> list[str]:
        return [entry.text.strip() for entry in self.replies]

    @property
    def root(self) -> Entry:
        return next(entry for entry in self.slack.sees(self.asker, self.room).entries if entry.ts == self.sent.root)

    @property
    def only(self) -> Entry:
        """The only reply, which is complete."""
        (entry,) = self.replies
        assert not entry.writing
        assert not entry.broken
        return entry
