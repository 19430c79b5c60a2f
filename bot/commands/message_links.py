"""Which message an address may lead to. Pure; whoever uses it holds it against the messages that are known."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

# A time in microseconds as one number: ids of this kind are written without their dot in addresses.
_LINK_PATTERN = re.compile(r"<?https?://[^\s<>|]++(?:\|[^<>]*+)?>?")
_PERMALINK_ID = re.compile(r"p(\d{10})(\d{6})")


def is_message_link(words: str) -> bool:
    """Whether the words are one address, perhaps in the brackets that chat programs put around it."""
    return _LINK_PATTERN.fullmatch(words.strip()) is not None


def strip_link_markup(words: str) -> str:
    """The address without brackets and label."""
    return words.strip().strip("<>").partition("|")[0]


def candidate_message_ids(address: str) -> tuple[str, ...]:
    """Ids that its path names, the last one first: each as it is, or as the message id that it stands for."""
    parts = [part for part in urlsplit(strip_link_markup(address)).path.split("/") if part]
    return tuple(_parse_message_id(part) for part in reversed(parts))


def _parse_message_id(part: str) -> str:
    match = _PERMALINK_ID.fullmatch(part)
    return f"{match[1]}.{match[2]}" if match else part
