"""Usage of models: tokens and cost of each call, collected by the caller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Purpose = Literal["extract", "condense", "summarize", "answer", "embed", "rerank", "describe"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost (US dollars) of model calls; whether the reply was `cut_off` or stopped by a content filter."""

    purpose: Purpose
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    calls: int = 1
    cut_off: bool = False
    filtered: bool = False


class UsageMeter:
    """Collects the usage of the model calls made for one operation."""

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: list[Usage] = []

    def record(self, usage: Usage) -> None:
        """Add the usage of a call."""
        self.items.append(usage)


@dataclass(frozen=True, slots=True)
class IndexingUsage:
    """Model calls for texts of some spaces. `characters`: of these texts by space id, to share the calls among them."""

    items: Sequence[Usage]
    characters: Mapping[int, int]


def sum_characters(texts: Iterable[tuple[int, str]]) -> dict[int, int]:
    """The characters of texts by space id."""
    sums = dict[int, int]()
    for space, text in texts:
        sums[space] = sums.get(space, 0) + len(text)
    return sums
