"""The neighbourhood of a name as a picture, and in words for whoever cannot see it."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.graph_image.model import build_graph_model
from bot.platform.models import Picture
from bot.text.terminal import strip_control_chars
from engine import normalize_name
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bot.graph_image.model import GraphModel
    from engine import Engine, Neighbourhood, Scope

MAX_RELATIONS = 24  # relations of the name itself
MAX_NEIGHBOURS, MAX_NEIGHBOUR_RELATIONS = 8, 12  # of so many names around it, so many relations each
MAX_ALT_TEXT_LENGTH = 900  # characters of a picture in words
_RENDER_LOCK = threading.Lock()  # the library draws one picture at a time


@dataclass(frozen=True, slots=True)
class RenderedGraph:
    """A picture. `numbered`: names whose letters no font here has, by the number that stands for them."""

    picture: Picture
    numbered_names: Mapping[str, str]


async def load_graph_model(engine: Engine, name: str, scope: Scope) -> tuple[Neighbourhood, GraphModel]:
    """A name with what is around it within the scope's spaces, and the sketch of that. Raises NotFound."""
    near = await engine.get_neighbourhood(name, scope, MAX_RELATIONS)
    if near.entity is None:
        alike = await engine.find_names(normalize_name(name)[:3], scope, 5)
        hint = f"I know of {', '.join(alike)}, for instance." if alike else "It has to be a name as it was written."
        raise NotFound(f"Here nothing is known of “{name}”.", hint=hint)
    weightiest = sorted(near.relations, key=lambda each: -each.weight)[:MAX_NEIGHBOURS]
    middle = normalize_name(near.entity.name)
    ends = dict.fromkeys(
        end for each in weightiest for end in (each.source, each.target) if normalize_name(end) != middle
    )
    further = await asyncio.gather(*(engine.get_neighbourhood(end, scope, MAX_NEIGHBOUR_RELATIONS) for end in ends))
    return near, build_graph_model(near, further)


async def render_graph(drawn: GraphModel) -> RenderedGraph:
    """The sketch as a PNG, made beside the loop."""
    return await asyncio.to_thread(_render_locked, drawn)


def _render_locked(drawn: GraphModel) -> RenderedGraph:
    from bot.graph_image.canvas import render_png  # noqa: PLC0415  - loads for a second, and few need it
    from bot.graph_image.fonts import drawable_text, truncate_name  # noqa: PLC0415  - as above

    with _RENDER_LOCK:
        numbers = {node.key: f"№ {place}" for place, node in enumerate(drawn.nodes)}
        labels = {node.key: drawable_text(strip_control_chars(node.name), numbers[node.key]) for node in drawn.nodes}
        data = render_png(drawn, {key: truncate_name(label) for key, label in labels.items()})
    numbered = {number: node.name for node in drawn.nodes if labels[node.key] == (number := numbers[node.key])}
    return RenderedGraph(Picture(f"{_build_file_name(drawn.center.name)}.png", data, build_alt_text(drawn)), numbered)


def build_alt_text(drawn: GraphModel) -> str:
    """What the picture shows, the name's own links first, as far as an alternative text may go."""
    names = {node.key: strip_control_chars(node.name) for node in drawn.nodes}
    kind = f" ({drawn.center.type})" if drawn.center.type else ""
    head = f"A graph of {names[drawn.center.key]}{kind} and {len(names) - 1} names around it."
    edges = sorted(drawn.edges, key=lambda edge: drawn.center.key not in edge.ends)
    return _join_within(
        MAX_ALT_TEXT_LENGTH,
        head,
        (f"{names[edge.ends[0]]} – {names[edge.ends[1]]}{_format_keyword(edge.keyword)}" for edge in edges),
    )


def _format_keyword(words: str) -> str:
    return f" ({strip_control_chars(words)})" if words else ""


def _join_within(most: int, head: str, parts: Iterable[str]) -> str:
    text = head[:most]
    for part in parts:
        longer = f"{text} {part};"
        if len(longer) > most:
            return f"{text[:-1]} …" if text.endswith(";") else text
        text = longer
    return f"{text[:-1]}." if text.endswith(";") else text


def _build_file_name(name: str) -> str:
    kept = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name.casefold())
    return "-".join(filter(None, kept.split("-")))[:40] or "graph"
