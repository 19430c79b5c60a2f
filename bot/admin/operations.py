"""The verbs: each works on one kind of request over an open engine, and tells by events how it goes.

The same code runs for a command alone, for the conversation in a terminal, and for commands beside a running program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.admin import corrections, maintenance, queries, requests, status
from bot.admin.ingest import ingest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from bot.admin.requests import Request
    from bot.admin.results import Event
    from bot.engine_context import Desk

VERBS: Mapping[type, Callable[[Desk, Any], AsyncGenerator[Event]]] = {
    requests.Ask: queries.ask,
    requests.Ingest: ingest.ingest,
    requests.Tell: status.tell,
    requests.Catalogue: status.catalogue,
    requests.Look: status.look,
    requests.Forget: maintenance.forget,
    requests.Merge: corrections.merge,
    requests.Pin: corrections.pin,
    requests.Hide: corrections.hide,
    requests.State: corrections.state,
    requests.Rebuild: maintenance.rebuild,
    requests.Verify: maintenance.verify,
    requests.Export: maintenance.export,
    requests.Backup: maintenance.backup,
    requests.Retry: maintenance.retry,
}


def work_on(desk: Desk, request: Request) -> AsyncGenerator[Event]:
    """What happens while the request is worked on; failures are raised as EngineError."""
    return VERBS[type(request)](desk, request)
