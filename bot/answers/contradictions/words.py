"""Sentences about statements that disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.i18n import N_, gettext
from bot.platform.models import Button
from bot.text.excerpts import truncate_line
from bot.text.markdown import escape_markdown

if TYPE_CHECKING:
    from engine.llm.offline.contradictions.finding import Contradiction, DisputedStatement

COMMAND = "contradictions"
SETTLE, DISMISS, OLDER, NEWER, TELL_OFF, TELL_ON = "settle", "dismiss", "older", "newer", "off", "on"
HEADING = N_("Two messages that you can read disagree. Which one is right?")
DISMISS_BUTTON = N_("Both are right")
STOP_BUTTON = N_("Stop asking me")
TOLD = N_("I'll ask you privately, at most weekly, about statements that disagree.")
UNTOLD = N_("I won't ask you about statements that disagree anymore. {command} lists them.")
OFF = N_("I don't compare statements here.")
OFF_HINT = N_("Whoever runs me can switch it on.")
UNKNOWN = N_("These statements don't disagree anymore, or you can't read both.")
DECIDED = N_("Somebody decided that already.")
NOT_ALLOWED = N_("Only the authors of both statements, managers and experts can decide that.")
SETTLED = N_("I'll answer “{question}” with “{text}” from now on. The other statement counts as wrong for it.")
SETTLED_HERE = N_("Noted: “{text}” is right. The other statement counts as wrong.")
DISMISSED = N_("I won't mention these two statements anymore.")
MAX_VALUE, MAX_TEXT = 40, 300  # characters of a button; of a statement


def list_buttons(id_: str, found: Contradiction) -> tuple[Button, ...]:
    """A button for each statement, one that dismisses both, and one that ends what a person is told."""
    choices = ((OLDER, found.older), (NEWER, found.newer))
    return (
        *(
            Button(f"✓ {truncate_line(claim.value, MAX_VALUE)}", COMMAND, f"{SETTLE} {id_} {side}")
            for side, claim in choices
        ),
        Button(gettext(DISMISS_BUTTON), COMMAND, f"{DISMISS} {id_}"),
        Button(gettext(STOP_BUTTON), COMMAND, TELL_OFF),
    )


def quote(claim: DisputedStatement, number: int) -> str:
    """A statement as a line of a list, with the number of its source."""
    said = escape_markdown(claim.text, MAX_TEXT)
    author = f"{escape_markdown(claim.source.author)}: " if claim.source.author else ""
    return f"- {author}“{said}” [{number}]"
