"""Say before an erasure what goes, and give a receipt after it: the same counts, of one plan."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from bot.capabilities.results import ErasureRehearsal
from bot.i18n import gettext
from bot.ingest.erasure.receipt import describe_counts
from bot.ingest.erasure.service import ErasureReader
from bot.store.access.audit_log import NOBODY
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.ingest.erasure.plan import ErasurePlan, ErasurePlanner
    from bot.ingest.erasure.service import Erasures, MeasuredErasure

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MeasuredRequest:
    """An erasure of a caller that was measured before it happens; of none, if the bot's database cannot be used."""

    erasures: Erasures | None
    measured: MeasuredErasure | None
    caller: Caller

    @asynccontextmanager
    async def completing(self, action: str, asked: Mapping[str, str]) -> AsyncIterator[None]:
        """Erase within it, so that a restart completes what was begun. Parameters as in `give_receipt`."""
        if self.erasures is None:
            yield
            return
        owner = NOBODY if self.caller.is_owner else self.caller.subject
        async with self.erasures.completing(action, asked, self.measured, owner):
            yield

    async def give_receipt(self, action: str, asked: Mapping[str, str]) -> dict[str, Any]:
        """The receipt once it is done; empty if there can be none. `asked`: ids that the caller may see."""
        if self.erasures is None or self.measured is None:
            return {}
        owner = NOBODY if self.caller.is_owner else self.caller.subject
        return await self.erasures.give_receipt(action, asked, self.measured, owner)

    def rehearse(self) -> ErasureRehearsal:
        """What would go."""
        if self.measured is None:
            return ErasureRehearsal(gettext("What would be forgotten cannot be counted now."))
        return build_rehearsal(self.measured)


async def measure(
    deps: Deps, caller: Caller, plan: Callable[[ErasurePlanner], Awaitable[ErasurePlan]]
) -> MeasuredRequest:
    """Measure what a caller wants to erase. A full disk keeps nobody on this machine from erasing."""
    try:
        erasures = (await deps.parts.open()).ingest.erasures
        measured = await erasures.measure(await plan(erasures.planner), find_reader(caller))
    except EngineError as error:
        if caller.kind == "person" or caller.token:
            raise
        log.warning("erasure.not_measured", error=type(error).__name__)
        return MeasuredRequest(None, None, caller)
    return MeasuredRequest(erasures, measured, caller)


def find_reader(caller: Caller) -> ErasureReader | None:
    """Who reads the receipt; None for the operator, who may see how much of everything goes."""
    return None if caller.is_owner else ErasureReader(caller.subject, caller.scope)


def build_rehearsal(measured: MeasuredErasure) -> ErasureRehearsal:
    """A measured erasure in words."""
    what = describe_counts(measured.counts)
    text = gettext("This would forget {what}.").format(what=what) if what else gettext("There is nothing to forget.")
    if measured.questions:
        asked = "; ".join(f"“{question}”" for question in measured.questions)
        text += " " + gettext("Answers to these questions would go: {questions}").format(questions=asked)
    return ErasureRehearsal(text, measured.counts, measured.questions)
