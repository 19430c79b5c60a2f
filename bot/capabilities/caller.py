"""Who asks for something: the owner of the data, a space of the terminal, or a person."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from bot.permissions.audience import EMPTY_SCOPE, EMPTY_SET, personal_space
from bot.store import PERMISSIONS, Subject
from engine import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.platform.models import Location
    from bot.store import Permission

NOBODY = Subject()
DOORS = ("chat", "page", "api", "mcp", "cli")  # where one can ask
ALL_PERMISSIONS: Sequence[Permission] = PERMISSIONS


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and what they may read now; valid for one request.

    `owner`: of the data, at a space of the terminal or at none. `space`: a program, or somebody on this machine, that
    speaks for one. `person`: somebody whom a platform knows; `place`: the channel where they ask, `may_post`: whether
    the platform lets them post there, both None outside of a channel. `permissions`: of their access token, and `token`
    its id. `time`: when a message asked, the same if it is handled again after a restart. `door`: as in `DOORS`.
    `is_direct`: whether the place is their direct messages with the bot.
    """

    kind: Literal["owner", "space", "person"]
    subject: Subject = NOBODY
    scope: Scope = field(default=EMPTY_SCOPE)
    place: Location | None = None
    may_post: bool | None = None
    permissions: Sequence[Permission] = ALL_PERMISSIONS
    time: datetime | None = None
    door: str = "cli"
    token: str = ""
    is_direct: bool = False

    @property
    def is_owner(self) -> bool:
        """Whether it is the owner of the data."""
        return self.kind == "owner"

    @property
    def sees_details(self) -> bool:
        """Whether they are told what a model answered to a call that failed: whoever runs the program, no person."""
        return self.kind != "person"

    @property
    def own_scope(self) -> Scope:
        """What they may change: their space of the terminal, or what a person shared with the bot alone."""
        if self.subject.space:
            return Scope.of(self.subject.space)
        if self.is_owner:
            return EMPTY_SCOPE
        places = {"", self.subject.workspace}  # direct messages of some platforms belong to no workspace
        spaces = (personal_space(self.subject.platform, place, self.subject.person) for place in places)
        return Scope(frozenset(spaces), EMPTY_SET)


def at_terminal(space: str = "", door: str = "") -> Caller:
    """The owner of the data, at a space of the terminal."""
    return Caller("owner", Subject(space=space), Scope.of(space) if space else EMPTY_SCOPE, door=door or "cli")


def for_space(space: str, door: str = "") -> Caller:
    """A program, or somebody on this machine, that speaks for a space of the terminal."""
    return Caller("space", Subject(space=space), Scope.of(space), door=door or "page")
