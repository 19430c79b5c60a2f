"""Draw a graph model in its colors as a PNG on matplotlib's Agg canvas, without matplotlib's global state."""

from __future__ import annotations

import io
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from bot.graph_image.fonts import font_families, wrap_label
from bot.graph_image.layout import Size, arrange_boxes, image_size
from bot.text.format import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from bot.graph_image.model import Edge, GraphModel, Node


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


mpl.rcdefaults()  # ignore a matplotlibrc in the current folder

DPI = 144
POINTS_PER_INCH = 72.0  # points
MARGIN, HEADER_HEIGHT, FOOTER_HEIGHT = 18.0, 40.0, 34.0  # margin; heights of title and legend
FONT_SIZES = (14.0, 10.0, 8.5)  # by ring
LABEL_PADDING = (11.0, 6.0)  # between a label and the edge of its box
MIN_LINE_WIDTH, MAX_LINE_WIDTH = 0.7, 5.0  # lines
MAX_EDGE_KEYWORDS = 10  # edges that are labeled with a keyword
CENTER_CLEARANCE, DETOUR = (
    0.14,
    0.45,
)  # an edge this near to the center is led around it by DETOUR; shares of its length


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; x and y are its center."""

    x: float
    y: float
    size: Size

    def overlaps(self, other: Box) -> bool:
        """Whether two rectangles share a point."""
        return (
            abs(self.x - other.x) * 2 < self.size.width + other.size.width
            and abs(self.y - other.y) * 2 < self.size.height + other.size.height
        )


def render_png(graph: GraphModel, labels: Mapping[str, str]) -> bytes:
    """Draw a graph; `labels` by key contain only characters that a font has."""
    drawing = _FigureCanvas.create()
    texts = {node.key: drawing.draw_label(node, wrap_label(labels[node.key])) for node in graph.nodes}
    sizes = {key: _with_padding(drawing.measure_text(text)) for key, text in texts.items()}
    image = image_size(list(sizes.values()), max(node.ring for node in graph.nodes))
    centers = arrange_boxes(graph, sizes, image)
    boxes = {key: Box(x + MARGIN, y + FOOTER_HEIGHT, sizes[key]) for key, (x, y) in centers.items()}
    drawing.resize(Size(image.width + 2 * MARGIN, image.height + HEADER_HEIGHT + FOOTER_HEIGHT))
    colors = assign_colors(node.type for node in graph.nodes)
    drawing.draw_edges(graph, boxes)
    for node in graph.nodes:
        drawing.draw_box(node, boxes[node.key], colors[node.type])
        texts[node.key].set_position((boxes[node.key].x, boxes[node.key].y))
    drawing.draw_keywords(graph, boxes)
    drawing.draw_title(labels[graph.center.key], len(graph.nodes) - 1)
    drawing.draw_legend(colors)
    return drawing.to_png()


def _with_padding(size: Size) -> Size:
    return Size(size.width + 2 * LABEL_PADDING[0], size.height + 2 * LABEL_PADDING[1])


@dataclass(frozen=True, slots=True)
class _FigureCanvas:
    """One figure. Units are points from the lower left corner."""

    figure: Figure
    canvas: FigureCanvasAgg
    axes: Axes

    @classmethod
    def create(cls) -> _FigureCanvas:
        figure = Figure(dpi=DPI, facecolor=BACKGROUND_COLOR)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        return cls(figure, FigureCanvasAgg(figure), axes)

    def resize(self, size: Size) -> None:
        self.figure.set_size_inches(size.width / POINTS_PER_INCH, size.height / POINTS_PER_INCH)
        self.axes.set(xlim=(0, size.width), ylim=(0, size.height))

    @property
    def size(self) -> Size:
        width, height = self.figure.get_size_inches()
        return Size(float(width) * POINTS_PER_INCH, float(height) * POINTS_PER_INCH)

    def measure_text(self, text: Text) -> Size:
        extent = text.get_window_extent(self.canvas.get_renderer())  # type: ignore[no-untyped-call]
        return Size(extent.width * POINTS_PER_INCH / DPI, extent.height * POINTS_PER_INCH / DPI)

    def draw_label(self, node: Node, text: str) -> Text:
        color, weight = (BACKGROUND_COLOR, "bold") if node.ring == 0 else (TEXT_COLOR, "normal")
        label = self.draw_text(text, FONT_SIZES[node.ring], color)
        label.set(weight=weight, ha="center", va="center_baseline", zorder=5)
        return label

    def draw_text(self, text: str, size: float, color: str) -> Text:
        return self.axes.text(0, 0, text, size=size, color=color, family=font_families(text), parse_math=False)

    def draw_box(self, node: Node, box: Box, color: str) -> None:
        width, height = box.size.width, box.size.height
        box_patch = FancyBboxPatch(
            (box.x - width / 2, box.y - height / 2),
            width,
            height,
            boxstyle=f"round,pad=0,rounding_size={min(height / 2, 13.0)}",
            facecolor=color if node.ring == 0 else tint_color(color, 0.16 if node.ring == 1 else 0.07),
            edgecolor=color if node.ring < 2 else tint_color(color, 0.6),
            linewidth=1.3 if node.ring < 2 else 0.9,
            zorder=4,
        )
        self.axes.add_patch(box_patch)

    def draw_edges(self, graph: GraphModel, boxes: Mapping[str, Box]) -> None:
        heaviest = max((edge.weight for edge in graph.edges), default=1.0)
        middle = (self.size.width / 2, boxes[graph.center.key].y)
        for edge in reversed(graph.edges):
            close = graph.center.key in edge.ends
            path = _straight_path(edge, boxes) if close else _curved_path(edge, boxes, middle)
            width = MIN_LINE_WIDTH + (MAX_LINE_WIDTH - MIN_LINE_WIDTH) * math.sqrt(max(0.0, edge.weight) / heaviest)
            self.axes.add_patch(
                PathPatch(
                    path,
                    fill=False,
                    edgecolor=LINE_COLOR if close else FAINT_LINE_COLOR,
                    linewidth=width,
                    capstyle="round",
                    zorder=2 if close else 1,
                )
            )

    def draw_keywords(self, graph: GraphModel, boxes: Mapping[str, Box]) -> None:
        """Label the heaviest edges of the center with their keywords, where there is space."""
        taken, done = list(boxes.values()), 0
        for edge in graph.edges:
            if done == MAX_EDGE_KEYWORDS or graph.center.key not in edge.ends or not edge.keyword:
                continue
            text = self.draw_text(edge.keyword, 7.5, MUTED_COLOR)
            text.set(
                ha="center", va="center", zorder=3, path_effects=[withStroke(linewidth=3, foreground=BACKGROUND_COLOR)]
            )
            box = _find_free_box(_label_points(graph.center.key, edge, boxes), self.measure_text(text), taken)
            if box is None:
                text.remove()
                continue
            text.set_position((box.x, box.y))
            taken.append(box)
            done += 1

    def draw_title(self, name: str, others: int) -> None:
        text = self.draw_text(name, 12.5, TEXT_COLOR)
        text.set(weight="bold", va="center")
        text.set_position((MARGIN, self.size.height - 20))
        subtitle = self.draw_text(f"and {pluralize(others, 'name')} around it", 9.5, MUTED_COLOR)
        subtitle.set(va="center")
        subtitle.set_position((MARGIN + self.measure_text(text).width + 7, self.size.height - 20.5))

    def draw_legend(self, colors: Mapping[str, str]) -> None:
        """Show the types with their colors, as many as fit into one line."""
        x = MARGIN + 5
        note = self.draw_text("wider line: mentioned more often", 8, MUTED_COLOR)
        note.set(ha="right", va="center")
        note.set_position((self.size.width - MARGIN, 15))
        end = self.size.width - 2 * MARGIN - self.measure_text(note).width
        named = [(kind or "other", color) for kind, color in colors.items() if color != OTHER_COLOR]
        for kind, color in [*named, *([("other", OTHER_COLOR)] if OTHER_COLOR in colors.values() else [])]:
            text = self.draw_text(kind, 8.5, MUTED_COLOR)
            text.set(va="center")
            wide = self.measure_text(text).width
            if x + wide + 10 > end:
                text.remove()
                break
            self.axes.plot([x], [15], marker="o", markersize=6.5, color=color)
            text.set_position((x + 8, 14.8))
            x += wide + 26

    def to_png(self) -> bytes:
        buffer = io.BytesIO()
        self.canvas.print_png(buffer, metadata={"Software": None})  # type: ignore[no-untyped-call]
        return buffer.getvalue()


def _straight_path(edge: Edge, boxes: Mapping[str, Box]) -> Path:
    one, other = (boxes[key] for key in edge.ends)
    return Path([(one.x, one.y), (other.x, other.y)])


def _curved_path(edge: Edge, boxes: Mapping[str, Box], middle: tuple[float, float]) -> Path:
    """A curve bent toward the center; an edge that would cross the center is led around it."""
    one, other = (boxes[key] for key in edge.ends)
    between = ((one.x + other.x) / 2, (one.y + other.y) / 2)
    across = (other.x - one.x, other.y - one.y)
    if math.dist(between, middle) < CENTER_CLEARANCE * math.hypot(*across):
        control = (between[0] - DETOUR * across[1], between[1] + DETOUR * across[0])
    else:
        control = (0.82 * between[0] + 0.18 * middle[0], 0.82 * between[1] + 0.18 * middle[1])
    return Path([(one.x, one.y), control, (other.x, other.y)], [Path.MOVETO, Path.CURVE3, Path.CURVE3])


def _label_points(middle: str, edge: Edge, boxes: Mapping[str, Box]) -> list[tuple[float, float]]:
    """Points on an edge of the center for its label, the best one first."""
    start, end = boxes[middle], boxes[edge.ends[edge.ends[0] == middle]]
    shares = (0.55, 0.62, 0.48, 0.7, 0.4)
    return [(start.x + share * (end.x - start.x), start.y + share * (end.y - start.y)) for share in shares]


def _find_free_box(points: Sequence[tuple[float, float]], size: Size, taken: Sequence[Box]) -> Box | None:
    candidates = (Box(x, y, Size(size.width + 8, size.height + 3)) for x, y in points)
    return next((area for area in candidates if not any(area.overlaps(box) for box in taken)), None)


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
