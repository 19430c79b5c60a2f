"""Correct posted answers whose sources were edited or removed, while the platform allows edits.

A pending correction is a row of the store, so it survives restarts and platform outages. It may run again without harm.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import structlog

from bot.answers.review.notices import WithdrawalNotices, describe_removal
from bot.errors import PermissionDenied
from bot.i18n import use_language
from bot.permissions.provenance import can_read, list_unreadable_keys, provenance_of_answer
from bot.platform.models import Location
from bot.platform.ports import ReplyTarget
from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from bot.answers.renewal.renewer import AnswerRenewer
    from bot.context import BotContext
    from bot.store import AnswerCorrection

log = structlog.get_logger(__name__)

CORRECTION_BURST, CORRECTION_INTERVAL = 10, 2.0  # corrections at once, and seconds between further ones
BATCH_SIZE = 100  # corrections
FIRST_DELAY, MAX_DELAY = 5.0, 60 * 60.0  # seconds before a retry; doubled after each
GIVE_UP_AFTER = 30 * 24 * 60 * 60.0  # seconds after which a refused correction is dropped
POLL_INTERVAL = 60.0  # seconds between two checks without a new correction
SHARED_POLL_INTERVAL = 5.0  # the same where other processes may request one


class AnswerCorrector:
    """Processes the pending corrections. `renewer`: writes answers anew; without it, a notice replaces them."""

    def __init__(
        self,
        context: BotContext,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        renewer: AnswerRenewer | None = None,
    ) -> None:
        self._context = context
        self._sleep = sleep
        self._renewer = renewer
        self._store = context.store
        self._notices = WithdrawalNotices(context)
        self._processes = context.engine_context.engine.processes
        self._clock = context.clock

    async def run(self) -> None:
        """Process due corrections until cancelled."""
        while True:
            self._store.answer_corrections.updated.clear()
            await self.process_due()
            pause = await self._seconds_until_due()
            with suppress(TimeoutError):  # `wait_for` can swallow a cancellation on Python 3.11
                async with asyncio.timeout(pause):
                    await self._store.answer_corrections.updated.wait()

    async def process_due(self) -> None:
        """Try what is due once, while no other process does; platforms do not wait for each other."""
        async with self._processes.lease("answer corrections"):
            await self._process_due()
            await self._notices.send_due()

    async def _process_due(self) -> None:
        served = await self._list_served()
        while pending := await self._store.answer_corrections.list_due(self._clock.time(), served, BATCH_SIZE):
            by_platform = groupby(sorted(pending, key=_platform_name), key=_platform_name)
            await asyncio.gather(*(self._process_platform(list(group)) for _, group in by_platform))

    async def _list_served(self) -> list[str]:
        """The workspaces whose audiences this process can look up; the others are those of another one."""
        found = await self._store.answer_corrections.list_workspaces()
        return [room for room in found if self._context.serves(Location.from_room(room))]

    async def _seconds_until_due(self) -> float:
        due = await self._store.answer_corrections.get_next_due(await self._list_served())
        longest = SHARED_POLL_INTERVAL if self._processes.id else POLL_INTERVAL
        return longest if due is None else min(longest, max(0.1, due - self._clock.time()))

    async def _process_platform(self, pending: Iterable[AnswerCorrection]) -> None:
        """Process the corrections of one platform, leaving capacity to answers in progress."""
        unsure = False
        for number, each in enumerate(pending):
            if number >= CORRECTION_BURST:
                await self._sleep(CORRECTION_INTERVAL)
            if each.is_confirmed or not unsure:
                unsure = not await self._attempt(each) and not each.is_confirmed
            else:  # the audience is unknown: the other corrections would fail, too
                await self._postpone(each)

    async def _attempt(self, correction: AnswerCorrection) -> bool:
        """Try one correction; true if it is done."""
        try:
            done = await self._correct(correction)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not keep the others waiting
            log.warning("correction.retry_scheduled", channel=correction.location.room, error=type(error).__name__)
            done = False
        if not done:
            await self._postpone(correction)
        return done

    async def _postpone(self, correction: AnswerCorrection) -> None:
        """Try again later, or drop a correction that was refused for long."""
        if self._clock.time() - correction.requested_at > GIVE_UP_AFTER:
            await self._store.answer_renewals.record(correction.location, correction.answer_id, "failed")
            await self._finish(correction)
            log.warning("correction.dropped", channel=correction.location.room, answer=correction.answer_id)
            return
        wait = backoff_seconds(correction.attempts + 1, FIRST_DELAY, MAX_DELAY)
        await self._store.answer_corrections.delay(correction.answer_id, self._clock.time() + wait)

    async def _finish(self, correction: AnswerCorrection, *, renewed: bool = False) -> bool:
        """Delete a correction; False if it is needed again."""
        return await self._store.answer_renewals.finish(correction.answer_id, correction.attempts, renewed=renewed)

    async def _correct(self, correction: AnswerCorrection) -> bool:
        """Write the answer anew, replace it by a notice, or delete it with its question. Raises PlatformError.

        False if it is to be tried again: its audience cannot be checked now, or another source was removed meanwhile.
        """
        if not correction.is_confirmed:
            return await self._check_audience(correction)
        target = ReplyTarget(
            correction.answer_id,
            correction.location,
            correction.asker,
            correction.message_id,
            reply_ref=correction.reply_ref,
            asked_at=correction.asked_at,
        )
        platform = self._context.platform_for(correction.location)
        if await self._is_question_deleted(correction):
            with suppress(PermissionDenied):
                await platform.delete_answer(target)
            return await self._finish(correction)
        renewal = await self._renewer.renew(target, correction.requested_at) if self._renewer else "notice"
        if renewal != "notice":
            return renewal != "later" and await self._finish(correction, renewed=True)
        find = self._context.find_channel_language
        with use_language(await find(correction.location, correction.asker)):
            notice = describe_removal(correction.answer_id, platform.traits)
        await platform.replace_answer(target, notice)
        return await self._finish(correction)

    async def _is_question_deleted(self, correction: AnswerCorrection) -> bool:
        """Whether the message of a question was deleted: its answer then goes as a whole."""
        room, message = correction.location.room, correction.message_id
        return bool(message and await self._store.messages.find_tombstones(room, [message]))

    async def _check_audience(self, correction: AnswerCorrection) -> bool:
        """Retract the answer if its audience may no longer read all of its sources. False if that cannot be checked."""
        stored = await self._store.answers.get(correction.answer_id)
        if stored is None:
            return await self._finish(correction)
        person, audience = stored.asker if stored.private else "", self._context.audience
        allowed = await can_read(audience, provenance_of_answer(stored), correction.location, person)
        if allowed is False:
            hidden = await list_unreadable_keys(audience, stored, correction.location, person)
            if await self._store.superseded_answers.unmark(correction.answer_id, hidden):
                return False  # with that mark goes what they may not read; the rest is checked again
            await self._store.answers.redact_one(correction.answer_id, hidden)
            return await self._correct(replace(correction, is_confirmed=True, attempts=correction.attempts + 1))
        return allowed is True and await self._finish(correction)


def _platform_name(correction: AnswerCorrection) -> str:
    return correction.location.platform
