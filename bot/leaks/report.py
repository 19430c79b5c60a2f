"""What the test found: a table of surfaces and askers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

LeakKind = Literal["words", "granted", "difference"]
SENTENCES = {
    "words": "a reply contained words of a text that the asker may not read",
    "granted": "a request was carried out that the asker may not make",
    "difference": "a reply changed because of texts that the asker may not read",
}


@dataclass(frozen=True, slots=True)
class Leak:
    """A leak. `guarded`: what should have guarded the text; empty if several texts changed a reply."""

    surface: str
    asker: str
    kind: LeakKind
    guarded: str = ""


@dataclass(slots=True)
class LeakReport:
    """How often each surface was tried by each asker, what leaked, and what was not tried and why.

    `planted`: what guards the planted texts. `said`: the marked words that each asker asked about, which a list of
    their own questions contains.
    """

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    leaks: list[Leak] = field(default_factory=list)
    untried: dict[str, str] = field(default_factory=dict)
    planted: list[str] = field(default_factory=list)
    said: dict[str, set[str]] = field(default_factory=dict)

    def add(self, leak: Leak) -> None:
        """Add a leak that is not known yet."""
        if leak not in self.leaks:
            self.leaks.append(leak)

    @property
    def askers(self) -> list[str]:
        """Who asked, in the order in which they first did."""
        return list(dict.fromkeys(asker for _, asker in self.tried))

    def rows(self) -> list[tuple[str, list[str]]]:
        """A line for each surface: for each asker the number of replies, or of leaks."""
        leaks = Counter((leak.surface, leak.asker) for leak in self.leaks)
        surfaces = list(dict.fromkeys(surface for surface, _ in self.tried))
        return [(surface, [self._cell(leaks, surface, asker) for asker in self.askers]) for surface in surfaces]

    def _cell(self, leaks: Counter[tuple[str, str]], surface: str, asker: str) -> str:
        if found := leaks[surface, asker]:
            return f"LEAK {found}"
        return str(self.tried[surface, asker] or "")

    def to_json(self) -> dict[str, object]:
        """The report as JSON."""
        return {
            "leaks": [
                {"surface": leak.surface, "asker": leak.asker, "kind": leak.kind, "guarded": leak.guarded}
                for leak in self.leaks
            ],
            "replies": [
                {"surface": surface, "asker": asker, "count": count} for (surface, asker), count in self.tried.items()
            ],
            "untried": self.untried,
            "planted": self.planted,
        }
