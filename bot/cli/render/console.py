"""Show the results of a request in the terminal: progress bars, streamed answers, sources, tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column
from rich.text import Text

from bot import texts
from bot.capabilities import results
from bot.capabilities.access.hints import UNDATED_NOTICE, list_as_of_notices
from bot.capabilities.decisions.requests import DecisionList
from bot.capabilities.erasure.words import say_receipt
from bot.capabilities.history.requests import HistoryResult
from bot.capabilities.ingest.progress_text import NARROW, RemainingTime, describe_progress, describe_time
from bot.capabilities.maintenance.requests import AuditList
from bot.capabilities.management.results import HealthReport, UsageReport
from bot.cli.render import import_report, tables
from bot.cli.render.audit import render_audit
from bot.cli.render.decisions import render_decisions, render_history
from bot.cli.render.duplicates import render_duplicates
from bot.cli.render.estimates import render_estimate
from bot.cli.render.management import render_health, render_source_report, render_usage
from bot.cli.render.tokens import render_new_token, render_tokens
from bot.i18n import gettext
from bot.text.terminal import LineWrapper, strip_control_chars

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from rich.console import RenderableType

    from bot.capabilities.results import (
        AnswerDelta,
        AnswerEnd,
        Completed,
        DocumentList,
        OperationResult,
        ProgressUpdate,
    )
    from bot.settings import Settings
    from engine import Clock
    from engine.errors import EngineError

PROGRESS_INTERVAL_SECONDS = 10.0  # between two progress lines without a terminal
MAX_WIDTH = 100  # columns of streamed text
BAR_WIDTH = 80  # columns from which on there is room for a bar
CITATION = r"\[\d+\]"

HINT = (
    "Without a language model, answers quote your documents. To have them written by a model, run `threadlore init`, "
    "or set THREADLORE_LLM_MODEL and its API key (see `.env.example`). This hint is shown only once."
)
HINT_FILE = ".model-hint-shown"


class Screen:
    """Shows results on `out` and progress on `err`; without a terminal, no colors and no progress bars.

    `hint` returns a line to show on `err` below an answer with sources, or "".
    """

    def __init__(
        self,
        clock: Clock,
        out: Console | None = None,
        err: Console | None = None,
        hint: Callable[[], str] = lambda: "",
    ) -> None:
        self._clock = clock
        self.out = out or Console(highlight=False)
        self.err = err or Console(stderr=True, highlight=False)
        self._hint = hint
        self._wrap = LineWrapper(0)
        self._bars: _ProgressBars | None = None
        self._handlers: Mapping[type, Callable[[Any], None]] = {
            results.AnswerDelta: self._show_delta,
            results.AnswerEnd: self._show_answer_end,
            results.ProgressUpdate: self._show_progress,
            results.DocumentList: self._show_documents,
            results.ExportLine: lambda event: self.out.out(event.text, highlight=False),
        }

    async def show(self, stream: AsyncGenerator[OperationResult]) -> list[OperationResult]:
        """Show results as they arrive, and return all of them, progress and text pieces included."""
        self._wrap = LineWrapper(min(self.out.width, MAX_WIDTH) if self.out.is_terminal else 0)
        return await self._collect(stream, self._show_result)

    async def collect(self, stream: AsyncGenerator[OperationResult]) -> list[OperationResult]:
        """Show only progress, and return all results."""

        def show(event: OperationResult) -> None:
            if isinstance(event, results.ProgressUpdate):
                self._show_progress(event)

        return await self._collect(stream, show)

    async def _collect(
        self, stream: AsyncGenerator[OperationResult], show: Callable[[OperationResult], None]
    ) -> list[OperationResult]:
        collected: list[OperationResult] = []
        try:
            async with aclosing(stream):
                async for event in stream:
                    show(event)
                    collected.append(event)
        finally:
            self._stop_bars()
        return collected

    def show_error(self, error: EngineError) -> None:
        """Show the message in red, and the hint."""
        self.err.print(Text(strip_control_chars(str(error)), "red"), soft_wrap=True)
        if error.hint:
            self.err.print(Text(strip_control_chars(error.hint), "dim"), soft_wrap=True)

    def _show_result(self, event: OperationResult) -> None:
        if not isinstance(event, results.ProgressUpdate):
            self._stop_bars()
        if isinstance(event, results.Completed):
            self._show_completed(event)
        elif handler := self._handlers.get(type(event)):
            handler(event)
        elif render := RENDERERS.get(type(event)):
            self.out.print(render(event))

    def _show_delta(self, event: AnswerDelta) -> None:
        self._write(self._wrap.feed(strip_control_chars(event.text)))

    def _show_completed(self, event: Completed) -> None:
        if isinstance(event, results.ReceiptFound):
            self.out.out(json.dumps(dict(event.receipt), sort_keys=True, indent=2), highlight=False)
            return
        self.out.print(tables.safe_text(event.text), soft_wrap=not self.out.is_terminal)
        if isinstance(event, results.Erased | results.Forgotten) and event.receipt:
            self.out.print(tables.safe_text(say_receipt(event.receipt)), soft_wrap=True)
        if isinstance(event, results.Corrected) and event.undo:
            self.out.print(f"To undo it: threadlore correct undo {event.undo}", soft_wrap=True)

    def _show_documents(self, event: DocumentList) -> None:
        if tables.fits_width(event, self.out.width):
            self.out.print(tables.render_documents(event))
        else:
            self.out.print(tables.render_document_list(event), soft_wrap=True)

    def _show_answer_end(self, event: AnswerEnd) -> None:
        self._write(self._wrap.finish() + "\n")
        if event.cut_off:
            notice = (
                gettext(texts.ANSWER_FILTERED)
                if event.filtered
                else f"{gettext(texts.ANSWER_CUT_OFF)} {tables.OUTPUT_LIMIT_HINT}"
            )
            self.out.print(Text(notice, "yellow"))
        if event.sources:
            self.out.print()
            self.out.print(tables.render_sources(event.sources))
            if hint := self._hint():
                self.err.print(Text(hint, "dim"), soft_wrap=True)
        for notice in list_as_of_notices(event.as_of):
            self.out.print(Text(notice, "yellow"))
        if event.undated:
            self.out.print(Text(UNDATED_NOTICE, "yellow"))
        for notice in texts.list_span_notices(truncated=event.truncated, since=event.since):
            self.out.print(Text(notice, "yellow"))
        if event.rebuilding:
            self.out.print(Text(gettext(texts.REBUILDING), "yellow"))
        for notice in texts.list_helper_notices(event.failed_helpers):
            self.out.print(Text(notice, "yellow"))
        if usage := tables.format_usage(event.usage):
            self.out.print(Text(usage, "dim"))

    def _write(self, text: str) -> None:
        if text:
            styled = Text(text)
            styled.highlight_regex(CITATION, "cyan")
            self.out.print(styled, end="", soft_wrap=True)
            self.out.file.flush()

    def _show_progress(self, event: ProgressUpdate) -> None:
        if self._bars is None:
            self._bars = _ProgressBars(self.err, self._clock)
        self._bars.show(event)

    def _stop_bars(self) -> None:
        if self._bars is not None:
            self._bars.stop()
            self._bars = None


RENDERERS: Mapping[type, Callable[[Any], RenderableType]] = {
    results.ContextResult: tables.render_context,
    results.PromptResult: tables.render_prompt,
    results.IngestResult: tables.render_ingest,
    results.HistoryImportResult: import_report.render_import,
    results.SourceReport: render_source_report,
    results.EstimateResult: render_estimate,
    results.StatusResult: tables.render_status,
    results.EntityResult: tables.render_entity,
    results.DuplicatesResult: render_duplicates,
    results.VerifyResult: tables.render_verification,
    results.Listing: tables.render_listing,
    HistoryResult: render_history,
    DecisionList: render_decisions,
    AuditList: render_audit,
    UsageReport: render_usage,
    HealthReport: render_health,
    results.TokenCreated: render_new_token,
    results.TokenList: render_tokens,
}


class _ProgressBars:
    """One line per stage on a terminal, with a bar where there is room; otherwise a line every few seconds.

    Both say what is done, how much of it, and about how long the rest takes.
    """

    def __init__(self, console: Console, clock: Clock) -> None:
        self._console = console
        self._clock = clock
        self._stages: dict[str, Any] = {}
        self._last: ProgressUpdate | None = None
        self._last_trouble = ""
        self._started_at = self._printed_at = clock.monotonic()
        self._time = RemainingTime()
        bars = [BarColumn(16)] if console.width >= BAR_WIDTH else []
        line = TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis"))
        self._progress = Progress(*bars, line, console=console, get_time=clock.monotonic)
        if console.is_terminal:
            self._progress.start()

    def show(self, event: ProgressUpdate) -> None:
        """Show the progress of a stage."""
        if self._last is None or self._last.stage != event.stage:
            self._end_stage()
            self._started_at = self._printed_at = self._clock.monotonic()
        self._last = event
        line = self._describe(event)
        if self._console.is_terminal:
            total, shown = event.total or None, escape(line)
            if event.stage not in self._stages:
                self._stages[event.stage] = self._progress.add_task(shown, total=total)
            self._progress.update(self._stages[event.stage], completed=event.done, total=total, description=shown)
        else:
            self._print_progress(event, line)
        if event.trouble and event.trouble != self._last_trouble:
            self._last_trouble = event.trouble
            self._console.print(Text(f"waiting: {strip_control_chars(event.trouble)}", "yellow"), soft_wrap=True)

    def _print_progress(self, event: ProgressUpdate, line: str) -> None:
        """Print a line unless the last one is recent."""
        now = self._clock.monotonic()
        if event.total and now - self._printed_at >= PROGRESS_INTERVAL_SECONDS:
            self._printed_at = now
            self._console.print(Text(f"{line} ({now - self._started_at:.0f} s so far)"), soft_wrap=True)

    def _describe(self, event: ProgressUpdate) -> str:
        """What is done, how much of it, and how long the rest takes, or what it consists of."""
        width = self._console.width if self._console.is_terminal else NARROW
        line = describe_progress(event.stage, event.done, event.total, width=width)
        left = event.left or event.total - event.done
        seconds = self._time.estimate(event.stage, left, self._clock.monotonic())
        rest = describe_time(seconds) if seconds is not None else ""
        if not rest and width >= NARROW:
            rest = strip_control_chars(event.remaining)
        return f"{line}, {rest}" if rest else line

    def stop(self) -> None:
        """Stop the progress display; later output goes below it."""
        self._end_stage()
        if self._console.is_terminal:
            self._progress.stop()

    def _end_stage(self) -> None:
        if self._last is not None and not self._console.is_terminal and self._last.total:
            seconds = self._clock.monotonic() - self._started_at
            line = f"{describe_progress(self._last.stage, self._last.done, self._last.total)}, {seconds:.1f} s"
            self._console.print(line, soft_wrap=True)
        self._last = None


def model_hint(settings: Settings) -> str:
    """The hint, or "" if it was shown before; a file in the data directory records that."""
    marker = settings.data_path / HINT_FILE
    if settings.llm_model or marker.exists():
        return ""
    with suppress(OSError):  # the hint is shown again next time
        marker.touch()
    return HINT
