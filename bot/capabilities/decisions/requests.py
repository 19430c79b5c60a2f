"""The request for the register of decisions and tasks, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

DecisionState = Literal["", "open", "replaced"]
EntryName = Literal["", "decision", "task"]


@dataclass(frozen=True, slots=True)
class ListDecisions:
    """List decisions and tasks with who, until when, the message, and what replaced them; empty fields do not filter.

    `channel` and `person`: names. `since` and `until`: days or other times, as typed in a question. `state`: "open" for
    what holds, "replaced" for what a later message changed. `as_csv`: as text for a spreadsheet.
    """

    channel: Annotated[str, Field(max_length=300)] = ""
    person: Annotated[str, Field(max_length=80)] = ""
    since: Annotated[str, Field(max_length=40)] = ""
    until: Annotated[str, Field(max_length=40)] = ""
    state: DecisionState = ""
    entry_kind: EntryName = ""
    limit: Annotated[int, Field(ge=1, le=1000)] = 200
    as_csv: bool = False


@dataclass(frozen=True, slots=True)
class DecisionList:
    """Decisions and tasks as rows, the newest first. `complete_since`: older messages were not looked at; "" if all."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    complete_since: str = ""
