"""The request for those who can find something, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bot.capabilities.erasure.requests import Completed


@dataclass(frozen=True, slots=True)
class FindReaders:
    """Say who could find a document (title, link or key), a source (name), an answer of yours (id), or new content.

    `channel`: its id, or “open” for all open channels of the workspace, of what would be shared there; with nothing:
    this channel, or what you would upload. Managers are told how many people that are, and their names.
    """

    document: Annotated[str, Field(max_length=2000)] = ""
    channel: Annotated[str, Field(max_length=200)] = ""
    source: Annotated[str, Field(max_length=200)] = ""
    answer: Annotated[str, Field(max_length=100)] = ""


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
