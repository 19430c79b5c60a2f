"""Configure logging to stderr: silent for commands, JSON lines for a server."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog


def configure_logging(*, debug: bool, serving: bool = False) -> None:
    """Log everything (`debug`), info and above (`serving`), or only critical events.

    A server logs one JSON line per event, or readable lines on a terminal. Tracebacks never include the values of
    variables, because these may hold keys and document text.
    """
    level = logging.DEBUG if debug else logging.INFO if serving else logging.CRITICAL
    readable = not serving or sys.stderr.isatty()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S", utc=False)
            if readable
            else structlog.processors.TimeStamper(fmt="iso", utc=True),
            *(_console_processors() if readable else _json_processors()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _console_processors() -> list[Any]:
    return [
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
    ]


def _json_processors() -> list[Any]:
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
