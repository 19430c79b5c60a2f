"""What stands below a thread while an answer is being worked on; where that is refused, 👀 on the question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from adapters.slack.api.errors import TROUBLE, code

if TYPE_CHECKING:
    from collections.abc import Callable

    from slack_sdk.web.async_client import AsyncWebClient

    from bot.platform.ports import Target

log = structlog.get_logger(__name__)

REFRESH = 90.0  # seconds; Slack takes a status away after two minutes
EYES = "eyes"


class Status:
    """The status of one answer."""

    def __init__(self, client: AsyncWebClient, target: Target, clock: Callable[[], float]) -> None:
        self._client = client
        self._target = target
        self._clock = clock
        self._at = 0.0
        self._eyes = False
        self.words = ""

    async def show(self, words: str) -> None:
        """Show these words."""
        self.words, self._at = words, self._clock()
        if self._eyes or not (self._target.place.thread or self._target.message):
            return
        try:
            await self._set(words)
        except TROUBLE as error:
            log.info("status_refused", error=code(error))
            await self._look()

    async def refresh(self) -> None:
        """Show them again before Slack takes them away."""
        if self.words and self._clock() - self._at >= REFRESH:
            await self.show(self.words)

    async def end(self, *, stays: bool) -> None:
        """Take it away; words go by themselves when a message comes. `stays`: none came since they were shown."""
        if self._eyes:
            self._eyes = False
            await self._react(put=False)
        elif stays and self.words:
            try:
                await self._set("")
            except TROUBLE as error:
                log.info("status_stays", error=code(error))

    async def _set(self, words: str) -> None:
        await self._client.assistant_threads_setStatus(
            channel_id=self._target.place.channel,
            thread_ts=self._target.place.thread or self._target.message,
            status=words,
        )

    async def _look(self) -> None:
        if self._target.message:
            self._eyes = True
            await self._react(put=True)

    async def _react(self, *, put: bool) -> None:
        react = self._client.reactions_add if put else self._client.reactions_remove
        try:
            await react(channel=self._target.place.channel, name=EYES, timestamp=self._target.message)
        except TROUBLE as error:
            log.info("reaction_refused", error=code(error))
