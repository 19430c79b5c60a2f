"""Write the digests that are due: a message that says what follows, and the digest in its thread.

A digest is an answer of the bot: it cites its sources, and is corrected when they are removed. Where nothing was said,
there is no digest.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.answers.question import AnswerRequest, answer_id
from bot.errors import ChannelGone, PermissionDenied, PlatformError, PlatformUnavailable, WorkspaceGone
from bot.i18n import use_language
from bot.platform.models import Card
from bot.text.format import find_zone_or_utc
from bot.text.times.schedule import parse_schedule
from bot.texts.permissions import describe_denial
from engine import Filters, Question
from engine.models import Overview
from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime

    from bot.answers.service import AnswerService
    from bot.context import BotContext
    from bot.platform.models import Location
    from bot.store.schedules.digests import Digest

log = structlog.get_logger(__name__)

POLL_SECONDS = 30.0
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 600.0, 21_600.0  # before another attempt; doubled after each
MAX_WAIT = timedelta(hours=2)  # for messages that were missed
MAX_REFUSALS = 6  # consecutive failures, the last of them a refusal, after which a digest ends; 5 hours


class DigestWriter:
    """Writes due digests; one that fails is written later. `pending_syncs`: channels whose messages may be missing."""

    def __init__(
        self,
        context: BotContext,
        service: AnswerService,
        *,
        pending_syncs: Callable[[], Collection[Location]] = tuple,
    ) -> None:
        self._context = context
        self._service = service
        self._clock = context.clock
        self._pending_syncs = pending_syncs
        self._waits_since: dict[str, datetime] = {}
        self._store = context.store

    async def run(self) -> None:
        """Write due digests until cancelled; one process at a time does, each those of the workspaces it serves."""
        while True:
            async with self._context.engine_context.engine.processes.try_lease("digests") as is_held:
                if is_held:
                    await self.write_due()
            await asyncio.sleep(POLL_SECONDS)

    async def write_due(self) -> None:
        """Post each digest whose time has come; one that fails is tried later and holds up no other."""
        for digest in await self._store.digests.list_due(self._clock.now()):
            if not self._context.serves(digest.location) or self._is_waiting(digest):
                continue
            try:
                await self._write(digest)
            except (ChannelGone, WorkspaceGone):
                log.warning("digest.ended", channel=digest.location.room)
                await self._store.digests.delete(digest.location.room)
            except Exception as error:  # noqa: BLE001 - one digest that fails must not hold up the others
                await self._postpone(digest, error)

    async def _postpone(self, digest: Digest, error: Exception) -> None:
        """Let a failed digest be written later, or end it after repeated refusals."""
        current = await self._store.digests.get(digest.location.room)
        if current is None:
            return
        failures = current.failures + 1
        log.warning("digest.postponed", channel=digest.location.room, error=type(error).__name__, failures=failures)
        if isinstance(error, PermissionDenied) and failures >= MAX_REFUSALS:
            await self._store.digests.delete(digest.location.room)
            await self._report_end(current, error)
            return
        delay = timedelta(seconds=backoff_seconds(failures, FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS))
        await self._store.digests.update_progress(replace(current, due_at=self._clock.now() + delay, failures=failures))

    async def _report_end(self, digest: Digest, error: PermissionDenied) -> None:
        """Tell the person who scheduled a digest why it ended, unless they were forgotten."""
        if not digest.person:
            return
        platform = self._context.platform_for(digest.location)
        try:
            direct = await platform.open_direct(digest.location.workspace, digest.person)
            name = await self._readable_name(digest)
            with use_language(await self._context.find_person_language(digest.location, digest.person)):
                reason = describe_denial(error, self._context.traits_of(digest.location.platform), name)
                card = Card(texts.digest_ended(name, digest.schedule, reason))
            await platform.post(direct, card)
        except PlatformError as refused:
            log.warning("digest.end_not_reported", channel=digest.location.room, error=type(refused).__name__)

    async def _readable_name(self, digest: Digest) -> str:
        """The name of the digest's channel, empty if the person may not know it any more."""
        try:
            channel = await self._context.audience.get_channel(digest.location)
        except PlatformError:
            return ""
        is_reader = digest.person in channel.members or (channel.kind == "open" and not channel.shared)
        return channel.name if is_reader and not digest.personal else ""

    async def _write(self, digest: Digest) -> None:
        began = self._clock.now()
        if digest.posted or await self._has_news(digest):
            digest = await self._post_heading(digest)
            request = self._build_request(digest)
            await self._service.answer(request)
            stored = await self._store.answers.get(request.id)  # perhaps of a process that ended before it was recorded
            began = min(began, stored.time) if stored else began
        due_at = parse_schedule(digest.schedule).next_after(self._clock.now())
        await self._store.digests.update_progress(replace(digest, since=began, due_at=due_at, posted="", failures=0))

    async def _has_news(self, digest: Digest) -> bool:
        """Whether something that the digest may contain was said or shared since the last one.

        Raises PlatformUnavailable while its readers are unknown: it would leave out what they can read.
        """
        scope = await self._context.audience.resolve_scope(digest.location)
        if scope.gap in {"checking", "unknown"}:
            raise PlatformUnavailable("It is not known now who can read the digest.")
        rooms = frozenset() if digest.personal else frozenset({digest.location.room})
        within = Filters(rooms=rooms, since=digest.since)
        question = Question(texts.DIGEST_QUESTION, scope.scope, filters=within, overview=Overview("digest"))
        return bool((await self._context.engine_context.engine.retrieve(question)).sources)

    def _is_waiting(self, digest: Digest) -> bool:
        """Whether a digest would leave out messages that are still being fetched; not for longer than MAX_WAIT."""
        room, now = digest.location.room, self._clock.now()
        if digest.posted or not self._lacks_messages(digest):
            self._waits_since.pop(room, None)
            return False
        return now - self._waits_since.setdefault(room, now) < MAX_WAIT

    def _lacks_messages(self, digest: Digest) -> bool:
        """Whether channels of a digest are not compared with the platform yet; for a personal one, any channel."""
        place = digest.location
        pending = [sync for sync in self._pending_syncs() if sync.platform == place.platform]
        if digest.personal:
            return any(place.workspace in {"", sync.workspace} for sync in pending)
        return any(sync.workspace == place.workspace and sync.channel in {"", place.channel} for sync in pending)

    async def _post_heading(self, digest: Digest) -> Digest:
        """Post what the digest is about, unless that is done; the digest then knows the message."""
        if digest.posted:
            return digest
        platform = self._context.platform_for(digest.location)
        find = self._context.find_person_language if digest.personal else self._context.find_channel_language
        with use_language(await find(digest.location, digest.person)):
            zone = find_zone_or_utc(parse_schedule(digest.schedule).zone)
            heading = texts.digest_heading(digest.since, self._clock.now(), zone, personal=digest.personal)
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
            self._clock.now(),
            message=digest.posted,
            since=digest.since,
            digest="personal" if digest.personal else "channel",
        )
