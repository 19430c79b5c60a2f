"""Results of the register of decisions and tasks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DecisionList:
    """Decisions and tasks as rows, the newest first. `complete_since`: older messages were not looked at; "" if all."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    complete_since: str = ""
