"""The row of the table of capabilities that is about readers."""

from __future__ import annotations

from bot.capabilities.readers import requests as readers
from bot.capabilities.row import Capability, Surface

KEPT = (
    "The chat names a document, and a channel by being there; its answers are for those who see them. A page says it"
    " where something is uploaded, connected, shared or shown."
)
READER_ROWS = (
    Capability(
        "readers",
        readers.FindReaders,
        ".readers.operations:find_readers",
        Surface.CHAT | Surface.CLI | Surface.HTTP | Surface.MCP | Surface.PAGE,
        permission="read",
        summary="who could find something",
        derived=Surface.HTTP | Surface.MCP,
        kept=KEPT,
    ),
)
