"""The number of connections of a listener, within the limit of the process on open files."""

from __future__ import annotations

import resource

from bot.listeners.admission import Budget

HEAD_SECONDS = 10.0  # for the head of a request, and for which a connection may be idle


def plan_connections(wanted: int, part: float) -> Budget:
    """A budget of connections: at most `wanted`, and at most this part of the files that the process may open.

    One address has half of them.
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    total = wanted if files == resource.RLIM_INFINITY else max(1, min(wanted, int(files * part)))
    return Budget(total, max(1, total // 2))
