"""A conversation at a screen: each question knows what was said before it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.admin.requests import Ask
from bot.admin.results import Cited, Said
from engine.models import Turn

if TYPE_CHECKING:
    from bot.admin.rpc.service import Service
    from bot.cli.render.console import Screen
    from engine.models import Mode, Source

TURNS = 20  # remembered; older ones are forgotten
_MARK = re.compile(r" ?\[\d+\]")


class Dialogue:
    """Asks a service and shows what it answers; `sources` are those of the last answer."""

    def __init__(self, service: Service, screen: Screen, space: str, mode: Mode) -> None:
        self.service = service
        self.screen = screen
        self.space = space
        self.mode: Mode = mode
        self.history: tuple[Turn, ...] = ()
        self.sources: tuple[Source, ...] = ()

    async def ask(self, text: str) -> None:
        """Show the answer to the next question. One that is broken off is not remembered."""
        request = Ask(text, (self.space,), mode=self.mode, history=self.history)
        seen = await self.screen.show(self.service.perform(request))
        said = "".join(event.text for event in seen if isinstance(event, Said))
        self.sources = next((event.sources for event in seen if isinstance(event, Cited)), ())
        # The numbers of this answer mean other passages in the next one.
        turns = (Turn("user", text), Turn("assistant", _MARK.sub("", said)))
        self.history = (*self.history, *turns)[-TURNS:]

    def start_anew(self) -> None:
        """Forget what was said so far."""
        self.history, self.sources = (), ()
