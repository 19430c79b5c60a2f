"""What the commands are about, in whose order `threadlore --help` lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import typer
    from typer.models import CommandInfo, TyperInfo

PANELS: Mapping[str, tuple[str, ...]] = {
    "Start": ("init", "demo", "serve", "setup", "doctor", "check"),
    "Questions": (
        *("chat", "ask", "retrieve", "prompt", "history", "decisions", "faq", "watch", "watches", "unwatch"),
        *("contradictions", "settle-contradiction", "dismiss-contradiction"),
    ),
    "Documents": (
        *("ingest", "import", "source", "documents", "status", "readers", "retry"),
        *("forget", "forget-workspace", "receipts", "retention"),
    ),
    "Graph": ("graph", "duplicates", "correct"),
    "Data and operation": (
        *("backup", "restore", "backup-key", "export", "verify", "reindex", "usage", "health"),
        *("token", "mcp", "audit", "audit-log"),
    ),
}
_PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names}
_PLACE_OF = {name: place for place, name in enumerate(_PANEL_OF)}


def sort_into_panels(app: typer.Typer) -> None:
    """Sort the commands by what they are about; those of others stay at the end."""
    for command in app.registered_commands:
        command.name = command.name or command.callback.__name__  # type: ignore[union-attr]
    app.registered_commands.sort(key=lambda command: _PLACE_OF.get(str(command.name), len(_PLACE_OF)))
    infos: list[CommandInfo | TyperInfo] = [*app.registered_commands, *app.registered_groups]
    for info in infos:
        if panel := _PANEL_OF.get(str(info.name)):
            info.rich_help_panel = panel
