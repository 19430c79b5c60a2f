"""A conversation in the terminal: each question is asked with the previous turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.requests import Ask, AtSpace
from bot.capabilities.results import AnswerDelta, AnswerEnd
from engine import ChatTurn
from engine.models import CitedSource

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.requests import OperationRequest
    from bot.capabilities.results import OperationResult
    from bot.cli.render.console import Screen
    from bot.rpc.service import AdminService
    from engine import RetrievalMode, Source

MAX_TURNS = 20  # older turns are dropped


class ChatSession:
    """Asks a service and shows its answers. `sources` belong to the last answer; `zone`: IANA name of the time zone."""

    def __init__(self, service: AdminService, screen: Screen, space: str, mode: RetrievalMode, zone: str = "") -> None:
        self.service = service
        self.screen = screen
        self.space = space
        self.mode: RetrievalMode = mode
        self.zone = zone
        self.history: tuple[ChatTurn, ...] = ()
        self.sources: tuple[Source, ...] = ()

    async def ask(self, text: str) -> None:
        """Ask the next question and show its answer; an interrupted answer is not added to the history."""
        request = Ask(text, mode=self.mode, history=self.history, zone=self.zone)
        results = await self.screen.show(self.perform(request))
        answer = "".join(event.text for event in results if isinstance(event, AnswerDelta))
        self.sources = next((event.sources for event in results if isinstance(event, AnswerEnd)), ())
        cited = (CitedSource(source.number, source.document, source.passage, source.title) for source in self.sources)
        turns = (ChatTurn("user", text), ChatTurn("assistant", answer, tuple(cited)))
        self.history = (*self.history, *turns)[-MAX_TURNS:]

    def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        """The results of a request at the space of the conversation."""
        return self.service.perform(AtSpace(self.space, request))

    def reset(self) -> None:
        """Clear the history."""
        self.history, self.sources = (), ()
