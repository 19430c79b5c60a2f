"""Corrects posted answers of which a source was edited or removed, for as long as the platform lets them be edited.

A correction is a row of the store until it is done, so that it outlives a restart and a platform that fails. It may
be repeated without harm.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.permissions.provenance import basis_of, readable
from bot.platform.ports import Target
from engine.scheduling.supervisor import backoff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from bot.context import House
    from bot.store import Correction

log = structlog.get_logger(__name__)

BURST, EVERY = 10, 2.0  # corrections at once, and seconds between further ones
BATCH = 100  # corrections that are looked at together
FIRST, LONGEST = 5.0, 60 * 60.0  # seconds until the next try; they double
GIVEN_UP = 30 * 24 * 60 * 60.0  # seconds after which a platform that refuses is not asked any more
PAUSE = 60.0  # seconds between two looks, unless there is news


class AnswerCorrector:
    """Works off the pending corrections."""

    def __init__(
        self,
        house: House,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._house = house
        self._sleep = sleep
        self._store = house.store
        self._clock = clock

    async def work(self) -> None:
        """Do what is due, until cancelled."""
        while True:
            self._store.corrections.news.clear()
            await self.run()
            pause = await self._pause()
            with suppress(TimeoutError):  # not `wait_for`: on Python 3.11 that may swallow the end of this task
                async with asyncio.timeout(pause):
                    await self._store.corrections.news.wait()

    async def run(self) -> None:
        """Try every correction that is due once; one platform does not wait for another."""
        while pending := await self._store.corrections.due(self._clock(), tuple(self._house.platforms), BATCH):
            by_platform = groupby(sorted(pending, key=_platform), key=_platform)
            await asyncio.gather(*(self._in_turn(list(group)) for _, group in by_platform))

    async def _pause(self) -> float:
        due = await self._store.corrections.next_due(tuple(self._house.platforms))
        return PAUSE if due is None else min(PAUSE, max(0.1, due - self._clock()))

    async def _in_turn(self, pending: Iterable[Correction]) -> None:
        """Many together leave room for the answers that are written meanwhile."""
        unsure = False
        for number, each in enumerate(pending):
            if number >= BURST:
                await self._sleep(EVERY)
            if each.checked or not unsure:
                unsure = not await self._try(each) and not each.checked
            else:  # who reads what is not known yet: the others need not be asked for
                await self._settle(each, done=False)

    async def _try(self, correction: Correction) -> bool:
        """Whether it is done."""
        try:
            done = await self._correct(correction)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not keep the others waiting
            log.warning("correction_delayed", room=correction.place.room, error=type(error).__name__)
            done = False
        await self._settle(correction, done=done)
        return done

    async def _settle(self, correction: Correction, *, done: bool) -> None:
        if done or self._clock() - correction.since > GIVEN_UP:
            await self._store.corrections.done(correction.answer)
            if not done:
                log.warning("correction_given_up", room=correction.place.room, answer=correction.answer)
        else:
            wait = backoff(correction.tries + 1, FIRST, LONGEST)
            await self._store.corrections.delay(correction.answer, self._clock() + wait)

    async def _correct(self, correction: Correction) -> bool:
        """Replace the answer; False if it cannot be known yet whether it has to be. Raises PlatformError."""
        if not correction.checked:
            return await self._check(correction)
        target = Target(
            correction.answer,
            correction.place,
            correction.asker,
            correction.message,
            mark=correction.mark,
            asked=correction.asked,
        )
        await self._house.platform(correction.place).replace_answer(target, texts.SOURCE_REMOVED)
        return True

    async def _check(self, correction: Correction) -> bool:
        """Retract the answer if its readers may not read all of its sources any more; False if nobody knows that."""
        stored = await self._store.answers.get(correction.answer)
        if stored is None:
            return True
        person = stored.asker if stored.private else ""
        allowed = await readable(self._house, basis_of(stored), correction.place, person)
        if allowed is False:
            await self._store.answers.retract(correction.answer)
            return await self._correct(replace(correction, checked=True))
        return allowed is True


def _platform(correction: Correction) -> str:
    return correction.place.platform
