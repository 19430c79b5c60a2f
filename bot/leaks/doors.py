"""Ask through the installed doors, each of which knows its own routes, pages and tools."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from bot.leaks.canaries import may_read
from bot.plugins import DOOR_GROUP
from bot.rpc.service import LocalService

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from bot.leaks.askers import LeakAsker
    from bot.leaks.probing import PlantedStore
    from bot.rpc.service import AdminService
    from engine import Clock

DOOR_WORDS = ("name", "text", "room", "key", "answer", "link")  # link: of a shared answer
NO_REPLIES = "Its package has no function `read_replies`."


class DoorReader(Protocol):
    """Asks a door everything that reads; `read_replies` of the package whose entry point the door is."""

    def __call__(
        self, service: AdminService, clock: Clock, token: str, words: Mapping[str, Sequence[str]]
    ) -> AsyncIterator[tuple[str, str, str]]:
        """Yield the surface, what was asked and what came of it. `words`: to ask about, by DOOR_WORDS."""


def list_doors() -> list[tuple[str, DoorReader | None]]:
    """The installed doors by name, with what asks them; None if nothing does."""
    doors = sorted(entry_points(group=DOOR_GROUP), key=lambda door: door.name)
    return [(door.name, getattr(import_module(door.module), "read_replies", None)) for door in doors]


class DoorProbes:
    """Tries each door with an asker's token."""

    def __init__(self, store: PlantedStore, asker: LeakAsker, token: str) -> None:
        self._store = store
        self._asker = asker
        self._token = token

    async def run(self) -> None:
        """Ask about the text for everybody, and about each planted one."""
        service = LocalService(self._store.bot.deps)
        for name, read in list_doors():
            if read is None:
                self._store.report.untried[f"door {name}"] = NO_REPLIES
                continue
            async for surface, asked, reply in read(service, service.clock, self._token, self._list_words()):
                self._store.scan(f"{name}: {surface}", self._asker, asked, reply)

    def _list_words(self) -> dict[str, list[str]]:
        bait, channel = self._store.bait, self._store.bait.find_channel(self._asker)
        room = channel.location.room if channel else self._asker.subject.space
        hidden = [canary for canary in self._store.canaries if not may_read(self._asker, canary)]
        hidden = hidden[:1] if self._asker.is_shut_out else hidden
        return {
            "name": [bait.name, *(canary.name for canary in hidden)],
            "text": [f"Who met {bait.name}?", *(f"What does {canary.name} keep?" for canary in hidden)],
            "room": [room, *(canary.room for canary in hidden)],
            "key": [
                f"{room}:file:{bait.code}",
                *(canary.key for canary in hidden),
                *(canary.title for canary in hidden),
            ],
            "answer": [canary.answer for canary in hidden],
            "link": [canary.link for canary in hidden],
        }
