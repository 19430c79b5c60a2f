"""Make foreign text safe to quote in a message. Pure."""

from __future__ import annotations

from engine import LinkFilter

SAFE_CHARACTERS = "/:?#@!$&'*+,;=%-._~"  # of a URL: no markup language gives them a meaning


def sanitize_inline(text: str) -> str:
    """Put a text on one line and defuse its mentions and links with a scheme."""
    links = LinkFilter.from_texts((), "", domains=False)
    line = " ".join(text.split())
    return links.feed(line) + links.close()
