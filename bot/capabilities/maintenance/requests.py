"""Requests about the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True, slots=True)
class ListAudit:
    """List entries of the audit log, the newest first: those before a number, of an action, or about a person.

    `person`: `PLATFORM:WORKSPACE:ID`, or their id alone for an auditor.
    """

    limit: Annotated[int, Field(ge=1, le=10_000)] = 100
    before: Annotated[int, Field(ge=0)] = 0
    action: Annotated[str, Field(max_length=100)] = ""
    person: Annotated[str, Field(max_length=300)] = ""
