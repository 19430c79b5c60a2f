"""Judge replies: whether they hold what was asked for, say that there is none, or give nothing. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from engine.llm.formats.built_facts import lists_nothing
from engine.llm.formats.json_extraction import is_whole_object, parse_json_extraction, parse_object
from engine.llm.formats.thinking import strip_thinking
from engine.llm.formats.tuple_extraction import END_PATTERN, parse_tuples
from engine.llm.wire.apologies import apologizes, gives_up
from engine.models import Extraction

if TYPE_CHECKING:
    from typing import Literal

    ExtractionFormat = Literal["tuples", "json"]

MAX_QUOTED_CHARACTERS = 80  # of a reply, in messages
_NO_TEXT = frozenset({"", "null", "none", "undefined", "nil", "{}", "[]", '""', "''", "n/a"})
_NO_VALUES: tuple[object, ...] = (None, "", [], {})
_TOOL_CALL = re.compile(
    r"\A\s*(?:<tool_call>|\[TOOL_CALLS\]|<function[ =]|\{\s*\"(?:name|function)\"\s*:.*\"arguments\")", re.DOTALL
)


class Outcome(StrEnum):
    """What a reply gave; only the first two need no other try."""

    FACTS = "facts"
    NONE = "none"  # it says that there are none
    CUT_OFF = "cut_off"
    ROWLESS = "rowless"  # text, but not what was asked for
    REFUSED = "refused"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Reading:
    """A judged reply: its facts, without an unfinished one, and its text without thinking."""

    outcome: Outcome
    extraction: Extraction = Extraction()  # noqa: RUF009 - immutable
    text: str = ""

    @property
    def is_done(self) -> bool:
        """Whether the model read the text to its end."""
        return self.outcome in {Outcome.FACTS, Outcome.NONE}

    @property
    def has_facts(self) -> bool:
        """Whether there is any fact."""
        return bool(self.extraction.mentions or self.extraction.links)


def judge_extraction(reply: str, output_format: ExtractionFormat, *, is_cut_off: bool = False) -> Reading:
    """Judge a reply to an excerpt; also one in the other format is read."""
    text = strip_thinking(reply).strip()
    is_cut_off = is_cut_off and not END_PATTERN.search(text)
    found = _parse(_drop_unfinished_row(text) if is_cut_off else text, output_format)
    if is_cut_off and _is_unfinished_json(text):
        found = _drop_last(found)
    reading = Reading(Outcome.FACTS, found, text)
    if is_cut_off and text:
        return replace(reading, outcome=Outcome.CUT_OFF)
    if reading.has_facts:
        return reading
    return replace(reading, outcome=Outcome.NONE if _states_none(text) else judge_words(text))


def judge_text(reply: str, *, is_cut_off: bool = False) -> Outcome:
    """Judge a reply that is to be a text, such as a summary: FACTS if it is one."""
    text = strip_thinking(reply).strip()
    if is_cut_off and text:
        return Outcome.CUT_OFF
    is_text = text.lower() not in _NO_TEXT and not _TOOL_CALL.match(text)
    if is_text and not gives_up(text):
        return Outcome.FACTS
    return judge_words(text)


def gives_text(reply: str) -> bool:
    """Whether a reply is a text, and no apology or request for one."""
    return judge_text(reply) is Outcome.FACTS


def judge_words(text: str) -> Outcome:
    """What a reply is that gave nothing that was asked for."""
    if text.lower() in _NO_TEXT:
        return Outcome.EMPTY
    return Outcome.REFUSED if apologizes(text) else Outcome.ROWLESS


def judge_object(reply: str, keys: frozenset[str], *, is_cut_off: bool = False) -> Outcome:
    """Judge a reply that is to be a JSON object with a value of one of these keys: FACTS if it is.

    The last value of one that was cut off may be torn: half a question finds something else.
    """
    if is_cut_off and not is_whole_object(reply):
        return Outcome.CUT_OFF
    if any(key in keys and value not in _NO_VALUES for key, value in (parse_object(reply) or {}).items()):
        return Outcome.FACTS
    return judge_words(strip_thinking(reply).strip())


def quote_start(text: str) -> str:
    """The first words of a reply, for messages."""
    words = " ".join(text.split())
    return words if len(words) <= MAX_QUOTED_CHARACTERS else f"{words[:MAX_QUOTED_CHARACTERS].rstrip()}…"


def _parse(text: str, output_format: ExtractionFormat) -> Extraction:
    parsers = parse_tuples, parse_json_extraction
    for parse in parsers if output_format == "tuples" else reversed(parsers):
        found = parse(text)
        if found.mentions or found.links:
            return found
    return Extraction()


def _states_none(text: str) -> bool:
    """Whether a reply without facts says so: by the end marker alone, or by empty lists."""
    data = parse_object(text)
    if data is not None:
        return "entities" in data and all(data.get(key) in (None, []) for key in ("entities", "relationships"))
    rest = END_PATTERN.sub("\n", text)
    return rest != text and all(map(lists_nothing, rest.split("\n")))


def _drop_unfinished_row(text: str) -> str:
    return text if text.startswith(("{", "```json", "[")) else text.rpartition("\n")[0]


def _is_unfinished_json(text: str) -> bool:
    return text.startswith(("{", "```json")) and not text.rstrip("`,] \n").endswith("}")


def _drop_last(found: Extraction) -> Extraction:
    """The facts without the last one, whose description may be torn."""
    return replace(found, links=found.links[:-1]) if found.links else replace(found, mentions=found.mentions[:-1])
