"""The verbs: each works on one kind of request over an open engine, and tells by events how it goes.

The same code runs for a command alone, for the conversation in a terminal, and for commands beside a running program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot import requests
from bot.verbs import asking, correcting, ingesting, keeping, telling

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from bot.desk import Desk
    from bot.events import Event
    from bot.requests import Request

VERBS: Mapping[type, Callable[[Desk, Any], AsyncGenerator[Event]]] = {
    requests.Ask: asking.ask,
    requests.Ingest: ingesting.ingest,
    requests.Tell: telling.tell,
    requests.Catalogue: telling.catalogue,
    requests.Look: telling.look,
    requests.Forget: keeping.forget,
    requests.Merge: correcting.merge,
    requests.Pin: correcting.pin,
    requests.Hide: correcting.hide,
    requests.State: correcting.state,
    requests.Rebuild: keeping.rebuild,
    requests.Verify: keeping.verify,
    requests.Export: keeping.export,
    requests.Backup: keeping.backup,
    requests.Retry: keeping.retry,
}


def work_on(desk: Desk, request: Request) -> AsyncGenerator[Event]:
    """What happens while the request is worked on; failures are raised as EngineError."""
    return VERBS[type(request)](desk, request)
