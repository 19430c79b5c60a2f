"""Sentences about corrections and names that mean the same. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.i18n import N_, gettext
from bot.text.format import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.knowledge.duplicates.report import Duplicate, HomonymSense


def format_merge(name: str, into: str, unknown: Iterable[str]) -> str:
    """The confirmation of a merge, with a warning for each name that does not occur yet."""
    merged = gettext("“{name}” is now merged into “{into}”.").format(name=name, into=into)
    doubt = gettext("“{name}” does not occur yet. Check its spelling.")
    return " ".join([merged, *(doubt.format(name=text) for text in unknown)])


def format_unmerge(name: str) -> str:
    """The confirmation that a merge was undone."""
    return gettext("“{name}” is a separate name again.").format(name=name)


def format_separation(name: str, other: str) -> str:
    """The confirmation that two names are kept apart."""
    return gettext("“{name}” and “{other}” are separate names, and I won't join them.").format(name=name, other=other)


def format_split(name: str, part: str, type_: str) -> str:
    """The confirmation that some of a name's facts are about another thing; without a type, those of a document."""
    done = gettext("“{part}” is now a name of its own, split from “{name}”.").format(name=name, part=part)
    if type_:
        later = gettext("Later texts in which it has the type “{type}” go there, too; all others stay with “{name}”.")
    else:
        later = gettext("What other documents say of “{name}”, also later, stays there.")
    return f"{done} {later.format(name=name, type=type_)}"


def format_unsplit(part: str) -> str:
    """The confirmation that a split was undone."""
    return gettext("“{part}” is one with the name that it was split from again.").format(part=part)


def format_sense(sense: HomonymSense) -> str:
    """One of the things that a name may mean, with the number of its sources."""
    sources = pluralize(sense.sources, "{count} source", "{count} sources")
    return f"{sense.type} ({sources})"


def format_duplicate_evidence(pair: Duplicate) -> str:
    """Why two names were joined, or why they may mean the same."""
    if pair.is_joined:
        return gettext(JOIN_REASONS.get(pair.reason, pair.reason))
    parts = [gettext("spelling {percent}%").format(percent=round(pair.spelling))]
    if pair.similarity:
        parts.append(gettext("similar meaning {percent}%").format(percent=round(100 * pair.similarity)))
    if pair.shared_count:
        neighbors = pluralize(pair.shared_count, "{count} common neighbor", "{count} common neighbors")
        parts.append(f"{neighbors}: {', '.join(pair.shared)}")
    return "; ".join(parts)


JOIN_REASONS = {
    "spelling": N_("the same except for hyphens, spaces, periods or accents"),
    "article": N_("the same except for “the”"),
    "honorific": N_("the same except for a title"),
    "plural": N_("singular and plural"),
    "abbreviation": N_("a text gives the abbreviation with its long form"),
}


def format_subject(name: str, other: str) -> str:
    """An entity, or with `other` its relation to it."""
    return f"“{name}” – “{other}”" if other else f"“{name}”"


def format_description(subject: str, description: str) -> str:
    """The confirmation of a new description; an empty one was restored from the sources."""
    if description:
        return gettext("{subject} is now described with your words.").format(subject=subject)
    return gettext("{subject} is now described from its sources.").format(subject=subject)


def format_visibility(subject: str, *, hidden: bool) -> str:
    """The confirmation that something was hidden or is visible again."""
    sentence = gettext("{subject} is hidden.") if hidden else gettext("{subject} is visible again.")
    return sentence.format(subject=subject)
