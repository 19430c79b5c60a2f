"""The neighbourhood of a name as a picture, and in words for whoever cannot see it."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.graph_image.model import sketch
from bot.platform.models import Picture
from bot.text.terminal import harmless
from engine.errors import NotFound
from engine.text.names import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bot.graph_image.model import Sketch
    from engine.engine import Engine
    from engine.models import Scope
    from engine.retrieval.retriever import Neighbourhood

FIRST = 24  # relations of the name itself
FURTHER, BEHIND = 8, 12  # of so many names around it, so many relations each
ALT = 900  # characters of a picture in words
_DRAWING = threading.Lock()  # the library draws one picture at a time


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture. `numbered`: names whose letters no font here has, by the number that stands for them."""

    picture: Picture
    numbered: Mapping[str, str]


async def look(engine: Engine, name: str, scope: Scope) -> tuple[Neighbourhood, Sketch]:
    """A name with what is around it within the scope's spaces, and the sketch of that. Raises NotFound."""
    near = await engine.neighbourhood(name, scope, FIRST)
    if near.entity is None:
        alike = await engine.names(canonical(name)[:3], scope, 5)
        hint = f"I know of {', '.join(alike)}, for instance." if alike else "It has to be a name as it was written."
        raise NotFound(f"Here nothing is known of “{name}”.", hint=hint)
    weightiest = sorted(near.relations, key=lambda each: -each.weight)[:FURTHER]
    middle = canonical(near.entity.name)
    ends = dict.fromkeys(end for each in weightiest for end in (each.source, each.target) if canonical(end) != middle)
    further = await asyncio.gather(*(engine.neighbourhood(end, scope, BEHIND) for end in ends))
    return near, sketch(near, further)


async def picture(drawn: Sketch) -> Drawing:
    """The sketch as a PNG, made beside the loop."""
    return await asyncio.to_thread(_drawing, drawn)


def _drawing(drawn: Sketch) -> Drawing:
    from bot.graph_image.canvas import png  # noqa: PLC0415  - loads for a second, and few need it
    from bot.graph_image.fonts import legible, shortened  # noqa: PLC0415  - as above

    with _DRAWING:
        numbers = {node.key: f"№ {place}" for place, node in enumerate(drawn.nodes)}
        labels = {node.key: legible(harmless(node.name), numbers[node.key]) for node in drawn.nodes}
        data = png(drawn, {key: shortened(label) for key, label in labels.items()})
    numbered = {number: node.name for node in drawn.nodes if labels[node.key] == (number := numbers[node.key])}
    return Drawing(Picture(f"{_file_name(drawn.middle.name)}.png", data, in_words(drawn)), numbered)


def in_words(drawn: Sketch) -> str:
    """What the picture shows, the name's own links first, as far as an alternative text may go."""
    names = {node.key: harmless(node.name) for node in drawn.nodes}
    kind = f" ({drawn.middle.type})" if drawn.middle.type else ""
    head = f"A graph of {names[drawn.middle.key]}{kind} and {len(names) - 1} names around it."
    edges = sorted(drawn.edges, key=lambda edge: drawn.middle.key not in edge.ends)
    return _within(ALT, head, (f"{names[edge.ends[0]]} – {names[edge.ends[1]]}{_about(edge.words)}" for edge in edges))


def _about(words: str) -> str:
    return f" ({harmless(words)})" if words else ""


def _within(most: int, head: str, parts: Iterable[str]) -> str:
    text = head[:most]
    for part in parts:
        longer = f"{text} {part};"
        if len(longer) > most:
            return f"{text[:-1]} …" if text.endswith(";") else text
        text = longer
    return f"{text[:-1]}." if text.endswith(";") else text


def _file_name(name: str) -> str:
    kept = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name.casefold())
    return "-".join(filter(None, kept.split("-")))[:40] or "graph"
