"""Say in words what a step in the life of a fact does. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.i18n import N_, gettext
from bot.text.format import format_list

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.llm.offline.supersession.history import Step, StepKind

KINDS: dict[StepKind, str] = {
    "said": "",
    "repeated": N_("says {numbers} again"),
    "contradicted": N_("contradicts {numbers}"),
    "replaced": N_("replaces {numbers}"),
}
LATER = N_("replaced by {numbers}")
HEADING = N_("What was said about “{subject}”, the oldest first:")
NOTHING = N_("I found no statements about “{subject}” that you can read.")
ONLY_LATEST = N_("Only the newest are shown.")
NO_SUBJECT = N_("There is nothing to look for.")
NO_SUBJECT_HINT = N_("Name a person, a thing, or ask a question.")


def describe_step(step: Step) -> str:
    """What a step does to others, by their numbers in the list; empty for one that stands alone."""
    does = KINDS[step.kind] if step.earlier else ""
    parts = [gettext(does).format(numbers=_list_numbers(step.earlier))] if does else []
    parts += [gettext(LATER).format(numbers=_list_numbers(step.later))] if step.later else []
    return ", ".join(parts)


def _list_numbers(places: Iterable[int]) -> str:
    return format_list([str(place + 1) for place in places])
