"""Choose the document that a person means, by a key, a path, a title or a link. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.i18n import gettext, ngettext
from bot.text.format import format_number, pluralize
from engine.errors import AmbiguousDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine import DocumentInfo

MAX_LISTED = 5


def choose_document(words: str, *matches: Iterable[DocumentInfo]) -> DocumentInfo | None:
    """The document of the first match that is not empty; None if all are.

    Raises AmbiguousDocument if that match contains several documents.
    """
    for match in map(tuple, matches):
        if len(match) > 1:
            raise AmbiguousDocument(
                ngettext(
                    "“{words}” matches {count} document.", "“{words}” matches {count} documents.", len(match)
                ).format(words=words, count=format_number(len(match))),
                hint=gettext("Choose one by its key: {keys}").format(keys=_format_keys(match)),
            )
        if match:
            return match[0]
    return None


def match_title(words: str, documents: Iterable[DocumentInfo]) -> list[DocumentInfo]:
    """The documents with this title; case does not matter."""
    return [each for each in documents if each.title.casefold() == words.casefold()]


def _format_keys(documents: Sequence[DocumentInfo]) -> str:
    keys = [f"{each.key} ({each.time:%Y-%m-%d})" if each.time else each.key for each in documents[:MAX_LISTED]]
    more = len(documents) - MAX_LISTED
    return "; ".join(keys) + (pluralize(more, "; {count} more", "; {count} more") if more > 0 else "")
