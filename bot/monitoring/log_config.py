"""Configure logging to stderr: silent for commands, JSON lines for a server, which nobody can fill."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from engine import Clock

MAX_WARNINGS, WARNING_SECONDS = 30, 60.0  # of one event, and the time in which they are counted
MAX_EVENTS = 1000  # that are counted
LIMITED_LEVELS = frozenset({"warning", "error", "critical", "exception"})


class LogLimiter:
    """Lets through so many warnings of one event in some time; the next one says how many were not shown."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._counts: dict[str, tuple[float, int]] = {}  # the start of the time, and the number since then

    def count(self, event: str) -> int | None:
        """Count a warning: None if it is not to be shown, else the number of those before it that were not."""
        now = self._clock.monotonic()
        began, number = self._counts.get(event, (now, 0))
        hidden = 0
        if now - began >= WARNING_SECONDS:
            began, number, hidden = now, 0, max(0, number - MAX_WARNINGS)
        elif event not in self._counts and len(self._counts) >= MAX_EVENTS:
            self._counts.clear()
        self._counts[event] = began, number + 1
        return hidden if number < MAX_WARNINGS else None

    def process(self, _: Any, method: str, values: structlog.typing.EventDict) -> structlog.typing.EventDict:
        """Limit the events of structlog; one that is not to be shown is dropped."""
        if method not in LIMITED_LEVELS:
            return values
        hidden = self.count(str(values.get("event")))
        if hidden is None:
            raise structlog.DropEvent
        return {**values, "suppressed": hidden} if hidden else values

    def filter(self, record: logging.LogRecord) -> bool:
        """Limit the records of libraries, by where they are logged."""
        hidden = self.count(f"{record.name}:{record.lineno}")
        if hidden:
            record.msg = f"{record.msg} ({hidden} more like this were not shown)"
        return hidden is not None


@dataclass(frozen=True, slots=True)
class TimestampAdder:
    """Adds the time of the clock to events: in UTC, or `readable` in the time zone of the machine."""

    clock: Clock
    readable: bool

    def process(self, _: Any, __: str, values: structlog.typing.EventDict) -> structlog.typing.EventDict:
        """Add the time."""
        now = self.clock.now()
        time = f"{now.astimezone():%Y-%m-%d %H:%M:%S}" if self.readable else f"{now.replace(tzinfo=None).isoformat()}Z"
        return {**values, "timestamp": time}


def configure_logging(clock: Clock, *, debug: bool, serving: bool = False) -> None:
    """Log everything (`debug`), info and above (`serving`), or only critical events.

    A server logs one JSON line per event, or readable lines on a terminal; of what libraries log it shows warnings.
    Warnings and errors of a server are limited in number. Tracebacks never include the values of variables, because
    these may hold keys and document text.
    """
    limiter = LogLimiter(clock)
    level = logging.DEBUG if debug else logging.INFO if serving else logging.CRITICAL
    readable = not serving or sys.stderr.isatty()
    structlog.configure(
        processors=[
            *([limiter.process] if serving and not debug else []),
            structlog.processors.add_log_level,
            TimestampAdder(clock, readable=readable).process,
            *(_console_processors() if readable else _json_processors()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    if serving:
        _limit_libraries(limiter)


def _limit_libraries(limiter: LogLimiter) -> None:
    """Show warnings of libraries as Python does without a configuration, limited in number."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.addFilter(limiter.filter)
    logging.basicConfig(handlers=[handler], format="%(message)s", force=True)


def _console_processors() -> list[Any]:
    return [
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
    ]


def _json_processors() -> list[Any]:
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
