"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.settings import Settings
    from engine import Clock

    Check = Callable[["CheckContext"], Awaitable["Finding | list[Finding]"]]

FindingState = Literal["ok", "warning", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What checks look at."""

    settings: Settings
    clock: Clock


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check in a sentence; `hint` says what to do unless it is "ok".

    A "failed" one keeps the program from working as it is set; a "warning" does not. "unknown": it cannot be told here.
    """

    name: str
    state: FindingState
    text: str
    hint: str = ""
