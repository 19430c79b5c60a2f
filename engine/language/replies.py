"""The reply to a shared call for summaries, read tolerantly."""

from __future__ import annotations

import re

from engine.thoughts import without_thoughts
from engine.tuples_repair import END_MARK, readings, rows

_TAG = re.compile(r"[\W_]*summary[\W_]*", re.IGNORECASE)
_NUMBER = re.compile(r"\D{0,3}(\d{1,4})\D{0,3}")
FIELDS = 3


def parse_summaries(reply: str) -> dict[int, str]:
    """The texts by number; lines without a tag go on with the text before them.

    Of a number that comes twice, the first counts. Without an end mark the last text may have been cut off: it is left
    out.
    """
    reply = without_thoughts(reply)
    found: list[tuple[int, list[str]]] = []
    for row in rows(reply):
        fields = readings(row)[0]
        number = _NUMBER.fullmatch(fields[1]) if len(fields) >= FIELDS and _TAG.fullmatch(fields[0]) else None
        if number:
            found.append((int(number[1]), [" ".join(fields[2:])]))
        elif found:
            found[-1][1].append(row)
    if END_MARK.casefold() not in reply.casefold():
        found = found[:-1]
    texts: dict[int, str] = {}
    for place, lines in found:
        texts.setdefault(place, "\n".join(lines))
    return texts
