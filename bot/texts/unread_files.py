"""Which shared files were not read, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.i18n import gettext
from bot.text.format import pluralize
from bot.text.markdown import sanitize_inline

if TYPE_CHECKING:
    from collections.abc import Mapping


def describe_families(counts: Mapping[str, int]) -> str:
    """How many files of each family were not read: "8 pictures, 3 films"."""
    return ", ".join(_describe_family(family, count) for family, count in counts.items())


def describe_unread(name: str, reason: str) -> str:
    """A file that was not read, and why."""
    return sanitize_inline(gettext("{name}: {reason}").format(name=name, reason=gettext(reason)))


def _describe_family(family: str, count: int) -> str:
    named = {
        "picture": pluralize(count, "{count} picture", "{count} pictures"),
        "sound": pluralize(count, "{count} sound recording", "{count} sound recordings"),
        "film": pluralize(count, "{count} film", "{count} films"),
        "font": pluralize(count, "{count} font", "{count} fonts"),
        "program": pluralize(count, "{count} program", "{count} programs"),
        "": pluralize(count, "{count} unreadable document", "{count} unreadable documents"),
    }
    return named.get(family) or pluralize(count, "{count} file of another format", "{count} files of other formats")
