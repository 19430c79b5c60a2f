"""What a reasoning model thinks aloud is no part of its reply."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)think>", re.IGNORECASE)


def strip_thinking(reply: str) -> str:
    """The reply without its <think> blocks, also one whose opening tag was swallowed or that was cut off within.

    A block that never closes counts as a thought only if the reply begins with it; elsewhere it may be the subject.
    """
    said, at, opened = "", 0, -1
    for tag in _TAG.finditer(reply):
        if not tag[1]:
            opened = tag.start() if opened < 0 else opened
            continue
        said = said + reply[at:opened] if opened >= 0 else ""
        at, opened = tag.end(), -1
    unfinished = opened >= 0 and not (said + reply[at:opened]).strip()
    return "" if unfinished else said + reply[at:]
