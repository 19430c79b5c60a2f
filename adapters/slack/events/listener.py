"""Receive the events of one workspace; each is acknowledged only after the bot has stored it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import structlog

from adapters.slack.context import NAME
from adapters.slack.errors import SLACK_ERRORS, error_code
from adapters.slack.events import commands as calling
from adapters.slack.events import translate
from adapters.slack.replies.blocks import build_home
from adapters.slack.replies.forms import FormOrigin, build_view
from bot.platform.events import ButtonPressed, ChannelRemoved, CommandInvoked, FormSubmitted, VisibilityChanged
from bot.platform.models import Location
from engine.errors import EngineError
from engine.scheduling.supervisor import cancel_tasks

if TYPE_CHECKING:
    from collections.abc import Collection, Coroutine, Mapping

    from adapters.slack.context import SlackContext
    from adapters.slack.events.translate import TranslatedEvent
    from adapters.slack.platform import SlackPlatform
    from bot.bot import Bot
    from bot.platform.forms import Form

log = structlog.get_logger(__name__)

MESSAGE_EVENTS = frozenset({"app_mention", "message"})  # losing one of these leaves no wrong access data
OPEN_TIMEOUT = 2.0  # seconds to open a form, of three
RETRY_HEADER = "x-slack-retry-num"
SUGGESTED_PROMPTS = (
    {"title": "What was decided lately?", "message": "What was decided lately?"},
    {"title": "Which questions are open?", "message": "Which questions are open?"},
    {"title": "What happened this week?", "message": "What happened this week?"},
    {"title": "What can you do?", "message": "help"},
)


class WorkspaceListener:
    """Receives events, slash commands, button presses and forms. `commands` are the names of the bot's commands."""

    def __init__(self, bot: Bot, platform: SlackPlatform, context: SlackContext, commands: Collection[str]) -> None:
        self._bot = bot
        self._platform = platform
        self._context = context
        self._commands = commands
        self._tasks: set[asyncio.Task[None]] = set()

    async def handle_event(self, body: dict[str, Any]) -> None:
        """Handle an event of the Events API."""
        self._bot.record_activity(NAME)
        event = body.get("event") or {}
        try:
            translated = translate.translate_event(body, self._context.identity)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            self._handle_unparsed(str(event.get("type")), error)
            return
        handler = SIDE_HANDLERS.get(str(event.get("type")))
        if handler is not None:
            await handler(self, event)
        if translated is not None:
            await self._submit(translated)

    def _handle_unparsed(self, event_type: str, error: Exception) -> None:
        """Log an event that cannot be parsed; if it could concern channels, reconcile as after a reconnect."""
        log.error("slack.event_parse_failed", event_type=event_type, error=type(error).__name__)
        if event_type not in MESSAGE_EVENTS:
            self.handle_reconnect()

    async def handle_command(self, body: dict[str, Any]) -> None:
        """Handle a slash command."""
        self._bot.record_activity(NAME)
        translated = calling.parse_command(body, self._context.identity, self._commands, self._bot.clock.now())
        await self._open_or_submit(translated, str(body.get("trigger_id") or ""))

    async def handle_action(self, body: dict[str, Any]) -> None:
        """Handle a pressed button."""
        self._bot.record_activity(NAME)
        translated = calling.parse_click(body, self._context.identity)
        if translated is not None:
            await self._open_or_submit(translated, str(body.get("trigger_id") or ""))

    async def handle_shortcut(self, body: dict[str, Any]) -> None:
        """Handle a shortcut of a message's menu."""
        self._bot.record_activity(NAME)
        translated = calling.parse_shortcut(body, self._context.identity, self._bot.clock.now())
        if translated is not None:
            await self._open_or_submit(translated, str(body.get("trigger_id") or ""))

    async def handle_view(self, body: dict[str, Any]) -> Mapping[str, str]:
        """Handle a submitted form; gives what is wrong with its fields, which Slack shows in it."""
        self._bot.record_activity(NAME)
        translated = calling.parse_submission(body, self._context.identity, self._bot.clock.now())
        if translated is None or not isinstance(translated.event, FormSubmitted):
            return {}
        errors = self._bot.check_form(translated.event)
        if not errors:
            await self._submit(translated)
        return errors

    async def _open_or_submit(self, translated: TranslatedEvent, trigger: str) -> None:
        """Open the form that an interaction asks for; without one, or if Slack refuses it, pass the event on."""
        event = translated.event
        form = None
        if isinstance(event, ButtonPressed | CommandInvoked):
            form = await self._bot.build_form(event)
        if form is None or not isinstance(event, ButtonPressed | CommandInvoked):
            await self._submit(translated)
            return
        if form.handles_event and isinstance(event, ButtonPressed):
            await self._submit(replace(translated, event=replace(event, opens_form=True)))
            translated = replace(translated, keys=tuple(f"{key}:text" for key in translated.keys))
        if not await self._open_form(form, event, trigger):
            await self._submit(translated)

    async def _open_form(self, form: Form, event: ButtonPressed | CommandInvoked, trigger: str) -> bool:
        """Show a form, for which Slack gives three seconds; whether it is shown."""
        view = build_view(form, FormOrigin(event.location, event.person, event.handle))
        if view is None:
            return False
        try:
            async with asyncio.timeout(OPEN_TIMEOUT):
                await self._context.write_client.views_open(trigger_id=trigger, view=view)
        except SLACK_ERRORS as error:
            log.warning("slack.form_rejected", form=form.name, error=error_code(error))
            return False
        return True

    async def _submit(self, translated: TranslatedEvent) -> None:
        """Pass an event to the bot."""
        event = translated.event
        if isinstance(event, VisibilityChanged | ChannelRemoved):
            self._platform.invalidate_channel(event.location.channel)
        await self._bot.receive(event, *translated.keys)

    # Signals that are not events of the bot.

    async def handle_user_change(self, event: Mapping[str, Any]) -> None:
        """Update a user; if their access changed, report a visibility change of all channels."""
        if self._context.users.save_user(event.get("user") or {}):
            changed_at = event.get("event_ts") or event.get("cache_ts") or self._bot.clock.time()
            team = self._context.identity.team
            key = f"{NAME}:person:{team}:{(event.get('user') or {}).get('id')}:{changed_at}"
            await self._bot.receive(VisibilityChanged(Location(NAME, team, ""), members_only=True), key)

    async def handle_app_opened(self, event: Mapping[str, Any]) -> None:
        """Show the home tab, or the suggested prompts of the messages tab."""
        if event.get("tab") == "messages":
            self._run_in_background(self._set_prompts(str(event.get("channel") or "")))
        elif event.get("tab", "home") == "home":
            self._run_in_background(self._publish_home(str(event.get("user") or "")))

    async def _set_prompts(self, channel: str) -> None:
        await self._context.idempotent_client.assistant_threads_setSuggestedPrompts(
            channel_id=channel, prompts=list(SUGGESTED_PROMPTS)
        )

    async def _publish_home(self, person: str) -> None:
        card = await self._bot.build_home_card(NAME, self._context.identity.team, person)
        await self._context.idempotent_client.views_publish(user_id=person, view=dict(build_home(card)))

    def _run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a call that nobody waits for; a failure is only logged."""
        task = self._bot.supervisor.spawn("slack background call", _log_errors(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def handle_reconnect(self) -> None:
        """Reconcile after a reconnect: events may have been lost, and user data may be stale."""
        team = self._context.identity.team
        log.info("slack.connected", workspace=team)
        self._context.users.invalidate()
        self._run_in_background(self._context.users.preload())
        self._platform.invalidate_channel("")
        self._bot.suspend_visibility(NAME, team)
        self._run_in_background(self._bot.reconcile(NAME, team))

    def invalidate_users(self) -> None:
        """Look up users again before they are trusted: changes of their access may have been missed."""
        self._context.users.invalidate()

    async def check_api(self) -> None:
        """Record a sign of life if Slack's Web API answers."""
        with suppress(*SLACK_ERRORS):
            await self._context.idempotent_client.auth_test()
            self._bot.record_activity(NAME)

    async def close(self) -> None:
        """Cancel background tasks."""
        await cancel_tasks(*self._tasks)


def is_repeated(headers: Mapping[str, Any]) -> bool:
    """Whether Slack delivers an event again."""
    return bool(set(headers.get(RETRY_HEADER) or ()) - {"0"})


async def _log_errors(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except (EngineError, *SLACK_ERRORS) as error:
        log.warning("slack.view_publish_failed", error=error_code(error))


SIDE_HANDLERS = {
    "user_change": WorkspaceListener.handle_user_change,
    "team_join": WorkspaceListener.handle_user_change,
    "app_home_opened": WorkspaceListener.handle_app_opened,
}
