"""Render access tokens for the terminal. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from bot.text.format import format_utc
from bot.text.terminal import strip_control_chars

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType

    from bot.capabilities.results import TokenCreated, TokenList


SHOWN_ONCE = "Keep it now: it is not stored and will not be shown again."
OF_PERSON = "Whoever has it acts with the rights of this person: hand it to them alone."


def render_new_token(event: TokenCreated) -> RenderableType:
    """A new token in a line of its own, and what it permits."""
    token = event.token
    what = strip_control_chars(f"{token.name} ({token.id}) for {token.subject}: {', '.join(token.permissions)}")
    warning = [] if token.subject.space else [Text(OF_PERSON, "yellow")]
    about = Text(f"{what}\n{_describe_end(token.id, token.expires_at)}\n{SHOWN_ONCE}", "dim")
    return Group(Text(event.text, overflow="fold"), *warning, about)


def _describe_end(id_: str, time: datetime | None) -> str:
    """The end of a token, and how to end it before."""
    end = f"It expires on {format_utc(time)}" if time else "It never expires (`--days 90` sets an end)"
    return f"{end}; `threadlore token revoke {id_}` ends it."


def render_tokens(event: TokenList) -> RenderableType:
    """All tokens as a table; a sentence if there are none."""
    if not event.tokens:
        return Text("There are no access tokens. `threadlore token create NAME` makes one.")
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in ("id", "name", "for", "permits", "last used", "expires"):
        table.add_column(heading, overflow="fold")
    for token in event.tokens:
        words = (token.id, token.name, str(token.subject), ", ".join(token.permissions))
        table.add_row(*map(strip_control_chars, words), _format_time(token.used_at), _format_time(token.expires_at))
    return table


def _format_time(time: datetime | None) -> str:
    return format_utc(time) if time else "never"
