"""Find the space that a caller corrects: that of their channel, of their token, or one that they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import NotAllowed, NotPermitted
from bot.i18n import gettext
from bot.permissions.managers import may_manage, room_of
from engine import Scope
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.platform.models import Location
    from engine import Engine

REFUSED = "You can't correct what is known there."
MANAGERS_ONLY = "Managers of a workspace can."


@dataclass(frozen=True, slots=True)
class Home:
    """A space that is corrected. `room`: the channel with which its corrections move, if there is one."""

    space: str
    room: str = ""


async def find_home(deps: Deps, caller: Caller, space: str, name: str, what: str) -> Home:
    """The space that a caller corrects. Raises NotAllowed, and InvalidQuestion if it is unclear.

    `space`: the one that they name, if they do. `name`: what they correct, `what`: words for doing it.
    """
    if caller.is_owner:
        return Home(space or caller.subject.space)
    if caller.kind == "space":
        return Home(caller.subject.space)
    if caller.place is not None:
        return await _find_home_of_channel(deps, caller, caller.place, what)
    correctable = (await find_correctable(deps, caller)).spaces
    found = space or await _find_space(deps.engine, name, correctable)
    if found not in correctable:
        raise NotPermitted(REFUSED, hint=MANAGERS_ONLY)
    return Home(found, room_of(found))


async def find_correctable(deps: Deps, caller: Caller) -> Scope:
    """What a caller may correct of what they read."""
    if caller.kind != "person":
        return caller.own_scope
    access = (await deps.parts.open()).access
    return Scope.of(*await access.list_correctable(caller.subject, caller.scope))


async def _find_home_of_channel(deps: Deps, caller: Caller, place: Location, what: str) -> Home:
    """The space of the channel where a person asks, if they read all of it and manage it."""
    audience = (await deps.parts.open()).access.audience_of(caller.subject)
    space = await audience.get_home_space(place)
    if space not in caller.scope.spaces:
        raise NotAllowed(
            gettext("You can't correct what I know here."),
            hint=gettext("Ask a member who can read all of this channel."),
        )
    if not await may_manage(audience, place, caller.subject.person):
        raise NotAllowed(
            gettext("Only managers of this workspace can {what}.").format(what=gettext(what)),
            hint=gettext("Ask one of them."),
        )
    return Home(space, place.room)


async def _find_space(engine: Engine, name: str, spaces: frozenset[str]) -> str:
    """The only one of the spaces in which a name occurs; "" if it occurs in none. Raises InvalidQuestion."""
    if len(spaces) == 1:
        return next(iter(spaces))
    found = (await engine.graph.get_provenance(name, Scope(spaces, frozenset()), limit=1)).spaces
    if len(found) > 1:
        raise InvalidQuestion(f"“{name}” occurs in several spaces.", hint=f"Name one of them: {', '.join(found)}.")
    return found[0] if found else ""
