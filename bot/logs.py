"""What is logged, and where: on stderr, and only if asked for, since a person is told in words what matters."""

from __future__ import annotations

import logging
import sys

import structlog


def set_up(*, debug: bool) -> None:
    """Log everything, or nothing that somebody could do without.

    Of an exception the lines of code are shown, never the values of variables: keys and documents lie in them.
    """
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S", utc=False),
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if debug else logging.CRITICAL),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
