"""Remove the <think> blocks of reasoning models from a reply."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)think>", re.IGNORECASE)


def strip_thinking(reply: str) -> str:
    """The reply without its <think> blocks, including blocks without an opening or closing tag.

    An unclosed block counts as thinking only at the beginning of the reply; elsewhere the tag may be part of the text.
    """
    visible, at, opened = "", 0, -1
    for tag in _TAG.finditer(reply):
        if not tag[1]:
            opened = tag.start() if opened < 0 else opened
            continue
        visible = visible + reply[at:opened] if opened >= 0 else ""
        at, opened = tag.end(), -1
    unfinished = opened >= 0 and not (visible + reply[at:opened]).strip()
    return "" if unfinished else visible + reply[at:]
