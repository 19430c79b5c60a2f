"""What a person sees while a request is worked on: progress, a streamed answer, its sources, tables."""

from __future__ import annotations

import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from bot import texts
from bot.admin import results
from bot.cli.render import tables
from bot.text.terminal import Wrap, harmless

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from rich.console import RenderableType
    from rich.progress import Task

    from bot.admin.results import Advanced, Catalogued, Cited, Event, Said
    from engine.errors import EngineError

EVERY = 10.0  # seconds between two lines that tell how far work is, where there is no terminal
WIDEST = 100  # columns: longer lines are hard to read
CITATION = r"\[\d+\]"


class Screen:
    """Shows events on `out`, and how far work is on `err`; without a terminal there are no colours and no movement.

    `hint` gives what is to be said below an answer with sources, on `err`; empty for nothing.
    """

    def __init__(
        self, out: Console | None = None, err: Console | None = None, hint: Callable[[], str] = lambda: ""
    ) -> None:
        self.out = out or Console(highlight=False)
        self.err = err or Console(stderr=True, highlight=False)
        self._hint = hint
        self._wrap = Wrap(0)
        self._bars: _Bars | None = None
        self._shown: Mapping[type, Callable[[Any], None]] = {
            results.Said: self._said,
            results.Cited: self._cited,
            results.Advanced: self._advanced,
            results.Catalogued: self._catalogued,
            results.Line: lambda event: self.out.out(event.text, highlight=False),
            results.Done: lambda event: self.out.print(tables.plain(event.text), soft_wrap=True),
        }

    async def show(self, stream: AsyncGenerator[Event]) -> list[Event]:
        """Show events as they come, and give them back, those of progress and pieces of text included."""
        seen: list[Event] = []
        self._wrap = Wrap(min(self.out.width, WIDEST) if self.out.is_terminal else 0)
        try:
            async with aclosing(stream):
                async for event in stream:
                    self._show(event)
                    seen.append(event)
        finally:
            self._stop_bars()
        return seen

    async def gather(self, stream: AsyncGenerator[Event]) -> list[Event]:
        """Show only how far the work is, and give back all that came."""
        seen: list[Event] = []
        try:
            async with aclosing(stream):
                async for event in stream:
                    if isinstance(event, results.Advanced):
                        self._advanced(event)
                    seen.append(event)
        finally:
            self._stop_bars()
        return seen

    def trouble(self, error: EngineError) -> None:
        """A sentence in red and a hint."""
        self.err.print(Text(harmless(str(error)), "red"), soft_wrap=True)
        if error.hint:
            self.err.print(Text(harmless(error.hint), "dim"), soft_wrap=True)

    def _show(self, event: Event) -> None:
        if not isinstance(event, results.Advanced):
            self._stop_bars()
        if shown := self._shown.get(type(event)):
            shown(event)
        elif drawn := DRAWN.get(type(event)):
            self.out.print(drawn(event))

    def _said(self, event: Said) -> None:
        self._write(self._wrap.feed(harmless(event.text)))

    def _catalogued(self, event: Catalogued) -> None:
        if tables.has_room(event, self.out.width):
            self.out.print(tables.catalogued(event))
        else:
            self.out.print(tables.listed(event), soft_wrap=True)

    def _cited(self, event: Cited) -> None:
        self._write(self._wrap.finish() + "\n")
        if event.cut_off:
            told = texts.FILTERED if event.filtered else f"{texts.CUT_OFF} {tables.ALLOW_MORE}"
            self.out.print(Text(told, "yellow"))
        if event.sources:
            self.out.print()
            self.out.print(tables.sources(event.sources))
            if hint := self._hint():
                self.err.print(Text(hint, "dim"), soft_wrap=True)
        if event.undated:
            self.out.print(Text(tables.UNDATED, "yellow"))
        if event.truncated:
            self.out.print(Text(texts.ONLY_NEWEST, "yellow"))
        if took := tables.spending(event.usage):
            self.out.print(Text(took, "dim"))

    def _write(self, text: str) -> None:
        if text:
            drawn = Text(text)
            drawn.highlight_regex(CITATION, "cyan")
            self.out.print(drawn, end="", soft_wrap=True)
            self.out.file.flush()

    def _advanced(self, event: Advanced) -> None:
        if self._bars is None:
            self._bars = _Bars(self.err)
        self._bars.show(event)

    def _stop_bars(self) -> None:
        if self._bars is not None:
            self._bars.stop()
            self._bars = None


DRAWN: Mapping[type, Callable[[Any], RenderableType]] = {
    results.Found: tables.found,
    results.Prompted: tables.prompted,
    results.Ingested: tables.ingested,
    results.Told: tables.told,
    results.Seen: tables.seen,
    results.Compared: tables.compared,
}


class _Rate(ProgressColumn):
    """How many a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.1f}/s" if speed and task.total else "", "dim")


class _Bars:
    """One bar a stage on a terminal; elsewhere a line now and then while it changes, and one when a stage ends."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._stages: dict[str, Any] = {}
        self._last: Advanced | None = None
        self._told = ""
        self._began = self._line = time.monotonic()
        self._progress = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(30),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(elapsed_when_finished=True),
            TextColumn("[dim]{task.fields[inside]}"),
            console=console,
        )
        if console.is_terminal:
            self._progress.start()

    def show(self, event: Advanced) -> None:
        """Draw how far a stage is."""
        if self._last is None or self._last.stage != event.stage:
            self._end_stage()
            self._began = self._line = time.monotonic()
        self._last = event
        if self._console.is_terminal:
            if event.stage not in self._stages:
                self._stages[event.stage] = self._progress.add_task(event.stage, total=event.total or None, inside="")
            inside = escape(harmless(event.inside))
            self._progress.update(
                self._stages[event.stage], completed=event.done, total=event.total or None, inside=inside
            )
        else:
            self._tell(event)
        if event.trouble and event.trouble != self._told:
            self._told = event.trouble
            self._console.print(Text(f"waiting: {harmless(event.trouble)}", "yellow"), soft_wrap=True)

    def _tell(self, event: Advanced) -> None:
        """A line, if the last one was long ago."""
        now = time.monotonic()
        if event.total and now - self._line >= EVERY:
            self._line = now
            inside = f" ({harmless(event.inside)})" if event.inside else ""
            told = f"{event.stage}: {event.done} of {event.total}{inside}, {now - self._began:.0f} s"
            self._console.print(Text(told), soft_wrap=True)

    def stop(self) -> None:
        """Leave what was drawn, and go on below it."""
        self._end_stage()
        if self._console.is_terminal:
            self._progress.stop()

    def _end_stage(self) -> None:
        if self._last is not None and not self._console.is_terminal and self._last.total:
            took = time.monotonic() - self._began
            told = f"{self._last.stage}: {self._last.done} of {self._last.total}, {took:.1f} s"
            self._console.print(told, soft_wrap=True)
        self._last = None
