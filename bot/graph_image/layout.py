"""Arrange the boxes of a graph in two rings around the center, next to their neighbors and without overlaps.

Pure and deterministic. Lengths are points; y grows upward.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.graph_image.model import GraphModel

SEED = 7
BOX_GAP = 9.0  # minimum distance of two boxes
ASPECT_RATIO = 1.6  # width divided by height
AREA_FACTORS = {1: 5.0, 2: 4.4}  # area of the picture divided by that of its boxes, by the number of rings
MIN_IMAGE_WIDTH = 520.0
MAX_ITERATIONS = 400
MAX_SINGLE_RING = 9  # boxes on one radius; more alternate between two
RING_RADII = {1: (0.66, 0.97), 2: (0.45, 0.7)}  # of the first ring, by the number of rings; shares of the area
OUTER_RADIUS = 0.99


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a box or a picture."""

    width: float
    height: float


@dataclass(slots=True)
class BoxCenter:
    """The center of a box, moved during the layout."""

    x: float
    y: float


def image_size(sizes: Sequence[Size], rings: int) -> Size:
    """The size of a picture for boxes of these sizes."""
    area = sum((size.width + BOX_GAP) * (size.height + BOX_GAP) for size in sizes) * AREA_FACTORS[max(1, rings)]
    width = max(MIN_IMAGE_WIDTH, math.sqrt(area * ASPECT_RATIO), 2.2 * max(size.width for size in sizes))
    return Size(width, width / ASPECT_RATIO)


def arrange_boxes(graph: GraphModel, sizes: Mapping[str, Size], canvas: Size) -> dict[str, tuple[float, float]]:
    """The center of each box within the area."""
    angles = _node_angles(graph)
    centers = {graph.center.key: BoxCenter(canvas.width / 2, canvas.height / 2)}
    for key, (angle, share) in {**_first_ring(graph, angles), **_second_ring(graph, angles)}.items():
        across, up = (canvas.width - sizes[key].width) / 2, (canvas.height - sizes[key].height) / 2
        centers[key] = BoxCenter(
            canvas.width / 2 + share * across * math.cos(angle), canvas.height / 2 + share * up * math.sin(angle)
        )
    _separate_boxes(centers, sizes, canvas, graph.center.key)
    return {key: (center.x, center.y) for key, center in centers.items()}


def _node_angles(graph: GraphModel) -> dict[str, float]:
    """The direction of each node from the center, by a spring layout that groups connected nodes."""
    network: nx.Graph[str] = nx.Graph()
    network.add_nodes_from(node.key for node in graph.nodes)
    middle = graph.center.key
    network.add_weighted_edges_from((*edge.ends, 0.3 if middle in edge.ends else 1.0) for edge in graph.edges)
    start = {
        node.key: (math.cos(2 * math.pi * place / len(graph.nodes)), math.sin(2 * math.pi * place / len(graph.nodes)))
        for place, node in enumerate(graph.nodes)
    } | {middle: (0.0, 0.0)}
    pulled = nx.spring_layout(network, pos=start, fixed=[middle], iterations=150, seed=SEED)
    return {key: math.atan2(float(place[1]), float(place[0])) for key, place in pulled.items()}


def _first_ring(graph: GraphModel, angles: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Angle and radius of the nodes next to the center: evenly spread, in the order of their directions."""
    keys = sorted((node.key for node in graph.nodes if node.ring == 1), key=lambda key: (angles[key], key))
    near, far = RING_RADII[2 if any(node.ring == 2 for node in graph.nodes) else 1]
    shares = (far, near) if len(keys) > MAX_SINGLE_RING else (0.3 * near + 0.7 * far,) * 2
    # Half a step off the horizontal axis, where boxes would overlap most.
    return {
        key: (2 * math.pi * (place + 0.5) / len(keys) - math.pi, shares[place % 2]) for place, key in enumerate(keys)
    }


def _second_ring(graph: GraphModel, angles: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Angle and radius of the outer nodes: behind the inner ones they are connected with."""
    placed = {key: angle for key, (angle, _) in _first_ring(graph, angles).items()}
    behind: dict[str, list[float]] = defaultdict(list)
    for one, other in (ends for edge in graph.edges for ends in (edge.ends, edge.ends[::-1])):
        if one in placed and other not in placed and other != graph.center.key:
            behind[other].append(placed[one])
    keys = [node.key for node in graph.nodes if node.ring == 2]
    targets = {key: _mean_angle(behind.get(key, [angles[key]])) for key in keys}
    return {key: (angle, OUTER_RADIUS) for key, angle in _spread_angles(targets).items()}


def _mean_angle(angles: Sequence[float]) -> float:
    return math.atan2(sum(map(math.sin, angles)), sum(map(math.cos, angles)))


def _spread_angles(targets: Mapping[str, float]) -> dict[str, float]:
    """Move angles apart by at least half of an even spread, as little as possible."""
    order = sorted(targets, key=lambda key: (targets[key], key))
    least, spread = math.pi / max(1, len(order)), dict(targets)
    for _ in range(MAX_ITERATIONS):
        close = [(one, other) for one, other in pairwise(order) if spread[other] - spread[one] < least - 1e-6]
        if not close:
            break
        for one, other in close:
            push = (least - spread[other] + spread[one]) / 2
            spread[one] -= push
            spread[other] += push
    return spread


def _separate_boxes(centers: Mapping[str, BoxCenter], sizes: Mapping[str, Size], canvas: Size, middle: str) -> None:
    """Move overlapping boxes apart along the shorter axis until none overlap; the center stays."""
    for _ in range(MAX_ITERATIONS):
        moved = [_separate_pair(centers, sizes, pair, middle) for pair in combinations(centers, 2)]
        for key, center in centers.items():
            across, up = sizes[key].width / 2, sizes[key].height / 2
            center.x = min(max(center.x, across), canvas.width - across)
            center.y = min(max(center.y, up), canvas.height - up)
        if not any(moved):
            return


def _separate_pair(
    centers: Mapping[str, BoxCenter], sizes: Mapping[str, Size], pair: tuple[str, str], middle: str
) -> bool:
    (one, other), (size, size_) = (centers[key] for key in pair), (sizes[key] for key in pair)
    across = (size.width + size_.width) / 2 + BOX_GAP - abs(one.x - other.x)
    up = (size.height + size_.height) / 2 + BOX_GAP - abs(one.y - other.y)
    if across <= 0 or up <= 0:
        return False
    shares = (0.0, 1.0) if pair[0] == middle else (1.0, 0.0) if pair[1] == middle else (0.5, 0.5)
    if up < across:
        way = math.copysign(up + 0.1, one.y - other.y)
        one.y, other.y = one.y + shares[0] * way, other.y - shares[1] * way
    else:
        way = math.copysign(across + 0.1, one.x - other.x)
        one.x, other.x = one.x + shares[0] * way, other.x - shares[1] * way
    return True
