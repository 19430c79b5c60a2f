"""A conversation at a screen: each question knows what was said before it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.admin.requests import Ask
from bot.admin.results import AnswerDelta, AnswerEnd
from engine import ChatTurn

if TYPE_CHECKING:
    from bot.admin.rpc.service import AdminService
    from bot.cli.render.console import Screen
    from engine import RetrievalMode, Source

MAX_TURNS = 20  # remembered; older ones are forgotten
_CITATION = re.compile(r" ?\[\d+\]")


class ChatSession:
    """Asks a service and shows what it answers; `sources` are those of the last answer."""

    def __init__(self, service: AdminService, screen: Screen, space: str, mode: RetrievalMode) -> None:
        self.service = service
        self.screen = screen
        self.space = space
        self.mode: RetrievalMode = mode
        self.history: tuple[ChatTurn, ...] = ()
        self.sources: tuple[Source, ...] = ()

    async def ask(self, text: str) -> None:
        """Show the answer to the next question. One that is broken off is not remembered."""
        request = Ask(text, (self.space,), mode=self.mode, history=self.history)
        seen = await self.screen.show(self.service.perform(request))
        said = "".join(event.text for event in seen if isinstance(event, AnswerDelta))
        self.sources = next((event.sources for event in seen if isinstance(event, AnswerEnd)), ())
        # The numbers of this answer mean other passages in the next one.
        turns = (ChatTurn("user", text), ChatTurn("assistant", _CITATION.sub("", said)))
        self.history = (*self.history, *turns)[-MAX_TURNS:]

    def reset(self) -> None:
        """Forget what was said so far."""
        self.history, self.sources = (), ()
