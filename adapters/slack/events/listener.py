"""Slack's envelopes → the bot. An envelope is acknowledged once the bot has it for good, and never before."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from adapters.slack.api.errors import TROUBLE, code
from adapters.slack.events import commands as calling
from adapters.slack.events import translate
from adapters.slack.identity import NAME
from adapters.slack.replies.blocks import home
from bot.platform.events import Changed, Gone, Heard
from bot.platform.models import Place
from engine.errors import EngineError
from engine.scheduling.tasks import end

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping

    from slack_bolt.async_app import AsyncAck, AsyncBoltRequest
    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.context import Study
    from adapters.slack.events.translate import Told
    from adapters.slack.platform import SlackPlatform
    from bot.bot import Bot

log = structlog.get_logger(__name__)

ANY = re.compile(".*")
SAID = frozenset({"app_mention", "message"})  # without one of these, nothing is believed that is not so
RETRY = "x-slack-retry-num"
PROMPTS = (
    {"title": "What was decided lately?", "message": "What was decided lately?"},
    {"title": "Which questions are open?", "message": "Which questions are open?"},
    {"title": "What happened this week?", "message": "What happened this week?"},
    {"title": "What can you do?", "message": "help"},
)


class Listener:
    """Hears everything that Slack says. `commands` are the names of the bot's commands."""

    def __init__(self, bot: Bot, platform: SlackPlatform, study: Study, commands: Collection[str]) -> None:
        self._bot = bot
        self._platform = platform
        self._study = study
        self._commands = commands
        self._tasks: set[asyncio.Task[None]] = set()

    def app(self, client: AsyncWebClient) -> AsyncApp:
        """The app with all its listeners."""
        app = AsyncApp(
            client=client,
            logger=client.logger,
            authorize=authorized(self._study),
            process_before_response=True,
            attaching_conversation_kwargs_enabled=False,
        )
        app.event(ANY)(self.event)
        app.command(ANY)(self.command)
        app.action(ANY)(self.action)
        return app

    async def event(self, body: dict[str, Any], request: AsyncBoltRequest) -> None:
        """An event of the Events API."""
        self._bot.alive(NAME)
        event = body.get("event") or {}
        try:
            told = translate.told(body, self._study.us)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            self._not_parsed(str(event.get("type")), error)
            return
        noted = NOTES.get(str(event.get("type")))
        if noted is not None:
            await noted(self, event)
        if told is not None:
            await self._hear(told, first=set(request.headers.get(RETRY) or ()) <= {"0"})

    def _not_parsed(self, kind: str, error: Exception) -> None:
        """An event makes no sense, nor will it if it is sent again. What it may have told of channels is looked for."""
        log.error("event_not_parsed", kind=kind, error=type(error).__name__)
        if kind not in SAID:
            self.missed()

    async def command(self, body: dict[str, Any], ack: AsyncAck) -> None:
        """A slash command."""
        self._bot.alive(NAME)
        await self._hear(calling.command(body, self._study.us, self._commands, datetime.now(UTC)), first=True)
        await ack()

    async def action(self, body: dict[str, Any], ack: AsyncAck) -> None:
        """A button."""
        self._bot.alive(NAME)
        told = calling.click(body, self._study.us)
        if told is not None:
            await self._hear(told, first=True)
        await ack()

    async def _hear(self, told: Told, *, first: bool) -> None:
        """Give it to the bot. `first`: it was not sent before."""
        happening = told.happening
        if isinstance(happening, Changed | Gone):
            self._platform.changed(happening.place.channel)
        if not (first and isinstance(happening, Heard)):
            await self._bot.hear(happening, *told.keys)
            return
        question = happening.message.place.channel, happening.message.id
        new = self._platform.heard(*question)
        if not await self._bot.hear(happening, *told.keys) and new:
            self._platform.known(*question)

    # What is no happening.

    async def person(self, event: Mapping[str, Any]) -> None:
        """Somebody came or changed; if they may read more or less than before, that concerns all channels."""
        if self._study.people.note(event.get("user") or {}):
            stamp = event.get("event_ts") or event.get("cache_ts") or datetime.now(UTC).timestamp()
            key = f"{NAME}:person:{(event.get('user') or {}).get('id')}:{stamp}"
            await self._bot.hear(Changed(Place(NAME, self._study.us.team, ""), members_only=True), key)

    async def opened(self, event: Mapping[str, Any]) -> None:
        """Somebody looks at the app: at its home, or at the conversation with it."""
        if event.get("tab") == "messages":
            self._later(self._prompt(str(event.get("channel") or "")))
        elif event.get("tab", "home") == "home":
            self._later(self._show_home(str(event.get("user") or "")))

    async def limited(self, _event: Mapping[str, Any]) -> None:
        """Slack drops events for a while: there are too many."""
        log.warning("events_held_back", hint="Slack sends 30,000 an hour at most.")

    async def _prompt(self, channel: str) -> None:
        await self._study.reader.assistant_threads_setSuggestedPrompts(channel_id=channel, prompts=list(PROMPTS))

    async def _show_home(self, person: str) -> None:
        card = await self._bot.home(NAME, self._study.us.team, person)
        await self._study.reader.views_publish(user_id=person, view=dict(home(card)))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something after the acknowledgement; it is a courtesy, so a failure is only noted."""
        task = self._bot.supervisor.spawn("slack background call", _courtesy(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def missed(self) -> None:
        """Events may have been lost: let the bot look for them, and get to know people anew."""
        log.info("connected", workspace=self._study.us.team)
        self._study.people.doubt()
        self._later(self._study.people.prime())
        self._platform.changed("")
        self._bot.doubt(NAME)
        self._later(self._bot.catch_up(NAME))

    async def close(self) -> None:
        """End what goes on in the background."""
        await end(*self._tasks)


def authorized(study: Study) -> Callable[..., Awaitable[AuthorizeResult]]:
    """Tells who we are, as it was found out at the start: an envelope must not hang on another call."""
    us, token = study.us, study.reader.token

    async def tell(team_id: str | None) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id=team_id, bot_user_id=us.user, bot_id=us.bot, bot_token=token)

    return tell


async def _courtesy(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except (EngineError, *TROUBLE) as error:
        log.warning("not_shown", error=code(error))


NOTES = {
    "user_change": Listener.person,
    "team_join": Listener.person,
    "app_home_opened": Listener.opened,
    "app_rate_limited": Listener.limited,
}
