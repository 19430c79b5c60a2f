"""The picture of both growth curves: documents a second against documents in the store, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from benchmarks.peer.measurement import SystemFigures
from bot.graph_image.canvas import BACKGROUND_COLOR, FAINT_LINE_COLOR, MUTED_COLOR, TEXT_COLOR, TYPE_COLORS

SIZE = (7.6, 3.8)  # inches
LABEL_ROOM = 1.35  # length of the horizontal axis, in lengths of the curves
COLORS = (TYPE_COLORS["organization"], TYPE_COLORS["person"])


def draw_growth(systems: Sequence[SystemFigures], file: Path) -> None:
    """Draw the first and the second system; the rate has a logarithmic axis. Text stays text."""
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 10}):
        figure = Figure(figsize=SIZE, facecolor=BACKGROUND_COLOR, layout="constrained")
        axes = figure.add_subplot()
        for system, color in zip(systems, COLORS, strict=True):
            draw_curve(axes, system, color)
        style_axes(axes, max(slice_.before + slice_.count for slice_ in systems[0].slices))
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})


def draw_curve(axes: Axes, system: SystemFigures, color: str) -> None:
    """One point per slice, in its middle; dashed: by processor time, which other programs on the machine hardly change.

    The name and the first and last rates stand at the end of the line.
    """
    places = [slice_.before + slice_.count / 2 for slice_ in system.slices]
    rates = [slice_.count / slice_.seconds for slice_ in system.slices]
    by_processor = [slice_.count / slice_.processor for slice_ in system.slices]
    axes.plot(places, rates, color=color, linewidth=2, marker="o", markersize=4)
    axes.plot(places, by_processor, color=color, linewidth=1, linestyle="--")
    axes.annotate(
        f"{system.name}\n{rates[0]:.2g} → {rates[-1]:.2g} per second",
        (places[-1], rates[-1]),
        (10, 0),
        textcoords="offset points",
        verticalalignment="center",
        color=color,
        fontweight="bold",
    )


def style_axes(axes: Axes, documents: int) -> None:
    axes.set_yscale("log")
    axes.set_xlim(0, documents * LABEL_ROOM)
    axes.set_xlabel("documents in the store", color=TEXT_COLOR)
    axes.set_ylabel("documents ingested per second\n(dashed: per second of processor time)", color=TEXT_COLOR)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(visible=True, color=FAINT_LINE_COLOR, linewidth=0.7)
    axes.tick_params(colors=MUTED_COLOR)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(FAINT_LINE_COLOR)
