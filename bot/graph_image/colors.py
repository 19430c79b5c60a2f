"""Assign colors to entity types; the default types have fixed ones. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT_COLOR, BACKGROUND_COLOR, MUTED_COLOR, LINE_COLOR, FAINT_LINE_COLOR = (
    "#1d2330",
    "#ffffff",
    "#626b7d",
    "#9aa4b5",
    "#d3d8e0",
)
OTHER_COLOR = "#7d8594"
MAX_COLORS = 9  # types with a color of their own in one picture
TYPE_COLORS = {
    "person": "#3767d6",
    "organization": "#d9731f",
    "location": "#23935a",
    "event": "#c93f7e",
    "concept": "#7a56d0",
    "method": "#0d8ea6",
    "content": "#a98212",
    "data": "#55708c",
    "artifact": "#c8402f",
    "creature": "#8b6338",
    "naturalobject": "#6a961b",
}
EXTRA_COLORS = ("#a445b2", "#157a6e", "#a4525f", "#4a4fb5", "#8f7a3a", "#3a86a8")


def assign_colors(types: Iterable[str]) -> dict[str, str]:
    """A color for each type, the most frequent first; types beyond MAX_COLORS share one."""
    counted = sorted(Counter(types).items(), key=lambda item: (-item[1], item[0]))
    spare, chosen = iter(EXTRA_COLORS), dict[str, str]()
    for place, (kind, _) in enumerate(counted):
        color = TYPE_COLORS.get(kind) or (next(spare, OTHER_COLOR) if kind not in {"", "other"} else OTHER_COLOR)
        chosen[kind] = color if place < MAX_COLORS else OTHER_COLOR
    return chosen


def tint_color(color: str, share: float) -> str:
    """Mix a color with white: a share of 1 is the color itself, 0 is white."""
    parts = [int(color[start : start + 2], 16) for start in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - share * (255 - part)):02x}" for part in parts)
