"""Where the names of a picture stand: around the one in the middle, near what they are linked with, none on another.

Pure: the same names always stand in the same places. Lengths are points; y grows upwards.
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
BOX_GAP = 9.0  # between two boxes, at least
ASPECT_RATIO = 1.6  # width of a picture by its height
AREA_FACTORS = {1: 5.0, 2: 4.4}  # room for each point that a box covers, by the number of rings
MIN_IMAGE_WIDTH = 520.0  # width
MAX_ITERATIONS = 400
MAX_SINGLE_RING = 9  # so many names stand on one ring; more of them alternate between two
RING_RADII = {1: (0.66, 0.97), 2: (0.45, 0.7)}  # of the first ring, by the number of rings; as a share of the room
OUTER_RADIUS = 0.99


@dataclass(frozen=True, slots=True)
class Size:
    """Of a box, or of a whole picture."""

    width: float
    height: float


@dataclass(slots=True)
class BoxCenter:
    """The centre of a box, while it is sought."""

    x: float
    y: float


def image_size(sizes: Sequence[Size], rings: int) -> Size:
    """How large a picture is in which these boxes have air around them."""
    area = sum((size.width + BOX_GAP) * (size.height + BOX_GAP) for size in sizes) * AREA_FACTORS[max(1, rings)]
    width = max(MIN_IMAGE_WIDTH, math.sqrt(area * ASPECT_RATIO), 2.2 * max(size.width for size in sizes))
    return Size(width, width / ASPECT_RATIO)


def arrange_boxes(sketch: GraphModel, sizes: Mapping[str, Size], room: Size) -> dict[str, tuple[float, float]]:
    """The centre of every name's box within the room."""
    angles = _node_angles(sketch)
    spots = {sketch.center.key: BoxCenter(room.width / 2, room.height / 2)}
    for key, (angle, share) in {**_first_ring(sketch, angles), **_second_ring(sketch, angles)}.items():
        across, up = (room.width - sizes[key].width) / 2, (room.height - sizes[key].height) / 2
        spots[key] = BoxCenter(
            room.width / 2 + share * across * math.cos(angle), room.height / 2 + share * up * math.sin(angle)
        )
    _separate_boxes(spots, sizes, room, sketch.center.key)
    return {key: (spot.x, spot.y) for key, spot in spots.items()}


def _node_angles(sketch: GraphModel) -> dict[str, float]:
    """The direction of every name, so that those which are linked lie side by side: as springs would pull them."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(node.key for node in sketch.nodes)
    middle = sketch.center.key
    graph.add_weighted_edges_from((*edge.ends, 0.3 if middle in edge.ends else 1.0) for edge in sketch.edges)
    start = {
        node.key: (math.cos(2 * math.pi * place / len(sketch.nodes)), math.sin(2 * math.pi * place / len(sketch.nodes)))
        for place, node in enumerate(sketch.nodes)
    } | {middle: (0.0, 0.0)}
    pulled = nx.spring_layout(graph, pos=start, fixed=[middle], iterations=150, seed=SEED)
    return {key: math.atan2(float(place[1]), float(place[0])) for key, place in pulled.items()}


def _first_ring(sketch: GraphModel, angles: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Angle and distance of the names next to the middle: evenly spread, in the order of their directions."""
    keys = sorted((node.key for node in sketch.nodes if node.ring == 1), key=lambda key: (angles[key], key))
    near, far = RING_RADII[2 if any(node.ring == 2 for node in sketch.nodes) else 1]
    shares = (far, near) if len(keys) > MAX_SINGLE_RING else (0.3 * near + 0.7 * far,) * 2
    # Half a step beside the horizontal, where boxes are widest.
    return {
        key: (2 * math.pi * (place + 0.5) / len(keys) - math.pi, shares[place % 2]) for place, key in enumerate(keys)
    }


def _second_ring(sketch: GraphModel, angles: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Angle and distance of the names behind: each behind the ones that it is linked with, and not too close."""
    placed = {key: angle for key, (angle, _) in _first_ring(sketch, angles).items()}
    behind: dict[str, list[float]] = defaultdict(list)
    for one, other in (ends for edge in sketch.edges for ends in (edge.ends, edge.ends[::-1])):
        if one in placed and other not in placed and other != sketch.center.key:
            behind[other].append(placed[one])
    keys = [node.key for node in sketch.nodes if node.ring == 2]
    wanted = {key: _mean_angle(behind.get(key, [angles[key]])) for key in keys}
    return {key: (angle, OUTER_RADIUS) for key, angle in _spread_angles(wanted).items()}


def _mean_angle(angles: Sequence[float]) -> float:
    return math.atan2(sum(map(math.sin, angles)), sum(map(math.cos, angles)))


def _spread_angles(wanted: Mapping[str, float]) -> dict[str, float]:
    """Directions apart from each other by half of what an even spread would give, moved as little as can be."""
    order = sorted(wanted, key=lambda key: (wanted[key], key))
    least, found = math.pi / max(1, len(order)), dict(wanted)
    for _ in range(MAX_ITERATIONS):
        close = [(one, other) for one, other in pairwise(order) if found[other] - found[one] < least - 1e-6]
        if not close:
            break
        for one, other in close:
            push = (least - found[other] + found[one]) / 2
            found[one] -= push
            found[other] += push
    return found


def _separate_boxes(spots: Mapping[str, BoxCenter], sizes: Mapping[str, Size], room: Size, middle: str) -> None:
    """Move boxes that lie on each other apart, the shorter way, until none does; the middle one stays."""
    for _ in range(MAX_ITERATIONS):
        moved = [_separate_pair(spots, sizes, pair, middle) for pair in combinations(spots, 2)]
        for key, spot in spots.items():
            across, up = sizes[key].width / 2, sizes[key].height / 2
            spot.x = min(max(spot.x, across), room.width - across)
            spot.y = min(max(spot.y, up), room.height - up)
        if not any(moved):
            return


def _separate_pair(
    spots: Mapping[str, BoxCenter], sizes: Mapping[str, Size], pair: tuple[str, str], middle: str
) -> bool:
    (one, other), (size, size_) = (spots[key] for key in pair), (sizes[key] for key in pair)
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
