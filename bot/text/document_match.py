"""Choose the document or message that a person means, by a key, a path, a title or a link. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.i18n import gettext, ngettext
from bot.text.format import format_number, pluralize
from engine.errors import AmbiguousDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from engine import DocumentInfo

MAX_LISTED = 5

_LINK_PATTERN = re.compile(r"<?https?://[^\s<>|]++(?:\|[^<>]*+)?>?")


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
                hint=gettext("Say which one you mean: {keys}").format(keys=_format_keys(match)),
            )
        if match:
            return match[0]
    return None


def match_title(words: str, documents: Iterable[DocumentInfo]) -> list[DocumentInfo]:
    """The documents with this title; case does not matter."""
    return [document for document in documents if document.title.casefold() == words.casefold()]


def _format_keys(documents: Sequence[DocumentInfo]) -> str:
    keys = [
        f"{document.key} ({document.time:%Y-%m-%d})" if document.time else document.key
        for document in documents[:MAX_LISTED]
    ]
    more = len(documents) - MAX_LISTED
    return "; ".join(keys) + (pluralize(more, "; {count} more", "; {count} more") if more > 0 else "")


def is_message_link(words: str) -> bool:
    """Whether the words are one web link, with or without the angle brackets of chat markup."""
    return _LINK_PATTERN.fullmatch(words.strip()) is not None


def strip_link_markup(words: str) -> str:
    """The link without angle brackets and label."""
    return words.strip().strip("<>").partition("|")[0]


def candidate_message_ids(address: str, parse_part: Callable[[str], str]) -> tuple[str, ...]:
    """The parts of the link's path, the last one first, each converted to a message id; none of a broken link."""
    try:
        path = urlsplit(strip_link_markup(address)).path
    except ValueError:  # a broken IPv6 host, for example
        return ()
    return tuple(parse_part(part) for part in reversed(path.split("/")) if part)
