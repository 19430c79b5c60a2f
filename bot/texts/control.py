"""Sentences about what people do with an answer while it is written, and afterwards. Pure."""

from __future__ import annotations

from bot.i18n import N_, gettext
from bot.text.markdown import sanitize_inline

STOP_BUTTON = N_("Stop")
AGAIN_BUTTON, DELETE_BUTTON = N_("Try again"), N_("Delete")
REPLACED = N_("There is a newer answer to this question.")
STOPPED = N_("Stopped.")
RENEWED = N_("Changed since {day}: a source of this answer was removed, changed or replaced.")
SUPERSEDED = N_("A newer message says otherwise: {link}.")
NOT_STOPPED = N_("That answer is already complete.")
NOT_THE_ASKER_OR_MANAGER = N_("Only the person who asked, or a manager, can do that.")


def format_stopped(name: str) -> str:
    """The note below an answer that a person stopped."""
    return gettext("Stopped by {name}.").format(name=sanitize_inline(name))
