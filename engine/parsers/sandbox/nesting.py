"""Bound how deeply a document is nested, and what its abbreviations stand for, before it is parsed. Pure.

Parsers that walk trees call themselves for each level, and some look at all levels above for each element: a file of a
few bytes, packed or abbreviated, could crash them or hold them for a minute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.parsers import expat

import yaml

from engine.errors import DocumentTooLarge

if TYPE_CHECKING:
    from typing import Any

MAX_XML_DEPTH = 250  # elements; Word nests tables and text boxes some 30 deep
MAX_YAML_DEPTH = 100
MAX_INDENTED_LEVELS = 20  # of lists: deeper ones are not indented further, or the text would grow with the square
# Values that a YAML file may stand for: with aliases a few bytes can stand for any number.
_MIN_VALUES, _VALUES_PER_CHARACTER = 50_000, 4
_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_END_TAG = b"</"


def check_xml_depth(data: bytes) -> None:
    """Raise DocumentTooLarge for XML that is nested too deeply; what is not XML is left to its parser."""
    if data.count(_END_TAG) <= MAX_XML_DEPTH and b"\0" not in data[:4]:  # UTF-16
        return
    parser, depth = expat.ParserCreate(), 0

    def start(_: str, __: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_XML_DEPTH:
            raise DocumentTooLarge("The document is nested too deeply.")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(data, True)
    except expat.ExpatError:
        return


def is_yaml_too_deep(text: str) -> bool:
    """Whether the YAML is nested too deeply. Raises DocumentTooLarge for too many values, or as `load` does."""
    most = max(_MIN_VALUES, _VALUES_PER_CHARACTER * len(text))
    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str, int]] = []  # the anchor of each, and the values below it so far
    for event in yaml.parse(text, _YAML_LOADER):
        size = 0
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor or "", 1))
            sizes |= {event.anchor: most + 1} if event.anchor else {}  # while it is open, it would hold itself
            if len(open_nodes) > MAX_YAML_DEPTH:
                return True
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_nodes.pop()
            sizes |= {anchor: size} if anchor else {}
        elif isinstance(event, yaml.NodeEvent):
            size = _node_size(event, sizes)
        if size > most:
            raise DocumentTooLarge(f"The file stands for more than {most:,} values.")
        if size and open_nodes:
            anchor, below = open_nodes[-1]
            open_nodes[-1] = anchor, below + size
    return False


def _node_size(event: Any, sizes: dict[str, int]) -> int:
    """The values of a scalar or an alias; the loader refuses an alias of nothing."""
    if isinstance(event, yaml.AliasEvent):
        return sizes.get(event.anchor, 1)
    sizes |= {event.anchor: 1} if event.anchor else {}
    return 1
