"""Read the values of a dynamic form (XFA) within a PDF."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from engine.parsers.formats.xml_tree import find_all, local_name
from engine.parsers.sandbox.nesting import check_xml_depth
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_MAX_SIZE = 16 * 2**20


def read_xfa_values(document: PdfDocument) -> str:
    """The values of the form as lines "name: value"; an empty string if there are none."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    for at in range(max(0, pdfium.FPDF_GetXFAPacketCount(document.raw))):
        size = pdfium.FPDF_GetXFAPacketName(document.raw, at, None, 0)
        name = ctypes.create_string_buffer(max(size, 1))
        pdfium.FPDF_GetXFAPacketName(document.raw, at, name, size)
        if name.value in {b"datasets", b""}:  # a form in one piece has no names of packets
            return _render(_read_packet(document, at))
    return ""


def _read_packet(document: PdfDocument, at: int) -> bytes:
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    size = ctypes.c_ulong(0)
    if not pdfium.FPDF_GetXFAPacketContent(document.raw, at, None, 0, size) or size.value > _MAX_SIZE:
        return b""
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    pdfium.FPDF_GetXFAPacketContent(document.raw, at, buffer, size.value, size)
    return buffer.raw[: size.value]


def _render(data: bytes) -> str:
    check_xml_depth(data)
    try:
        root = ET.fromstring(data)  # noqa: S314 - expat bounds entities, the sandbox memory and time
    except ET.ParseError:
        return ""
    sets = [root] if local_name(root) == "datasets" else find_all(root, "datasets")
    found = (element for each in sets for element in each.iter() if not len(element))
    leaves = ((element, clean_single_line(element.text or "")) for element in found)
    return "\n".join(f"{local_name(each)}: {text}" for each, text in leaves if text)
