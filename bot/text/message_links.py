"""Links to messages, as people paste them: with or without the markup of a chat. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

_LINK_PATTERN = re.compile(r"<?https?://[^\s<>|]++(?:\|[^<>]*+)?>?")


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
