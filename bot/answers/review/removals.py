"""What takes the place of something that the bot posted, once what it used is removed or changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import texts
from bot.i18n import N_, gettext
from bot.store.models import CONTRADICTION_PREFIX, REPORT_PREFIX

if TYPE_CHECKING:
    from bot.platform.traits import PlatformTraits

QUOTE_REMOVED = N_("What this quoted was removed or changed. {command} shows what is current.")
COMMANDS = {REPORT_PREFIX: "report", CONTRADICTION_PREFIX: "contradictions"}


def describe_removal(answer: str, traits: PlatformTraits) -> str:
    """The sentence for an answer with this id: whoever asked may ask again; a report has a command."""
    for prefix, command in COMMANDS.items():
        if answer.startswith(prefix):
            return gettext(QUOTE_REMOVED).format(command=f"`{traits.format_command(command)}`")
    return gettext(texts.SOURCE_REMOVED)
