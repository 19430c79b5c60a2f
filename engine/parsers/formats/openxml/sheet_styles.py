"""The number formats of the cells of a worksheet, read beside their values. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.parsers import expat

from engine.parsers.formats.openxml.number_formats import BUILT_IN
from engine.parsers.formats.xml_tree import attribute, find_all, local_name

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

PLAIN_CODES = frozenset({"", "General", "@", "0", "Standard"})
_REFERENCE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")
Formats = dict[int, dict[int, str]]


def read_style_codes(styles: Element | None) -> dict[str, str]:
    """The format of each style of cells by its number; those that change nothing are left out."""
    own = {attribute(element, "numFmtId"): attribute(element, "formatCode") for element in find_all(styles, "numFmt")}
    cells = next(find_all(styles, "cellXfs"), None)
    rows = [cell for cell in cells if local_name(cell) == "xf"] if cells is not None else []
    codes: dict[str, str] = {}
    for number, row in enumerate(rows):
        kind = attribute(row, "numFmtId")
        code = own.get(kind) or (BUILT_IN.get(int(kind), "") if kind.isdecimal() else "")
        if code not in PLAIN_CODES:
            codes[str(number)] = code
    return codes


def read_cell_formats(sheet: bytes, codes: dict[str, str]) -> Formats:
    """The formats of the cells of a sheet, by row and column from 0; none if the sheet is damaged."""
    found: Formats = {}
    place = [-1, -1]

    def start(name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        if local == "row":
            stated = attributes.get("r", "")
            place[0] = int(stated) - 1 if stated.isdecimal() else place[0] + 1
            place[1] = -1
        elif local == "c":
            place[0], place[1] = parse_reference(attributes.get("r", "")) or (place[0], place[1] + 1)
            if code := codes.get(attributes.get("s", "")):
                found.setdefault(place[0], {})[place[1]] = code

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    try:
        parser.Parse(sheet, True)
    except expat.ExpatError:
        return {}
    return found


def parse_reference(reference: str) -> tuple[int, int] | None:
    """The row and the column of a cell such as "B3", from 0; None for anything else."""
    matched = _REFERENCE.fullmatch(reference)
    if matched is None:
        return None
    column = 0
    for letter in matched[1].upper():
        column = 26 * column + ord(letter) - ord("A") + 1
    return int(matched[2]) - 1, column - 1
