"""The rows of the table of capabilities that are about sources outside of the chat."""

from __future__ import annotations

from bot.capabilities.row import Capability, Surface, Who
from bot.capabilities.sources import requests as sources

KEPT = (
    "The terminal adds sources of every kind, for any place; others the kinds that the operator allows, for what they"
    " manage. Only the terminal waits until a source is read."
)
_ROWS = (
    ("list-sources", sources.ListSources, "sources outside of the chat that are read"),
    ("add-source", sources.AddSource, "have a website read"),
    ("remove-source", sources.RemoveSource, "remove a source and forget its documents"),
    ("sync-source", sources.SyncSource, "read a source now"),
    ("pause-source", sources.PauseSource, "read a source no longer, or again"),
    ("list-unread-items", sources.ListUnreadItems, "what of a source was not read"),
)
SOURCE_ROWS = tuple(
    Capability(
        name,
        request,
        f".sources.operations:{name.replace('-', '_')}",
        Surface.CHAT | Surface.CLI | Surface.HTTP | Surface.PAGE,
        Who.MANAGER,
        "manage",
        summary=summary,
        derived=Surface.HTTP,
        kept=KEPT,
    )
    for name, request, summary in _ROWS
)
