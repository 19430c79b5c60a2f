"""Charts and diagrams of OpenXML files as text: a chart is its title, its axes and its numbers. Pure."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from engine.parsers.formats.openxml.number_formats import format_number
from engine.parsers.formats.openxml.parts import paragraphs_of
from engine.parsers.formats.xml_tree import attribute, find_all, local_name
from engine.parsers.passages import Block, render_table
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from engine.parsers.formats.openxml.parts import PartReader, PartRelation

_AXES = ("catAx", "valAx", "dateAx", "serAx")
_MAX_POINTS = 5000  # of a chart
CHARTS, DIAGRAMS = frozenset({"chart", "chartEx"}), "diagramData"


def drawing_blocks(parts: PartReader, relations: list[PartRelation], place: str) -> Iterator[Block]:
    """The charts and diagrams that a part refers to."""
    for relation in relations:
        if relation.type in CHARTS and (root := parts.read(relation.target, f"{place}, chart")) is not None:
            yield from chart_blocks(root)
        elif relation.type == DIAGRAMS and (root := parts.read(relation.target, f"{place}, diagram")) is not None:
            yield from (Block(text, 0, 0, "item") for text in diagram_texts(root))


def diagram_texts(root: Element) -> Iterator[str]:
    """The texts of the points of a diagram (SmartArt), in their order."""
    for point in find_all(root, "pt"):
        if text := " ".join(paragraphs_of(point)):
            yield text


def chart_blocks(root: Element) -> Iterator[Block]:
    """The title and the axes of a chart, then its numbers as a table of categories and series."""
    title = next(filter(None, map(_title_text, find_all(root, "title"))), "")
    yield Block(f"Chart: {title}" if title else "Chart", 0, 0, "item")
    axes = (axis for name in _AXES for axis in find_all(root, name))
    labels = dict.fromkeys(filter(None, (_title_text(element) for axis in axes for element in find_all(axis, "title"))))
    labels.pop(title, None)
    if labels:
        yield Block(f"Axes: {', '.join(labels)}", 0, 0, "item")
    if rows := _series_rows(root) or _extended_rows(root):
        yield Block(render_table(rows), 0, 0, "table")


def _title_text(title: Element) -> str:
    if text := " ".join(paragraphs_of(title)):
        return text
    return clean_single_line(" ".join(element.text or "" for element in find_all(title, "v")))


def _series_rows(root: Element) -> list[list[str]]:
    names: list[str] = []
    points: dict[str, dict[int, str]] = {}  # by category: the values by series
    categories: dict[int, str] = {}
    for at, series in enumerate(find_all(root, "ser")):
        names.append(
            " ".join(element.text or "" for holder in _children(series, "tx") for element in find_all(holder, "v"))
        )
        found = _cached(series, "cat") or _cached(series, "xVal")
        categories = found or categories
        for number, value in (_cached(series, "val") or _cached(series, "yVal")).items():
            points.setdefault(categories.get(number, str(number + 1)), {})[at] = value
        for number, value in _cached(series, "bubbleSize").items():
            row = points.setdefault(categories.get(number, str(number + 1)), {})
            row[at] = f"{row.get(at, '')} ({value})"
    if not points:
        return []
    rows = [[category, *(values.get(at, "") for at in range(len(names)))] for category, values in points.items()]
    return [["", *map(clean_single_line, names)], *rows]


def _children(element: Element, name: str) -> Iterator[Element]:
    return (child for child in element if local_name(child) == name)


def _cached(series: Element, name: str) -> dict[int, str]:
    """The values that the chart keeps of its data, by their index; levels of categories are joined."""
    found: dict[int, str] = {}
    for holder in _children(series, name):
        code = next((element.text or "" for element in find_all(holder, "formatCode")), "")
        for point in islice(find_all(holder, "pt"), _MAX_POINTS):
            index = attribute(point, "idx")
            text = clean_single_line(" ".join(element.text or "" for element in find_all(point, "v")))
            if index.isdecimal() and text:
                place, shown = int(index), _format(text, code or attribute(point, "formatCode"))
                found[place] = f"{shown}, {found[place]}" if place in found else shown
    return found


def _format(text: str, code: str) -> str:
    try:
        return format_number(float(text), code) if code else text
    except ValueError:
        return text


def _extended_rows(root: Element) -> list[list[str]]:
    """The data of newer kinds of charts (waterfall, sunburst): each dimension is a column."""
    columns = [
        [clean_single_line(point.text or "") for point in islice(find_all(dimension, "pt"), _MAX_POINTS)]
        for dimension in root.iter()
        if local_name(dimension) in {"strDim", "numDim"}
    ]
    longest = max(map(len, columns), default=0)
    rows = [[column[at] if at < len(column) else "" for column in columns] for at in range(longest)]
    return [[""] * len(columns), *rows] if rows else []
