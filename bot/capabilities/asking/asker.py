"""What a question takes from the person who asks it: their name, and where their days begin."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bot.capabilities.asking.channels import resolve_rooms
from bot.errors import PlatformError
from bot.text.format import find_zone_or_utc
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


async def find_zone(deps: Deps, caller: Caller, given: str = "") -> tzinfo:
    """The time zone in which the days of a caller begin: that of their profile, else the one that is `given`."""
    person = await _find_person(deps, caller)
    return find_zone_or_utc((person.time_zone if person else "") or given)


def build_filter_lookup(deps: Deps, caller: Caller) -> FilterLookup | None:
    """What a model needs to propose filters for the question of a person; None for other callers."""
    return FilterLookup(partial(resolve_rooms, deps, caller)) if caller.kind == "person" else None


async def _find_person(deps: Deps, caller: Caller) -> Person | None:
    if caller.kind != "person":
        return None
    access, subject = (await deps.parts.open()).access, caller.subject
    try:
        return await access.audience_of(subject).get_person(subject.platform, subject.workspace, subject.person)
    except PlatformError:
        return None
