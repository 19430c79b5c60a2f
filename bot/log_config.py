"""What is logged, on stderr: a command tells its person in words what matters, a server tells its operator."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog


def configure_logging(*, debug: bool, serving: bool = False) -> None:
    """Log everything (`debug`), what an operator wants to know (`serving`), or nothing that one could do without.

    A server logs a line of JSON an event, unless somebody sits before it. Of an exception the lines of code are shown,
    never the values of variables: keys and documents lie in them.
    """
    level = logging.DEBUG if debug else logging.INFO if serving else logging.CRITICAL
    told = not serving or sys.stderr.isatty()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S", utc=False)
            if told
            else structlog.processors.TimeStamper(fmt="iso", utc=True),
            *(_console_processors() if told else _json_processors()),
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
