"""Usage of models: tokens and cost of each call, collected by the caller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date

RulesExtract = Literal["nothing", "conversations", "everything"]
Period = Literal["day", "month"]
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


class SpaceUsage(NamedTuple):
    """Tokens and cost (US dollars) of a space's extraction and summaries, in a day and in its month."""

    space: int
    name: str
    day_tokens: int
    day_cost: float
    month_tokens: int
    month_cost: float


class PausedTexts(NamedTuple):
    """The spaces whose texts are not extracted now; `only_files`: their conversations are."""

    spaces: frozenset[int] = frozenset()
    only_files: bool = False


def _name_every_space(_space: str) -> str:
    return "all spaces"


@dataclass(frozen=True, slots=True)
class IndexingLimits:
    """What a language model may read of a workspace for the graph in a day and in a month (UTC); 0: no limit.

    Tokens count both ways; dollars count where the price is known. `find_workspace`: the workspace of a space, by its
    name; the spaces of a workspace share its budget. `rules_extract`: what rules read.
    """

    day_tokens: int = 0
    month_tokens: int = 0
    day_dollars: float = 0.0
    month_dollars: float = 0.0
    find_workspace: Callable[[str], str] = _name_every_space
    rules_extract: RulesExtract = "nothing"

    def counts(self, kind: str) -> bool:
        """Whether the extraction of a document of a kind costs anything: rules cost nothing."""
        return self.rules_extract == "nothing" or (self.rules_extract == "conversations" and kind != "conversation")

    @property
    def is_set(self) -> bool:
        """Whether anything is limited."""
        return any((self.day_tokens, self.month_tokens, self.day_dollars, self.month_dollars))


@dataclass(frozen=True, slots=True)
class SpentBudget:
    """A budget that is used up: whose, of which period, with which limit, and the day (UTC) of the next period."""

    workspace: str
    period: Period
    limit: str
    resumes: date

    def __str__(self) -> str:
        return (
            f"The indexing budget of {self.workspace} for this {self.period} is used up ({self.limit}). New texts are"
            " found by search, but are not in the graph yet. Indexing goes on by itself on"
            f" {self.resumes.isoformat()} (UTC), or when the budget is raised."
        )


class UsageMeter:
    """Collects the usage of the model calls made for one operation."""

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: list[Usage] = []

    def record(self, usage: Usage) -> None:
        """Add the usage of a call."""
        self.items.append(usage)

    def take(self) -> list[Usage]:
        """What was collected since this was last called."""
        taken, self.items = self.items, []
        return taken

    def put_back(self, taken: Sequence[Usage]) -> None:
        """Collect again what was taken, since it could not be recorded."""
        self.items = [*taken, *self.items]


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
