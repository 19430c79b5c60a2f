"""What a running process knows of its own state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class HealthState:
    """ok, degraded, failing, or the state of a process that is not ready, with the reasons.

    `is_ready`: whether it takes requests.
    """

    status: str
    reasons: tuple[str, ...] = ()
    is_ready: bool = True


@dataclass(frozen=True, slots=True)
class BotState:
    """Failures that call for a restart, others, and the seconds since each platform's last sign of life.

    `queue_depth`: events that are not handled yet; `queue_ages`: the seconds that the oldest waits, by workspace
    (`platform:workspace`).
    """

    problems: Sequence[str] = ()
    limitations: Sequence[str] = ()
    silent_seconds: Mapping[str, float] = field(default_factory=dict)
    queue_depth: int = 0
    queue_ages: Mapping[str, float] = field(default_factory=dict)
