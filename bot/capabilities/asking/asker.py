"""What a question takes from the person who asks it: their name, and where their days begin."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC
from functools import partial
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from bot.capabilities.asking.channels import resolve_rooms
from bot.errors import PlatformError
from engine.models import FilterLookup

if TYPE_CHECKING:
    from datetime import tzinfo

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.platform.models import Person


async def find_name(deps: Deps, caller: Caller) -> str:
    """The name of a person, for "what did I write?"; empty for other callers, or if it cannot be looked up."""
    person = await _find_person(deps, caller)
    return person.name if person else ""


async def build_filter_lookup(deps: Deps, caller: Caller) -> FilterLookup | None:
    """What a model needs to propose filters for the question of a person; None for other callers."""
    if caller.kind != "person":
        return None
    zone: tzinfo = UTC
    person = await _find_person(deps, caller)
    with suppress(ValueError, KeyError, OSError):  # a name that is no time zone
        zone = ZoneInfo(person.time_zone) if person and person.time_zone else UTC
    return FilterLookup(zone, partial(resolve_rooms, deps, caller))


async def _find_person(deps: Deps, caller: Caller) -> Person | None:
    if caller.kind != "person":
        return None
    access, subject = (await deps.parts.open()).access, caller.subject
    try:
        return await access.audience_of(subject).get_person(subject.platform, subject.workspace, subject.person)
    except PlatformError:
        return None
