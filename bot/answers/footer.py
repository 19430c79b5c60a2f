"""Build the footer of an answer: sources, notices and buttons. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.platform.models import AnswerFooter, Button, FooterSource
from bot.store import AnswerSource
from bot.text.excerpts import build_excerpt, lines_citing, source_title, strip_speaker, truncate_line
from bot.text.sanitize import sanitize_inline

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from engine import Source

MAX_TITLE_LENGTH, MAX_EXCERPT_LENGTH = 100, 140  # characters

_MINUTE_FORMAT = "%Y-%m-%d %H:%M"
_WEB_SCHEMES = ("https://", "http://")


def build_answer_source(source: Source, answer: str) -> AnswerSource:
    """A cited source with what its footer line needs."""
    words = build_excerpt(strip_speaker(source.text), lines_citing(answer, source.number), MAX_EXCERPT_LENGTH)
    return AnswerSource(
        source.number,
        truncate_line(sanitize_inline(format_source_title(source)), MAX_TITLE_LENGTH),
        source.link if source.link.startswith(_WEB_SCHEMES) else "",
        sanitize_inline(words),
        source.document,
        source.passage,
        source.space,
        source.room,
        message_time(source),
    )


def format_source_title(source: Source) -> str:
    """The title of a source: document, section, and date unless it is shown as an instant."""
    name, label = source_title(source.title, source.label)
    day = f"{source.time:%Y-%m-%d}" if source.time else ""
    if instant := message_time(source):
        return " · ".join(filter(None, (name, label.removesuffix(f"{instant:{_MINUTE_FORMAT}}").rstrip(", "))))
    return " · ".join(filter(None, (name, label, "" if day in label else day)))


def message_time(source: Source) -> datetime | None:
    """The time of a source that is a message; None for documents, which have a day at most."""
    return source.time if source.time and source.label.endswith(f"{source.time:{_MINUTE_FORMAT}}") else None


def build_answer_footer(
    answer: str, sources: Iterable[AnswerSource], notes: Iterable[str], *, private: bool, share: bool
) -> AnswerFooter:
    """Build the footer; `share`: a private answer can be shared in a channel."""
    cited = tuple(FooterSource(each.number, each.title, each.link, time=each.time) for each in sources)
    buttons = [Button("👍", "up", answer), Button("👎", "down", answer)]
    buttons += [Button("Sources", "sources", answer)] if cited else []
    buttons += [Button("Share to channel", "share", answer)] if private and share and cited else []
    buttons += [] if private else [Button("Delete", "delete", answer)]
    return AnswerFooter(answer, cited, " ".join(filter(None, notes)), tuple(buttons))
