"""Write the digests that are due: a message that says what follows, and the digest in its thread.

A digest is an answer of the bot: it cites its sources, and is corrected when they are removed. Where nothing was said,
there is no digest.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.answers.request import AnswerRequest, answer_id
from bot.errors import ChannelGone, WorkspaceGone
from bot.platform.models import Card
from bot.text.schedule import parse_schedule
from engine import Filters, Overview, Question
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.answers.service import AnswerService
    from bot.context import BotContext
    from bot.store.channels import Digest

log = structlog.get_logger(__name__)

POLL_SECONDS = 30.0
RETRY_DELAY = timedelta(minutes=10)


def _now() -> datetime:
    return datetime.now(UTC)


class DigestWriter:
    """Writes due digests; one that fails is written later."""

    def __init__(self, context: BotContext, service: AnswerService, clock: Callable[[], datetime] = _now) -> None:
        self._context = context
        self._service = service
        self._clock = clock
        self._store = context.store

    async def run(self) -> None:
        """Write due digests until cancelled; one process at a time does, each those of the workspaces it serves."""
        while True:
            async with self._context.engine_context.engine.processes.try_lease("digests") as is_held:
                if is_held:
                    await self.write_due()
            await asyncio.sleep(POLL_SECONDS)

    async def write_due(self) -> None:
        """Write the digests that are due."""
        for digest in await self._store.digests.list_due(self._clock()):
            if not self._context.serves(digest.location):
                continue
            try:
                await self._write(digest)
            except (ChannelGone, WorkspaceGone):
                log.warning("digest.ended", channel=digest.location.room)
                await self._store.digests.delete(digest.location.room)
            except EngineError as error:
                log.warning("digest.postponed", channel=digest.location.room, error=type(error).__name__)
                current = await self._store.digests.get(digest.location.room)
                if current is not None:
                    await self._store.digests.update_progress(replace(current, due_at=self._clock() + RETRY_DELAY))

    async def _write(self, digest: Digest) -> None:
        if digest.posted or await self._has_news(digest):
            digest = await self._post_heading(digest)
            await self._service.answer(self._build_request(digest))
        now = self._clock()
        due_at = parse_schedule(digest.schedule).next_after(now)
        await self._store.digests.update_progress(replace(digest, since=now, due_at=due_at, posted=""))

    async def _has_news(self, digest: Digest) -> bool:
        """Whether something that the digest may contain was said or shared since the last one."""
        scope = await self._context.audience.resolve_scope(digest.location)
        rooms = frozenset() if digest.personal else frozenset({digest.location.room})
        within = Filters(rooms=rooms, since=digest.since)
        question = Question(texts.DIGEST_QUESTION, scope.scope, filters=within, overview=Overview("digest"))
        return bool((await self._context.engine_context.engine.retrieve(question)).sources)

    async def _post_heading(self, digest: Digest) -> Digest:
        """Post what the digest is about, unless that is done; the digest then knows the message."""
        if digest.posted:
            return digest
        platform = self._context.platform_for(digest.location)
        heading = texts.digest_heading(digest.since, self._clock(), personal=digest.personal)
        posted = replace(digest, posted=await platform.post(digest.location, Card(heading)))
        await self._store.digests.update_progress(posted)
        return posted

    def _build_request(self, digest: Digest) -> AnswerRequest:
        location = digest.location
        if location.workspace:
            location = replace(location, thread=digest.posted)
        return AnswerRequest(
            answer_id(digest.location, f"digest {digest.posted}"),
            location,
            digest.person,
            texts.DIGEST_QUESTION,
            self._clock(),
            message=digest.posted,
            since=digest.since,
            digest="personal" if digest.personal else "channel",
        )
