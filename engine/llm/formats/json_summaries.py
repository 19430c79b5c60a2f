"""Parse the reply to a shared summary call strictly: a text under the wrong name would be cached."""

from __future__ import annotations

import re

from engine.llm.formats.thinking import strip_thinking
from engine.llm.formats.tuple_repair import DELIMITER, END_PATTERN, ROW_NUMBER, field_candidates, strip_parentheses

_SUMMARY_TAG = re.compile(r"\A[\W_]*+summary[\W_]*+\Z", re.IGNORECASE)
_FENCE = re.compile(r"`{3,}\w*")
SUMMARY_FIELDS = 2  # the tag and the number; a text may begin on the next line
_INVALID_ROW: tuple[int, list[str]] = (0, [])


def parse_summaries(reply: str, count: int) -> dict[int, str]:
    """Texts by number, from 1 to `count`; empty if the reply has any other number, since then none can be trusted.

    A plain line continues the text before it. An unreadable row or a second text of the same number discards that text.
    Without an end marker the last text may be cut off and is dropped.
    """
    body, *after = END_PATTERN.split(strip_thinking(reply), maxsplit=1)
    summaries: list[tuple[int, list[str]]] = []
    for line in body.splitlines():
        row = line.strip()
        if not row or _FENCE.fullmatch(row):
            continue
        fields = field_candidates(strip_parentheses(row))[0]
        number = (
            ROW_NUMBER.fullmatch(fields[1]) if len(fields) >= SUMMARY_FIELDS and _SUMMARY_TAG.fullmatch(fields[0]) else None
        )
        if number:
            summaries.append((int(number[1]), [" ".join(fields[2:])] if fields[2:] else []))
        elif len(fields) > 1 or DELIMITER in row:
            summaries = [*summaries[:-1], _INVALID_ROW] if summaries else summaries
        elif summaries and summaries[-1] is not _INVALID_ROW:
            summaries[-1][1].append(row)
    if not after:
        summaries = summaries[:-1]
    summaries = [each for each in summaries if each is not _INVALID_ROW]
    numbers = [number for number, _ in summaries]
    if any(not 1 <= number <= count for number in numbers):
        return {}
    return {number: "\n".join(lines) for number, lines in summaries if lines and numbers.count(number) == 1}
