"""Stop answers while they are written, also those that another process writes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.i18n import gettext
from bot.platform.models import Button
from bot.texts import control as control_texts
from engine.errors import StoreError
from engine.scheduling.supervisor import child_task

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from bot.answers.question import AnswerRequest
    from bot.context import BotContext
    from bot.platform.models import Location

TOPIC = "answer stops"  # of notifications to other processes
POLL_INTERVAL = 60 * 60.0  # seconds between two looks at a stop without a notification
SHARED_POLL_INTERVAL = 1.0  # the same where several processes share the table, since a notification may be lost


class StopRequests:
    """Stops answers: a stop is a row of the store first, which the process that writes the answer looks at."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._store = context.store.answer_stops
        self._processes = context.engine_context.engine.processes

    def list_buttons(self, request: AnswerRequest) -> tuple[Button, ...]:
        """The buttons below an answer in progress; without a model it is complete at once, and needs none."""
        return (
            (Button(gettext(control_texts.STOP_BUTTON), "stop", request.id),)
            if self._context.settings.llm_model
            else ()
        )

    async def stop(self, answer: str, person: str) -> bool:
        """Stop an answer in progress; False if it is finished or was stopped before."""
        stopped = await self._store.stop(answer, person)
        self._processes.notify(TOPIC)
        return stopped

    async def stop_in_thread(self, location: Location, asker: str) -> bool:
        """Stop the answers to a person in a thread, or in the whole channel; whether there was one in progress."""
        stopped = await self._store.stop_in_thread(location, asker)
        self._processes.notify(TOPIC)
        return stopped

    async def is_answering(self, location: Location, asker: str) -> bool:
        """Whether an answer to a person is in progress in a thread, or in the whole channel."""
        return await self._store.has_progress_in_thread(location, asker)

    async def run(self, answer: str, work: Coroutine[Any, Any, None]) -> str:
        """Write an answer; if somebody stops it, cancel that and return who it was, else return nothing.

        An answer that was stopped before, while an earlier process wrote it, is not written again.
        """
        if person := await self._store.get_stopper(answer):
            work.close()
            return person
        async with child_task(work) as writing, child_task(self._wait_for_stop(answer)) as stop:
            await asyncio.wait({writing, stop}, return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                return ""
            writing.cancel()
            await asyncio.wait({writing})
            return stop.result()

    async def describe(self, location: Location, person: str) -> str:
        """The note below an answer that a person stopped."""
        try:
            found = await self._context.audience.get_person_at(location, person)
        except PlatformError:
            return gettext(control_texts.STOPPED)
        return control_texts.format_stopped(found.name)

    async def _wait_for_stop(self, answer: str) -> str:
        """Who stopped an answer, once somebody does."""
        changed = asyncio.Event()
        interval = SHARED_POLL_INTERVAL if self._processes.id else POLL_INTERVAL
        self._processes.subscribe(TOPIC, changed.set)
        try:
            while True:
                changed.clear()
                with suppress(StoreError):  # what else the answer needs of the store fails, too
                    if person := await self._store.get_stopper(answer):
                        return person
                with suppress(TimeoutError):
                    async with asyncio.timeout(interval):
                        await changed.wait()
        finally:
            self._processes.unsubscribe(TOPIC, changed.set)
