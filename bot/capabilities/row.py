"""What a capability is: a row of the table, from which every door learns who may use it and what carries it out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, Flag, auto
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bot.capabilities.results import HandlerResult
    from bot.store import Permission

    Handler = Callable[[Any, Any, Any], AsyncGenerator[HandlerResult]]


class Who(Enum):
    """The least that a caller must be. The owner of the data is all of it."""

    ANYONE = "anyone"  # within what they may read
    CORRECTOR = "corrector"  # may manage the channel whose space is corrected; everyone their own space
    CHANNEL_MANAGER = "channel manager"  # of the channel it is about; everyone of their own direct messages
    REVIEWER = "reviewer"  # manager or expert of the channel; checked where the channel is known
    MANAGER = "manager"  # of their workspace at present; a space of the terminal is its own
    AUDITOR = "auditor"  # whom the setting names
    OWNER = "owner"  # of the data, at the terminal


class Limit(Flag):
    """Which limits count a request, besides the requests of an access token in a minute."""

    NONE = 0
    QUESTIONS = auto()  # of a person in a minute, and the tokens of their workspace in a day


class Surface(Flag):
    """Where a capability is offered. The local socket carries all of them."""

    CHAT = auto()
    CLI = auto()
    HTTP = auto()
    MCP = auto()
    PAGE = auto()
    NONE = 0
    PROGRAMS = HTTP | MCP | PAGE


@dataclass(frozen=True, slots=True)
class Capability:
    """A thing that can be done. `handler`: a function `module:name`, loaded at the first call.

    It is called with the services, the caller and the request, and yields results; a module that begins with a dot is
    below this package. `permission`: what an access token needs; None where no token suffices. `derived`: where the
    row is enough, so that a door makes its route, tool or command of it, with `summary` as help. `kept`: what doors do
    differently on purpose, and why. `audited`: the audit log has an entry before it is done, and one when it ends.
    `searches`: it shows passages, of which the audit log has an entry as of a question, though no limit counts it.
    """

    name: str
    request: type
    handler: str
    surfaces: Surface
    who: Who = Who.ANYONE
    permission: Permission | None = None
    limits: Limit = Limit.NONE
    summary: str = ""
    derived: Surface = Surface.NONE
    kept: str = ""
    audited: bool = False
    searches: bool = False

    @property
    def is_question(self) -> bool:
        """Whether limits, metrics and the audit log count it as a question."""
        return Limit.QUESTIONS in self.limits

    @property
    def leaves_entry(self) -> bool:
        """Whether the audit log has one entry of it: who asked, and which sources were shown."""
        return self.is_question or self.searches

    def load_handler(self) -> Handler:
        """The function that carries it out."""
        return _load(self.handler)


@cache
def _load(handler: str) -> Handler:
    module, _, name = handler.partition(":")
    found: Handler = getattr(import_module(module, __package__), name)
    return found
