"""Usage of models: what each call took, collected by whoever causes the calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Purpose = Literal["extract", "condense", "summarise", "answer", "embed", "rerank"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What one model call took (`cost` in US dollars), whether it was `cut_off` early, and `filtered` by a filter."""

    purpose: Purpose
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    calls: int = 1
    cut_off: bool = False
    filtered: bool = False


class UsageMeter:
    """Collects the usage of the calls made on somebody's behalf."""

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: list[Usage] = []

    def record(self, usage: Usage) -> None:
        """Put one call on the bill."""
        self.items.append(usage)
