"""A person has what they wrote forgotten, and read again, without a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.results import Completed
from bot.errors import NotPermitted

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.requests import ForgetMe, RememberMe
    from bot.capabilities.results import OperationResult
    from bot.store import Subject


async def forget_me(deps: Deps, caller: Caller, _request: ForgetMe) -> AsyncGenerator[OperationResult]:
    """Forget a person. Raises NotPermitted for a space, which has written nothing."""
    subject = _check_person(caller)
    await (await deps.parts.open()).ingest.forget_person(subject.platform, subject.workspace, subject.person)
    yield Completed("Done. What you wrote, shared and asked is forgotten, and your messages are not read anymore.")


async def remember_me(deps: Deps, caller: Caller, _request: RememberMe) -> AsyncGenerator[OperationResult]:
    """Read a person again from now on. Raises NotPermitted for a space."""
    subject, parts = _check_person(caller), await deps.parts.open()
    for workspace in {subject.workspace, ""}:  # direct messages may belong to no workspace
        since = caller.time or deps.clock.now()
        await parts.store.opt_outs.opt_in(subject.platform, workspace, subject.person, since)
    yield Completed("What you write from now on is read again. What was forgotten stays forgotten.")


def _check_person(caller: Caller) -> Subject:
    if caller.kind != "person":
        raise NotPermitted("This is for people; the owner of the data forgets documents.")
    return caller.subject
