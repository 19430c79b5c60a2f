"""Render the audit log for the terminal. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from bot.text.format import format_utc, pluralize
from bot.text.terminal import strip_control_chars

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bot.capabilities.maintenance.requests import AuditList
    from bot.capabilities.results import VerifyResult


HEADINGS = ("no.", "time", "who", "door", "action", "about", "where", "details")
UNTRUSTED = "What the log says from there on cannot be trusted. A backup may hold the original."


def render_audit(event: AuditList) -> RenderableType:
    """The entries as a table, and the end of the chain below it."""
    if not event.entries:
        return Text("There are no such entries.")
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, overflow="fold")
    for entry in event.entries:
        what, where = f"{entry.action} ({entry.state})", entry.place or entry.workspace
        words = (entry.who, entry.door, what, entry.about, where, entry.details if entry.details != "{}" else "")
        table.add_row(str(entry.number), format_utc(entry.time), *map(strip_control_chars, words))
    return Group(table, Text(f"The last entry is number {event.head} with the hash {event.head_hash}.", "dim"))


def render_audit_check(event: VerifyResult) -> list[RenderableType]:
    """Whether the chain of the log is whole; nothing if there is no log yet."""
    if event.audit_problem:
        return [Text(f"The audit log is broken: {event.audit_problem}. {UNTRUSTED}", "red")]
    if not event.audit_entries:
        return []
    return [Text(f"The audit log is whole ({pluralize(event.audit_entries, 'entry')}).", "green")]
