"""A command that somebody gave, with what it takes to obey it: what they may read, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bot import texts
from bot.errors import NotAllowed
from bot.permissions.provenance import Basis, readable
from engine.models import Scope

if TYPE_CHECKING:
    from datetime import datetime

    from bot.answers.service import Answering
    from bot.context import House
    from bot.ingest.service import Listening
    from bot.platform.events import Called
    from bot.platform.models import Place
    from bot.settings import Settings
    from bot.store import Store
    from engine.engine import Engine


class Parts(Protocol):
    """The parts of the bot that commands need."""

    @property
    def house(self) -> House: ...
    @property
    def listening(self) -> Listening: ...
    @property
    def answering(self) -> Answering: ...


@dataclass(frozen=True, slots=True)
class Call:
    """`now`: the time at which it was given, which stays the same if it is obeyed once more after a restart."""

    parts: Parts
    called: Called
    now: datetime

    @property
    def place(self) -> Place:
        """Where it was given."""
        return self.called.place

    @property
    def words(self) -> str:
        """What stands behind the command."""
        return self.called.words.strip()

    @property
    def engine(self) -> Engine:
        """What knows the documents."""
        return self.parts.house.desk.engine

    @property
    def store(self) -> Store:
        """The bot's own tables."""
        return self.parts.house.store

    @property
    def settings(self) -> Settings:
        """The settings of this run."""
        return self.parts.house.settings

    async def scope(self) -> Scope:
        """What they may read: the answer goes to them alone."""
        return await self.parts.house.readers.scope_alone(self.place, self.called.person)

    async def reads(self, room: str) -> bool:
        """Whether they may read a room now: its documents may lie in another space than when they were drawn on."""
        drawn = Basis(Scope(frozenset(), frozenset({room})), {}, 0.0)
        return bool(await readable(self.parts.house, drawn, self.place, self.called.person))

    async def manages(self) -> bool:
        """Whether they may forget what others said or shared, and decide for channels."""
        place = self.place
        person = await self.parts.house.readers.person(place.platform, place.workspace, self.called.person)
        return person.manager

    async def only_managers(self, what: str) -> None:
        """Raises NotAllowed for everybody else; in a talk with the bot alone, everybody decides for themselves."""
        channel = await self.parts.house.readers.channel(self.place)
        if channel.kind != "direct" and not await self.manages():
            raise NotAllowed(f"Only managers of this workspace can {what}.", hint="Ask one of them.")

    def example(self, words: str) -> str:
        """A command as it is typed on this platform."""
        return f"`{texts.typed(self.place.platform, words)}`"
