"""Bound the CPU time of a parser by the size of its file: a small one that takes long was made to."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.parsers.base import ParserLimits

_SMALL_FILE_SECONDS, _SECONDS_PER_MIB = 10.0, 3.0  # ten times what real files take
_THREADS = 2


def limit_cpu_time(size: int, limits: ParserLimits) -> None:
    """Limit the CPU time from now until the next document of a file of `size` bytes.

    Beyond it the kernel ends this process, an orphaned one, too.
    """
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  - not available on Windows

        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime + budget_seconds(size, limits)) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def budget_seconds(size: int, limits: ParserLimits) -> float:
    """The CPU seconds for a document of a file of `size` bytes, at most those of the time limit."""
    return min(_SMALL_FILE_SECONDS + _SECONDS_PER_MIB * size / 2**20, _THREADS * limits.timeout_seconds)


@contextmanager
def extend_cpu_time(limits: ParserLimits) -> Iterator[None]:
    """Let programs that are started meanwhile take the time limit: they recognize the text of small pictures."""
    if sys.platform == "win32":
        yield
        return
    import resource  # noqa: PLC0415  - not available on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if soft == resource.RLIM_INFINITY:
        yield
        return
    resource.setrlimit(resource.RLIMIT_CPU, (soft + int(_THREADS * limits.timeout_seconds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
