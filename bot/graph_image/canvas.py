"""A sketch as a PNG: matplotlib's figures and its Agg canvas, without anything that matplotlib keeps globally."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from bot.graph_image.colors import FAINT, INK, LINE, OTHER, PAPER, QUIET, colours, tinted
from bot.graph_image.fonts import broken, families
from bot.graph_image.layout import Size, arranged, room_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from bot.graph_image.model import Edge, Node, Sketch

mpl.rcdefaults()  # whatever a matplotlibrc in the current folder says

DPI = 144
INCH = 72.0  # points
MARGIN, HEAD, FOOT = 18.0, 40.0, 34.0  # around the names; above for the title, below for the legend
LETTERS = (14.0, 10.0, 8.5)  # size by ring
AIR = (11.0, 6.0)  # between a label and the edge of its box
THIN, THICK = 0.7, 5.0  # lines
WORDED = 10  # lines that may tell their keyword
THROUGH, AROUND = 0.14, 0.45  # how near a line comes to the middle that is led around it, and how far; by its length


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle by its middle."""

    x: float
    y: float
    size: Size

    def touches(self, other: Area) -> bool:
        """Whether they share a point."""
        return (
            abs(self.x - other.x) * 2 < self.size.width + other.size.width
            and abs(self.y - other.y) * 2 < self.size.height + other.size.height
        )


def png(sketch: Sketch, labels: Mapping[str, str]) -> bytes:
    """The picture of a sketch; `labels` by key, in letters that can be drawn."""
    pen = _Pen.on_paper()
    texts = {node.key: pen.label(node, broken(labels[node.key])) for node in sketch.nodes}
    sizes = {key: _boxed(pen.measured(text)) for key, text in texts.items()}
    room = room_for(list(sizes.values()), max(node.ring for node in sketch.nodes))
    spots = arranged(sketch, sizes, room)
    places = {key: Area(x + MARGIN, y + FOOT, sizes[key]) for key, (x, y) in spots.items()}
    pen.resize(Size(room.width + 2 * MARGIN, room.height + HEAD + FOOT))
    painted = colours(node.type for node in sketch.nodes)
    pen.lines(sketch, places)
    for node in sketch.nodes:
        pen.box(node, places[node.key], painted[node.type])
        texts[node.key].set_position((places[node.key].x, places[node.key].y))
    pen.words(sketch, places)
    pen.title(labels[sketch.middle.key], len(sketch.nodes) - 1)
    pen.legend(painted)
    return pen.saved()


def _boxed(size: Size) -> Size:
    return Size(size.width + 2 * AIR[0], size.height + 2 * AIR[1])


@dataclass(frozen=True, slots=True)
class _Pen:
    """Draws on one figure. Its units are points, from the lower left corner."""

    figure: Figure
    canvas: FigureCanvasAgg
    axes: Axes

    @classmethod
    def on_paper(cls) -> _Pen:
        figure = Figure(dpi=DPI, facecolor=PAPER)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        return cls(figure, FigureCanvasAgg(figure), axes)

    def resize(self, size: Size) -> None:
        self.figure.set_size_inches(size.width / INCH, size.height / INCH)
        self.axes.set(xlim=(0, size.width), ylim=(0, size.height))

    @property
    def size(self) -> Size:
        width, height = self.figure.get_size_inches()
        return Size(float(width) * INCH, float(height) * INCH)

    def measured(self, text: Text) -> Size:
        extent = text.get_window_extent(self.canvas.get_renderer())  # type: ignore[no-untyped-call]
        return Size(extent.width * INCH / DPI, extent.height * INCH / DPI)

    def label(self, node: Node, text: str) -> Text:
        colour, weight = (PAPER, "bold") if node.ring == 0 else (INK, "normal")
        made = self.write(text, LETTERS[node.ring], colour)
        made.set(weight=weight, ha="center", va="center_baseline", zorder=5)
        return made

    def write(self, text: str, size: float, colour: str) -> Text:
        return self.axes.text(0, 0, text, size=size, color=colour, family=families(text), parse_math=False)

    def box(self, node: Node, place: Area, colour: str) -> None:
        width, height = place.size.width, place.size.height
        shape = FancyBboxPatch(
            (place.x - width / 2, place.y - height / 2),
            width,
            height,
            boxstyle=f"round,pad=0,rounding_size={min(height / 2, 13.0)}",
            facecolor=colour if node.ring == 0 else tinted(colour, 0.16 if node.ring == 1 else 0.07),
            edgecolor=colour if node.ring < 2 else tinted(colour, 0.6),
            linewidth=1.3 if node.ring < 2 else 0.9,
            zorder=4,
        )
        self.axes.add_patch(shape)

    def lines(self, sketch: Sketch, places: Mapping[str, Area]) -> None:
        heaviest = max((edge.weight for edge in sketch.edges), default=1.0)
        middle = (self.size.width / 2, places[sketch.middle.key].y)
        for edge in reversed(sketch.edges):
            close = sketch.middle.key in edge.ends
            path = _straight(edge, places) if close else _bent(edge, places, middle)
            width = THIN + (THICK - THIN) * math.sqrt(max(0.0, edge.weight) / heaviest)
            self.axes.add_patch(
                PathPatch(
                    path,
                    fill=False,
                    edgecolor=LINE if close else FAINT,
                    linewidth=width,
                    capstyle="round",
                    zorder=2 if close else 1,
                )
            )

    def words(self, sketch: Sketch, places: Mapping[str, Area]) -> None:
        """What the weightiest lines from the middle say, where there is room for it."""
        taken, done = list(places.values()), 0
        for edge in sketch.edges:
            if done == WORDED or sketch.middle.key not in edge.ends or not edge.words:
                continue
            text = self.write(edge.words, 7.5, QUIET)
            text.set(ha="center", va="center", zorder=3, path_effects=[withStroke(linewidth=3, foreground=PAPER)])
            place = _free(_along(sketch.middle.key, edge, places), self.measured(text), taken)
            if place is None:
                text.remove()
                continue
            text.set_position((place.x, place.y))
            taken.append(place)
            done += 1

    def title(self, name: str, others: int) -> None:
        text = self.write(name, 12.5, INK)
        text.set(weight="bold", va="center")
        text.set_position((MARGIN, self.size.height - 20))
        beside = self.write(f"and {others} name{'' if others == 1 else 's'} around it", 9.5, QUIET)
        beside.set(va="center")
        beside.set_position((MARGIN + self.measured(text).width + 7, self.size.height - 20.5))

    def legend(self, painted: Mapping[str, str]) -> None:
        """The types with their colours, as many as the line has room for."""
        x = MARGIN + 5
        note = self.write("wider line: said more often", 8, QUIET)
        note.set(ha="right", va="center")
        note.set_position((self.size.width - MARGIN, 15))
        end = self.size.width - 2 * MARGIN - self.measured(note).width
        named = [(kind or "other", colour) for kind, colour in painted.items() if colour != OTHER]
        for kind, colour in [*named, *([("other", OTHER)] if OTHER in painted.values() else [])]:
            text = self.write(kind, 8.5, QUIET)
            text.set(va="center")
            wide = self.measured(text).width
            if x + wide + 10 > end:
                text.remove()
                break
            self.axes.plot([x], [15], marker="o", markersize=6.5, color=colour)
            text.set_position((x + 8, 14.8))
            x += wide + 26

    def saved(self) -> bytes:
        kept = io.BytesIO()
        self.canvas.print_png(kept, metadata={"Software": None})  # type: ignore[no-untyped-call]
        return kept.getvalue()


def _straight(edge: Edge, places: Mapping[str, Area]) -> Path:
    one, other = (places[key] for key in edge.ends)
    return Path([(one.x, one.y), (other.x, other.y)])


def _bent(edge: Edge, places: Mapping[str, Area], middle: tuple[float, float]) -> Path:
    """A curve: towards the middle a little, so that it is no side of a polygon; around it, if it led through it."""
    one, other = (places[key] for key in edge.ends)
    between = ((one.x + other.x) / 2, (one.y + other.y) / 2)
    across = (other.x - one.x, other.y - one.y)
    if math.dist(between, middle) < THROUGH * math.hypot(*across):
        lean = (between[0] - AROUND * across[1], between[1] + AROUND * across[0])
    else:
        lean = (0.82 * between[0] + 0.18 * middle[0], 0.82 * between[1] + 0.18 * middle[1])
    return Path([(one.x, one.y), lean, (other.x, other.y)], [Path.MOVETO, Path.CURVE3, Path.CURVE3])


def _along(middle: str, edge: Edge, places: Mapping[str, Area]) -> list[tuple[float, float]]:
    """Points on a line from the middle, the best one for words first."""
    start, end = places[middle], places[edge.ends[edge.ends[0] == middle]]
    shares = (0.55, 0.62, 0.48, 0.7, 0.4)
    return [(start.x + share * (end.x - start.x), start.y + share * (end.y - start.y)) for share in shares]


def _free(points: Sequence[tuple[float, float]], size: Size, taken: Sequence[Area]) -> Area | None:
    wanted = (Area(x, y, Size(size.width + 8, size.height + 3)) for x, y in points)
    return next((area for area in wanted if not any(area.touches(each) for each in taken)), None)
