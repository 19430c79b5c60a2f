"""Count the sources that say the same, and those that disagree and were not replaced. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.contradictions.assertions import list_assertions
from engine.llm.offline.contradictions.values import exclude_each_other
from engine.llm.offline.supersession.clauses import parse_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from engine.llm.offline.contradictions.assertions import Assertion
    from engine.llm.offline.contradictions.values import Slot
    from engine.models import Source


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many sources say the same of a subject, since when the newest of them, and how many say otherwise.

    `value`: what they say, in the words of the newest.
    """

    agreeing: int
    disagreeing: int
    newest: datetime
    value: str


def measure_coverage(sources: Sequence[Source], replaced: Collection[int] = ()) -> Coverage | None:
    """What sources say of the subject that most of them are about; None unless several speak of one.

    `replaced`: numbers of sources that hold no longer; they neither agree nor disagree. Messages of one person and
    parts of one file count once.
    """
    said: dict[frozenset[str], dict[Slot, list[tuple[Source, str]]]] = defaultdict(lambda: defaultdict(list))
    for one in build_candidates(source for source in sources if source.number not in replaced):
        if one.is_question or one.is_title or one.is_item or one.source.time is None:
            continue
        for what in list_assertions(one.text):
            said[what.subject][what.slot].append((one.source, _name_value(what, one.text)))
    found = [each for values in said.values() if (each := _measure(values)) is not None]
    return max(found, key=lambda each: (each.agreeing + each.disagreeing, each.newest), default=None)


def says_one_thing(source: Source) -> bool:
    """Whether a source is a message with a single statement, so that what is said of the message is said of this."""
    found = build_candidates([source]) if source.author else []
    return len(found) == 1 and len(parse_text(found[0].text).clauses) == 1


def _name_value(said: Assertion, text: str) -> str:
    """The words of a value in a text, with the unit after it."""
    value = said.value.strip()
    found = re.search(rf"{re.escape(value)}\s*{re.escape(said.slot.unit)}", text, re.IGNORECASE)
    return found.group().strip() if found else value


def _measure(values: Mapping[Slot, Sequence[tuple[Source, str]]]) -> Coverage | None:
    """The coverage of one subject: of the value that most sources give, of these the newest one."""
    voices = {slot: {each.author or each.document for each, _ in sources} for slot, sources in values.items()}
    newest = {slot: max((each.time, value) for each, value in sources if each.time) for slot, sources in values.items()}
    main = max(values, key=lambda slot: (len(voices[slot]), newest[slot]))
    against = [slot for slot in values if exclude_each_other(slot, main)]
    others = frozenset[str]().union(*(voices[slot] for slot in against)) - voices[main]
    if len(voices[main]) < 2 and not others:
        return None
    return Coverage(len(voices[main]), len(others), *newest[main])
