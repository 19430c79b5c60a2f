"""Load the neighborhood of an entity, render it as a picture, and describe it in an alternative text."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bot.graph_image.model import build_graph_model
from bot.i18n import N_, gettext
from bot.platform.models import Picture
from bot.text.terminal import strip_control_chars
from engine.errors import NotFound
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bot.graph_image.model import GraphModel
    from engine import Engine, Neighborhood, Scope

MAX_RELATIONS = 24  # of the entity
MAX_NEIGHBORS, MAX_NEIGHBOR_RELATIONS = 8, 12  # neighbors whose relations are loaded; relations of each
MAX_ALT_TEXT_LENGTH = 900  # characters
WRITE_NAME_HINT = N_("Write the name as people here write it.")
LIBRARIES = ("matplotlib", "networkx")
_RENDER_LOCK = threading.Lock()  # matplotlib is not thread-safe


@dataclass(frozen=True, slots=True)
class RenderedGraph:
    """A picture. `numbered_names`: names that no font can draw, by the number that is graph instead."""

    picture: Picture
    numbered_names: Mapping[str, str]


def can_render() -> bool:
    """Whether the libraries of the extra `pictures` are installed."""
    return all(map(find_spec, LIBRARIES))


async def load_graph_model(engine: Engine, name: str, scope: Scope) -> tuple[Neighborhood, GraphModel]:
    """Load an entity's neighborhood within a scope, and its graph. Raises NotFound."""
    neighborhood = await engine.graph.get_neighborhood(name, scope, MAX_RELATIONS)
    if neighborhood.entity is None:
        alike = await engine.graph.find_names(normalize_name(name)[:3], scope, 5)
        hint = gettext("Did you mean {names}?").format(names=", ".join(alike)) if alike else gettext(WRITE_NAME_HINT)
        raise NotFound(gettext("I don't know anything about “{name}” here.").format(name=name), hint=hint)
    weightiest = sorted(neighborhood.relations, key=lambda each: -each.weight)[:MAX_NEIGHBORS]
    middle = normalize_name(neighborhood.entity.name)
    ends = dict.fromkeys(
        end for relation in weightiest for end in (relation.source, relation.target) if normalize_name(end) != middle
    )
    others = await asyncio.gather(*(engine.graph.get_neighborhood(end, scope, MAX_NEIGHBOR_RELATIONS) for end in ends))
    return neighborhood, build_graph_model(neighborhood, others)


async def render_graph(graph: GraphModel) -> RenderedGraph:
    """Render a graph as a PNG in a thread."""
    return await asyncio.to_thread(_render_locked, graph)


def _render_locked(graph: GraphModel) -> RenderedGraph:
    from bot.graph_image.canvas import render_png  # noqa: PLC0415  - loads for a second, and few need it
    from bot.graph_image.fonts import drawable_text, truncate_name  # noqa: PLC0415  - as above

    with _RENDER_LOCK:
        numbers = {node.key: f"№ {place}" for place, node in enumerate(graph.nodes)}
        labels = {node.key: drawable_text(strip_control_chars(node.name), numbers[node.key]) for node in graph.nodes}
        data = render_png(graph, {key: truncate_name(label) for key, label in labels.items()})
    numbered = {number: node.name for node in graph.nodes if labels[node.key] == (number := numbers[node.key])}
    return RenderedGraph(Picture(f"{_build_file_name(graph.center.name)}.png", data, build_alt_text(graph)), numbered)


def build_alt_text(graph: GraphModel) -> str:
    """Describe the picture, the relations of the entity first, up to MAX_ALT_TEXT_LENGTH."""
    names = {node.key: strip_control_chars(node.name) for node in graph.nodes}
    kind = f" ({graph.center.type})" if graph.center.type else ""
    head = f"A graph of {names[graph.center.key]}{kind} and {len(names) - 1} names around it."
    edges = sorted(graph.edges, key=lambda edge: graph.center.key not in edge.ends)
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
