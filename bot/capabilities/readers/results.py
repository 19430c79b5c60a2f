"""What the request for readers yields."""

from __future__ import annotations

from dataclasses import dataclass

from bot.capabilities.erasure.results import Completed


@dataclass(frozen=True, slots=True)
class ReadersFound(Completed):
    """Who can find something, in one sentence.

    For managers besides: `rule` by which all members of the workspace can ("workspace", "adult"; "" if only people
    can who are counted), `count` of those people (of guests, with such a rule), the `names` of the first of them, and
    `people`: both in a sentence, which is a part of the text.
    """

    rule: str = ""
    count: int = 0
    names: tuple[str, ...] = ()
    people: str = ""
