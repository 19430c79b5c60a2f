"""Show that an answer is in progress: a thread status, or a 👀 reaction where Slack refuses one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from adapters.slack.errors import SLACK_ERRORS, error_code

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

    from bot.platform.ports import ReplyTarget
    from engine import Clock

log = structlog.get_logger(__name__)

REFRESH_SECONDS = 90.0  # Slack removes a status after two minutes
EYES_REACTION = "eyes"


class ThreadStatus:
    """The status of one answer."""

    def __init__(self, client: AsyncWebClient, target: ReplyTarget, clock: Clock) -> None:
        self._client = client
        self._target = target
        self._clock = clock
        self._shown_at = 0.0
        self._has_eyes = False
        self.words = ""

    async def show(self, words: str) -> None:
        """Show words as the status of the thread, or a reaction where Slack takes no status."""
        self.words, self._shown_at = words, self._clock.monotonic()
        if self._has_eyes or not (self._target.location.thread or self._target.message):
            return
        try:
            await self._set(words)
        except SLACK_ERRORS as error:
            log.info("slack.status_set_failed", error=error_code(error))
            await self._show_eyes()

    async def refresh(self) -> None:
        """Show the status again before Slack removes it."""
        if self.words and self._clock.monotonic() - self._shown_at >= REFRESH_SECONDS:
            await self.show(self.words)

    async def clear(self, *, is_visible: bool) -> None:
        """Remove the status. A new message already removed it, unless `is_visible`."""
        if self._has_eyes:
            self._has_eyes = False
            await self._react(add=False)
        elif is_visible and self.words:
            try:
                await self._set("")
            except SLACK_ERRORS as error:
                log.info("slack.status_clear_failed", error=error_code(error))

    async def _set(self, words: str) -> None:
        await self._client.assistant_threads_setStatus(
            channel_id=self._target.location.channel,
            thread_ts=self._target.location.thread or self._target.message,
            status=words,
        )

    async def _show_eyes(self) -> None:
        if self._target.message:
            self._has_eyes = True
            await self._react(add=True)

    async def _react(self, *, add: bool) -> None:
        call = self._client.reactions_add if add else self._client.reactions_remove
        try:
            await call(channel=self._target.location.channel, name=EYES_REACTION, timestamp=self._target.message)
        except SLACK_ERRORS as error:
            log.info("slack.status_reaction_failed", error=error_code(error))
