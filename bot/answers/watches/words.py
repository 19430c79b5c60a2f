"""Sentences about standing requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.i18n import N_, gettext
from bot.text.markdown import escape_markdown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.store.schedules.watches import Watch
    from engine.llm.offline.points.watched import WatchKind

AWAITED: Mapping[WatchKind, str] = {  # for a model
    "mentioned": "a mention of {subject}",
    "decided": "a decision about {subject}",
    "changed": "a change of {subject}",
}
STOP_BUTTON = N_("Stop telling me")
HEADINGS: Mapping[WatchKind, str] = {
    "mentioned": N_("Mentioned: {subject}"),
    "decided": N_("Decided: {subject}"),
    "changed": N_("Changed: {subject}"),
}
PROMISES: Mapping[WatchKind, str] = {
    "mentioned": N_("I'll tell you when somebody mentions “{subject}” in what you can read."),
    "decided": N_("I'll tell you when something about “{subject}” is decided in what you can read."),
    "changed": N_("I'll tell you when “{subject}” changes in what you can read."),
}


def format_heading(watch: Watch) -> str:
    """What happened, above the messages that say so."""
    return gettext(HEADINGS[watch.kind]).format(subject=escape_markdown(watch.subject))


def describe_promise(kind: WatchKind, subject: str) -> str:
    """What a person will be told of."""
    return gettext(PROMISES[kind]).format(subject=subject)
