"""Split the reply to a call that several excerpts or summaries share, and reject replies that mix them up. Pure.

A reply is rejected if its numbers are not those of the excerpts, or if it states under one excerpt what only another
one says. Summaries are parsed strictly: a text under the wrong name would be cached.
"""

from __future__ import annotations

import calendar
import json
import re
from typing import TYPE_CHECKING

from engine.llm.formats.json_extraction import parse_json_excerpts
from engine.llm.formats.thinking import strip_thinking
from engine.llm.formats.tuple_extraction import (
    DELIMITER,
    END_MARKER,
    END_PATTERN,
    ROW_NUMBER,
    field_candidates,
    strip_parentheses,
)
from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.models import Excerpt, Extraction

HEADER_FIELDS = 2  # fields of the line before an excerpt's rows: the tag and the number
# Letters of a word and digits of a number from which they can identify a text.
MIN_WORD_LENGTH, MIN_NUMBER_LENGTH = 4, 3

_EXCERPT_TAG = re.compile(r"\A[\W_]*+excerpt[\W_]*+\Z", re.IGNORECASE)
_PLAIN_HEADER = re.compile(r"[\W_]{0,4}excerpt[\W_]{0,4}(\d{1,4})\D{0,3}", re.IGNORECASE)
_WORD = re.compile(r"\w+")
# Words that are capitalized in any text.
_COMMON_WORDS = STOP_WORDS | {name.casefold() for name in (*calendar.month_name, *calendar.day_name) if name}

_SUMMARY_TAG = re.compile(r"\A[\W_]*+summary[\W_]*+\Z", re.IGNORECASE)
_FENCE = re.compile(r"`{3,}\w*")
SUMMARY_FIELDS = 2  # the tag and the number; a text may begin on the next line
_INVALID_ROW: tuple[int, list[str]] = (0, [])


def split_rows_by_excerpt(reply: str, count: int) -> dict[int, str]:
    """The rows of each excerpt by its number, as a reply to that excerpt alone; empty if the numbers are wrong.

    A number with nothing below it has an empty text: nothing is said of its excerpt, not even that it has no rows.
    Without an end marker the last excerpt may be cut off and is dropped.
    """
    excerpts: list[tuple[int, list[str]]] = []
    complete = False
    for line in strip_thinking(reply).split("\n"):
        ended = END_PATTERN.search(line) is not None
        row = strip_parentheses(END_PATTERN.sub("", line).strip())
        number, rest = _parse_header(row)
        if number:
            excerpts.append((number, []))
            row = rest
        if row and excerpts:
            excerpts[-1][1].append(row)
        elif DELIMITER in row:
            return {}  # a row before any number
        complete = ended or (complete and not (number or DELIMITER in row))
    return _rows_by_number(
        [(number, "\n".join((*rows, END_MARKER)) if rows else "") for number, rows in excerpts],
        count,
        complete=complete,
    )


def split_json_by_excerpt(reply: str, count: int) -> dict[int, str]:
    """Split a JSON reply as `split_rows_by_excerpt`: one object per excerpt."""
    items, complete = parse_json_excerpts(reply)
    excerpts = [(number, json.dumps(item)) for number, item in items]
    return _rows_by_number(excerpts, count, complete=complete)


def has_misattributed_facts(excerpts: Sequence[Excerpt], extractions: Mapping[int, Extraction]) -> bool:
    """Whether a name, number or capitalized word is given for one excerpt but occurs only in another one."""
    texts = [_ExcerptWords(f"{excerpt.section}\n{excerpt.text}") for excerpt in excerpts]
    for number, extraction in extractions.items():
        own, others = texts[number - 1], [text for place, text in enumerate(texts, 1) if place != number]
        names = {mention.name for mention in extraction.mentions}
        names |= {end for link in extraction.links for end in (link.source, link.target)}
        descriptions = {mention.description for mention in extraction.mentions} | {
            link.description for link in extraction.links
        }
        if any(not own.has_name(name) and any(text.has_name(name) for text in others) for name in names):
            return True
        distinctive = {word for description in descriptions for word in _distinctive_words(description)}
        if any(
            word.casefold() not in own.folded_words and any(word in text.words for text in others)
            for word in distinctive
        ):
            return True
    return False


class _ExcerptWords:
    """The words of an excerpt."""

    def __init__(self, text: str) -> None:
        self.words = frozenset(_WORD.findall(text))
        self.folded_words = frozenset(word.casefold() for word in self.words)
        self.folded_text = text.casefold()

    def has_name(self, name: str) -> bool:
        """Whether the text contains the name, or each word of it."""
        words = _WORD.findall(name.casefold())
        return name.casefold() in self.folded_text or (bool(words) and self.folded_words.issuperset(words))


def _distinctive_words(description: str) -> list[str]:
    """Numbers and capitalized words: they show which text a sentence is based on."""
    first, *rest = _WORD.findall(description) or [""]
    numbers = [word for word in (first, *rest) if len(word) >= MIN_NUMBER_LENGTH and word.isdigit()]
    proper = [word for word in rest if len(word) >= MIN_WORD_LENGTH and word[0].isupper()]
    return numbers + [word for word in proper if word.casefold() not in _COMMON_WORDS]


def _parse_header(row: str) -> tuple[int, str]:
    """The number in the header line of an excerpt and the rest of that line; 0 for any other line."""
    fields = field_candidates(row)[0] if row else []
    if len(fields) >= HEADER_FIELDS and _EXCERPT_TAG.fullmatch(fields[0]):
        number = ROW_NUMBER.fullmatch(fields[1])
        return (int(number[1]), DELIMITER.join(fields[HEADER_FIELDS:])) if number else (0, "")
    plain = _PLAIN_HEADER.fullmatch(row)
    return (int(plain[1]), "") if plain else (0, "")


def _rows_by_number(excerpts: list[tuple[int, str]], count: int, *, complete: bool) -> dict[int, str]:
    """The parts by number, if the numbers ascend and are within 1 to `count`; otherwise empty."""
    numbers = [number for number, _ in excerpts]
    if numbers != sorted(set(numbers)) or any(not 1 <= number <= count for number in numbers):
        return {}
    return dict(excerpts if complete else excerpts[:-1])


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
            ROW_NUMBER.fullmatch(fields[1])
            if len(fields) >= SUMMARY_FIELDS and _SUMMARY_TAG.fullmatch(fields[0])
            else None
        )
        if number:
            summaries.append((int(number[1]), [" ".join(fields[2:])] if fields[2:] else []))
        elif len(fields) > 1 or DELIMITER in row:
            summaries = [*summaries[:-1], _INVALID_ROW] if summaries else summaries
        elif summaries and summaries[-1] is not _INVALID_ROW:
            summaries[-1][1].append(row)
    if not after:
        summaries = summaries[:-1]
    summaries = [summary for summary in summaries if summary is not _INVALID_ROW]
    numbers = [number for number, _ in summaries]
    if any(not 1 <= number <= count for number in numbers):
        return {}
    return {number: "\n".join(lines) for number, lines in summaries if lines and numbers.count(number) == 1}
