"""Parse XML without its tags: the text of each element after its name, located by lines. Pure."""

from __future__ import annotations

import base64
import html
import re
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.parsers import expat

from engine.models import Omission, Passage
from engine.parsers import plain_text
from engine.parsers.base import IS_DATA, ParsedFile
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.formats.openxml.flat_package import parse_flat_package
from engine.parsers.formats.openxml.single_file import parse_single_file
from engine.parsers.html import flatten_block, read_fragment
from engine.parsers.passages import Block, format_span, group_blocks
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Mapping

# Names stand before values, not before prose. Longer attributes are drawings and other data.
_MAX_VALUE_WORDS, _MAX_ATTRIBUTE_LENGTH = 12, 200
_TAG = re.compile(r"<[^<>]{0,2000}>")
_MARKUP = re.compile(r"</?(?:p|br|div|span|a|img|table|t[rdh]|ul|ol|li|h[1-6]|b|i|em|strong|pre|code)\b[^<>]*>")
_DATA = re.compile(r"[A-Za-z0-9+/]{100,}={0,2}")  # without the spaces and line ends within it
_MIN_LINE = 40  # characters; data are cut into long lines, and text into words
_MAX_DRAWING = 8 * 2**20  # bytes
_BREAKS = frozenset({"br", "lb"})  # elements that end a line
_NAMESPACES = ("xmlns", "xsi:", "xml:")


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages labeled "lines 3–9"; documents of Office in one XML file are read as such.

    What is damaged or defines entities only loses its tags.
    """
    text = decode_text(data)
    if (office := parse_single_file(name, text) or parse_flat_package(name, text)) is not None:
        return office
    reader = _XmlReader()
    try:
        reader.read(text)
    except (expat.ExpatError, _EntityDefined):
        return _parse_without_tags(name, data)
    passages: list[Passage] = []
    for group in group_blocks(reader.blocks):
        if cleaned := clean_multiline("\n".join(block.text for block in group)):
            start, stop = group[0].start, group[-1].stop
            key = f"X{start}-{stop}.{len(passages)}"
            passages.append(Passage(key, cleaned, format_span("line", start, stop), position=len(passages)))
    if not passages and not reader.omissions:
        return _parse_without_tags(name, data)
    return ParsedFile(name, tuple(passages), omissions=tuple(reader.omissions))


def _parse_without_tags(name: str, data: bytes) -> ParsedFile:
    """The text between the tags, on the same lines as in the file."""
    text = html.unescape(_TAG.sub(lambda tag: "\n" * tag[0].count("\n") or " ", decode_text(data)))
    return plain_text.parse(name, text.encode("utf-8", "replace"))


class _EntityDefined(Exception):
    """An entity of the file's own could stand for any amount of text."""


class _XmlReader:
    """Builds a block for each element with text of its own, with that of all elements inside, and each attribute."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.omissions: list[Omission] = []
        self._open: list[str] = []
        self._text: list[str] = []
        # The depth and the first line of the element whose text is being collected; 0 outside of one.
        self._depth, self._line = 0, 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._add_text
        self._parser.EntityDeclHandler = self._refuse_entity

    def read(self, text: str) -> None:
        """Read the whole document; its declared encoding does not matter any more."""
        self._parser.Parse(text, True)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._open.append(name.rpartition(":")[2])
        if self._depth and self._open[-1] in _BREAKS:
            self._text.append(" ")
        line = self._parser.CurrentLineNumber
        for key, value in attributes.items():
            if value.strip() and len(value) <= _MAX_ATTRIBUTE_LENGTH and not key.startswith(_NAMESPACES):
                text = clean_single_line(f"{self._open[-1]}.{key.rpartition(':')[2]}: {value}")
                self.blocks.append(Block(text, line, line, "item"))

    def _add_text(self, text: str) -> None:
        if not self._depth and text.strip():
            self._depth, self._line = len(self._open), self._parser.CurrentLineNumber
        if self._depth:
            self._text.append(text)

    def _end(self, _name: str) -> None:
        name = self._open[-1]
        if self._depth == len(self._open):
            found = "".join(self._text)
            if _is_data(found):
                self._add_data(name, found)
                found = ""
            text = _clean_text(found)
            is_value = len(text.split()) <= _MAX_VALUE_WORDS
            line = self._parser.CurrentLineNumber
            if text:
                self.blocks.append(Block(f"{name}: {text}" if is_value else text, self._line, line, "item"))
            self._depth, self._text = 0, []
        self._open.pop()

    def _add_data(self, name: str, found: str) -> None:
        """The text of a drawing that is packed, or the name of other data."""
        inner = _XmlReader()
        try:
            inner.read(_unpack_drawing(found))
        except (expat.ExpatError, _EntityDefined, ValueError, zlib.error):
            self.omissions.append(Omission(f"<{name}> in line {self._line}", IS_DATA))
            return
        self.blocks += [replace(block, start=self._line, stop=self._line) for block in inner.blocks]

    def _refuse_entity(self, *_: object) -> None:
        raise _EntityDefined


def _is_data(found: str) -> bool:
    lines = found.split()
    return all(len(line) >= _MIN_LINE for line in lines[:-1]) and _DATA.fullmatch("".join(lines)) is not None


def _unpack_drawing(found: str) -> str:
    """The XML that drawing programs compress. Raises ValueError and zlib.error."""
    packed = base64.b64decode(found, validate=False)
    return unquote(zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, _MAX_DRAWING).decode())


def _clean_text(text: str) -> str:
    """The text of an element on one line; that of feeds is often HTML."""
    if _MARKUP.search(text):
        text = "\n".join(map(flatten_block, read_fragment(text)))
    return clean_single_line(text)
