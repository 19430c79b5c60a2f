"""Keep tags that never end from costing the HTML parser the time of all that follows. Pure."""

from __future__ import annotations

import re

# Elements without an end tag.
VOID_TAGS = frozenset({"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
_OPEN_END = re.compile(r"<([^<>!][^<>]*)(?=<)")


def escape_open_tags(text: str) -> str:
    """A piece of HTML in which a tag that another one begins in is text."""
    return _OPEN_END.sub(r"&lt;\1", text)
