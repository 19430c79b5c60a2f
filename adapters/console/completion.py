"""Complete slash commands and search filters while a line is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.completion import Completer, Completion

from adapters.console.commands import COMMANDS
from bot.capabilities.requests import ListFilterNames
from bot.capabilities.results import FilterNames
from bot.settings import find_local_zone
from bot.text.format import find_zone_or_utc
from bot.text.search_filters import format_filter, match_typed, suggest_times
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from bot.cli.chat.session import ChatSession
    from engine import Clock

MAX_COMPLETIONS = 25
NAMES_SECONDS = 10.0  # for which names are cached
FILTERS = ("in", "from", "after", "before", "has")


class ChatCompleter(Completer):
    """Completes commands at the start of a line, and the filters of a question in its last word."""

    def __init__(self, session: ChatSession, clock: Clock) -> None:
        self._session = session
        self._clock = clock
        self._names = FilterNames((), ())
        self._listed_at = -NAMES_SECONDS

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        raise NotImplementedError("The names are looked up asynchronously.")

    async def get_completions_async(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - of the base class
    ) -> AsyncGenerator[Completion, None]:
        """The completions of the text before the cursor."""
        line = document.text_before_cursor
        word = line.rpartition(" ")[2]
        found = list_commands(line) if line.startswith("/") else await self._complete_filter(word)
        typed = line if line.startswith("/") else word
        for command in found[:MAX_COMPLETIONS]:
            yield Completion(command, start_position=-len(typed))

    async def _complete_filter(self, word: str) -> list[str]:
        name, colon, typed = word.partition(":")
        if not colon:
            return [f"{filter_}:" for filter_ in FILTERS if word and filter_.startswith(word)]
        if name in {"after", "before"}:
            return [
                f"{name}:{time}"
                for time in suggest_times(typed, self._clock.now().astimezone(find_zone_or_utc(find_local_zone())))
            ]
        if name == "has":
            return ["has:file"] if "file".startswith(typed) else []
        names = await self._list_names() if name in FILTERS else FilterNames((), ())
        listed = match_typed(names.channels if name == "in" else names.authors, typed, MAX_COMPLETIONS)
        return [format_filter(name, text) for text in listed]

    async def _list_names(self) -> FilterNames:
        """The names in the chat's space; those of before if the service fails."""
        if self._clock.monotonic() - self._listed_at >= NAMES_SECONDS:
            self._listed_at = self._clock.monotonic()
            try:
                async for event in self._session.perform(ListFilterNames()):
                    self._names = event if isinstance(event, FilterNames) else self._names
            except EngineError:
                return self._names
        return self._names


def list_commands(line: str) -> list[str]:
    """The slash commands that start with a line."""
    return [f"/{name}" for name in COMMANDS if f"/{name}".startswith(line)]
