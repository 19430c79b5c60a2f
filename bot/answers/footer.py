"""What stands below a finished answer: its sources, where it was drawn from, buttons. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import texts
from bot.platform.models import Button, Cited, Closing
from bot.store import Drawn
from bot.text.excerpts import called, cited_for, quote, shortened, unheaded

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from engine.models import Source

TITLE, WORDS = 100, 140  # characters

_MINUTE = "%Y-%m-%d %H:%M"
_LIVE = ("https://", "http://")


def drawn(source: Source, answer: str) -> Drawn:
    """A source as it is shown below an answer, and where it lies."""
    words = quote(unheaded(source.text), cited_for(answer, source.number), WORDS)
    return Drawn(
        source.number,
        shortened(texts.harmless(title(source)), TITLE),
        source.link if source.link.startswith(_LIVE) else "",
        texts.harmless(words),
        source.document,
        source.passage,
        source.space,
        source.room,
        said_at(source),
    )


def title(source: Source) -> str:
    """What a source is called: its document, the place in it, its date unless it is shown as an instant."""
    name, label = called(source.title, source.label)
    day = f"{source.time:%Y-%m-%d}" if source.time else ""
    if instant := said_at(source):
        return " · ".join(filter(None, (name, label.removesuffix(f"{instant:{_MINUTE}}").rstrip(", "))))
    return " · ".join(filter(None, (name, label, "" if day in label else day)))


def said_at(source: Source) -> datetime | None:
    """When a source was said, if it is a message; documents have a day at most."""
    return source.time if source.time and source.label.endswith(f"{source.time:{_MINUTE}}") else None


def closing(answer: str, sources: Iterable[Drawn], notes: Iterable[str], *, private: bool, share: bool) -> Closing:
    """What stands below an answer; `share`: there is a channel that a private one may be shown to."""
    cited = tuple(Cited(each.number, each.title, each.link, time=each.time) for each in sources)
    buttons = [Button("👍", "up", answer), Button("👎", "down", answer)]
    buttons += [Button("Sources", "sources", answer)] if cited else []
    buttons += [Button("Share to channel", "share", answer)] if private and share and cited else []
    buttons += [] if private else [Button("Delete", "delete", answer)]
    return Closing(answer, cited, " ".join(filter(None, notes)), tuple(buttons))
