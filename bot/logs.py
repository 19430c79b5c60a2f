"""What is logged, and where: on stderr, and only if asked for, since a person is told in words what matters."""

from __future__ import annotations

import logging
import sys

import structlog


def set_up(*, debug: bool) -> None:
    """Log everything, or nothing that somebody could do without."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if debug else logging.CRITICAL),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
