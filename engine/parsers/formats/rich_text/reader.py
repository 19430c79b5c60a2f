"""Read the paragraphs, tables, notes and pictures of an RTF file. Pure."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from engine.errors import DocumentTooLarge
from engine.parsers.base import EmbeddedPicture
from engine.parsers.formats.opendocument.tables import join_paragraphs
from engine.parsers.formats.rich_text import charsets, vocabulary
from engine.parsers.formats.rich_text.tokens import RichTextToken, split_tokens
from engine.parsers.passages import Block, render_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MAX_DEPTH = 5000
_MAC, _DOS, _DOS_WESTERN = 10000, 437, 850  # code pages
_LINK = re.compile(r'HYPERLINK\s+"(https?://[^"\s]+)"')
_NOT_HEX = re.compile(r"[^0-9a-fA-F]")
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|заголовок|nagłówek)\s*([1-9])", re.IGNORECASE)


@dataclass(slots=True)
class _GroupState:
    """What a group inherits from the one around it."""

    destination: str = ""  # "": text; "skip"; or a destination with a text of its own
    font: int | None = None
    skipped: int = 1  # characters after one in Unicode, for older programs
    language: int = 0
    is_hidden: bool = False
    is_table: bool = False
    style: int = 0
    link: str = ""


@dataclass(slots=True)
class RichText:
    """The blocks of a file, its pictures, and what is wrong with its characters."""

    blocks: list[Block] = field(default_factory=list)
    pictures: list[EmbeddedPicture] = field(default_factory=list)
    western: bytearray = field(default_factory=bytearray)  # characters that are declared to be Western
    language: int = 0
    objects: int = 0
    saved: dict[str, int] = field(default_factory=dict)


class RichTextReader:
    """Reads one file; `western`: the encoding of what is declared to be Western, if it is not.

    Raises DocumentTooLarge if its groups are nested too deeply.
    """

    def __init__(self, western: str = "") -> None:
        self._western = western
        self.found = RichText()
        self._state = _GroupState()
        self._stack: list[_GroupState] = []
        self._codec = "cp1252"
        self._fonts: dict[int, str] = {}
        self._styles: dict[int, int] = {}
        self._default_font: int | None = None
        self._bytes = bytearray()
        self._to_skip = 0
        self._is_starred = False
        self._is_at_start = False  # of a group: only there a star marks a destination
        self._texts: dict[str, list[str]] = {}
        self._line: list[str] = []
        self._cells: list[str] = []
        self._is_after_row = False  # and nothing has begun another row
        self._cell: str = ""
        self._rows: list[list[str]] = []
        self._languages: Counter[int] = Counter()
        self._apart: list[str] = []
        self._link = ""
        self._time = ""
        self._is_over = False  # bytes after the document, up to a word, are none of it

    def read(self, data: bytes) -> RichText:
        """The whole file."""
        for token in split_tokens(data):
            if token.kind in {"byte", "text"}:
                self._add_bytes(token)
            elif token.kind == "symbol":
                self._add_symbol(token.data)
            else:
                self._flush()
                self._handle(token)
                self._is_over |= token.kind == "}" and not self._stack
        self._flush()
        self._state.is_table = False
        self._end_paragraph()
        self._end_table()
        self.found.language = next((each for each, _ in self._languages.most_common(1)), 0)
        return self.found

    def _handle(self, token: RichTextToken) -> None:
        if token.kind == "{":
            if len(self._stack) >= _MAX_DEPTH:
                raise DocumentTooLarge("The document is nested too deeply.")
            self._stack.append(self._state)
            self._state = replace(self._state)
            self._to_skip, self._is_at_start = 0, True
        elif token.kind == "}":
            self._end_group()
        else:
            self._handle_word(token.data, token.number)

    def _end_group(self) -> None:
        if not self._stack:
            return
        before, self._state = self._state, self._stack.pop()
        self._to_skip = 0
        if before.link and not self._state.link and not self._state.destination:
            self._add_text(f" ({before.link})")
        if before.destination and before.destination != self._state.destination:
            self._end_destination(before.destination, "".join(self._texts.pop(before.destination, ())))

    def _end_destination(self, name: str, text: str) -> None:
        """Use the text of a destination that ends."""
        if name == "fldinst":
            link = _LINK.search(text)
            self._link = link[1] if link else ""
        elif name == "pict":
            digits = _NOT_HEX.sub("", text)
            self.found.pictures.append(EmbeddedPicture("picture", bytes.fromhex(digits[: len(digits) // 2 * 2])))
        elif name == "atnauthor":
            self._texts["author"] = [text.strip()]
        elif name in vocabulary.PARTS and text.strip():
            by = "".join(self._texts.pop("author", ())) if name == "annotation" else ""
            label = f"{vocabulary.PARTS[name]} by {by}" if by else vocabulary.PARTS[name]
            shown = "; ".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))
            if any(map(str.isalpha, shown)):
                self._apart.append(f"{label}: {shown}")

    def _handle_word(self, word: bytes, number: int | None) -> None:
        name, self._is_over = word.decode("ascii"), False
        is_starred, self._is_starred, self._is_at_start = self._is_starred, False, False
        if action := self._words.get(name):
            action(self, 1 if number is None else number)
        elif (
            name in vocabulary.SKIPPED
            or name in vocabulary.DESTINATIONS
            or (is_starred and name not in vocabulary.READ)
        ):
            self._start_destination(name)
        elif text := vocabulary.TEXT_OF.get(word):
            self._add_text(text)

    def _start_destination(self, name: str) -> None:
        if self._state.destination in {"skip", "pict"}:
            return
        if name == "fldrslt":
            self._state.link, self._link = self._link, ""
        elif name in vocabulary.DESTINATIONS:
            self._state.destination = name
            self._texts[name] = []
        else:
            self._state.destination = "skip"

    def _add_bytes(self, token: RichTextToken) -> None:
        data = b"" if self._is_over else token.data
        if self._to_skip:
            used = min(self._to_skip, len(data))
            self._to_skip -= used
            data = data[used:]
        self._is_starred = self._is_at_start = False
        self._bytes += data

    def _add_symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._flush()
            self._is_starred = self._is_at_start
        elif self._to_skip:
            self._to_skip -= 1
        elif symbol in vocabulary.BYTES:
            self._bytes += symbol
        elif text := vocabulary.SYMBOLS.get(symbol):
            self._flush()
            self._add_text(text)

    def _flush(self) -> None:
        """Decode the bytes since the last change of the font."""
        if not self._bytes:
            return
        data, self._bytes = bytes(self._bytes), bytearray()
        font = self._state.font if self._state.font is not None else self._default_font
        codec = self._fonts.get(font, "") if font is not None else ""
        if codec == "symbol":
            data = bytes(byte for byte in data if byte < 128)
        codec = self._codec if codec in {"", "symbol"} else codec
        if codec == "cp1252" and not self._state.destination:
            self.found.western += data
            codec = self._western or codec
        self._add_text(charsets.decode(data, codec))

    def _add_text(self, text: str) -> None:
        state = self._state
        if state.destination == "skip" or state.is_hidden:
            return
        if state.destination:
            self._texts.setdefault(state.destination, []).append(text)
            if state.destination == "stylesheet" and state.style and ";" in text and (heading := _HEADING.search(text)):
                self._styles[state.style] = int(heading[1])
            return
        for at, line in enumerate(text.split("\n")):
            if at:
                self._end_paragraph()
            self._line.append(line)

    def _end_paragraph(self) -> None:
        text = _clean("".join(self._line))
        self._line.clear()
        if self._state.is_table:
            self._cell = join_paragraphs(self._cell, text.replace("\n", " ")) if text else self._cell
            return
        if text:
            self._end_table()
            level = self._styles.get(self._state.style, 0)
            self._add_block(Block(text, 0, 0, "heading" if level else "text", level))
        self._add_apart()

    def _end_cell(self, _: int) -> None:
        if self._state.destination:
            self._add_text("\n")
            return
        text = _clean("".join(self._line)).replace("\n", " ")
        self._line.clear()
        self._cells.append(join_paragraphs(self._cell, text) if text else self._cell)
        self._cell = ""

    def _start_row(self, _: int) -> None:
        if self._is_after_row and self._cell:
            self._end_table()
        self._is_after_row = False

    def _end_row(self, _: int) -> None:
        if self._cells:
            self._rows.append(self._cells)
            self._cells = []
        self._is_after_row = True

    def _end_table(self) -> None:
        text, self._cell = self._cell, ""  # whose end is missing, or of paragraphs after a row that do not say so
        is_apart = self._is_after_row
        if text and not is_apart:
            self._cells.append(text)
        self._end_row(0)
        if self._rows:
            self._add_block(Block(render_table(self._rows), 0, 0, "table"))
            self._rows = []
            self._add_apart()
        if text and is_apart:
            self._add_block(Block(text, 0, 0))

    def _add_apart(self) -> None:
        """Add the notes and comments of a paragraph or table after it."""
        for text in self._apart:
            self._add_block(Block(text, 0, 0))
        self._apart.clear()

    def _add_block(self, block: Block) -> None:
        number = len(self.found.blocks) + 1
        self.found.blocks.append(replace(block, start=number, stop=number))

    def _set_font(self, number: int) -> None:
        self._state.font = number

    def _set_charset(self, number: int) -> None:
        if self._state.destination == "fonttbl" and self._state.font is not None:
            name = "symbol" if number == charsets.SYMBOL else charsets.name_of_charset(number)
            self._fonts[self._state.font] = name

    def _set_font_page(self, number: int) -> None:
        if self._state.destination == "fonttbl" and self._state.font is not None:
            self._fonts[self._state.font] = charsets.name_of_code_page(number)

    def _set_code_page(self, number: int) -> None:
        self._codec = charsets.name_of_code_page(number) or self._codec

    def _add_unicode(self, number: int) -> None:
        self._to_skip = self._state.skipped
        self._add_text(chr(number % 0x10000))

    def _reset_paragraph(self, _: int) -> None:
        self._state.is_table, self._state.style = False, 0

    def _set_language(self, number: int) -> None:
        self._state.language = number
        self._languages[number] += 1

    def _end_character_style(self, _: int) -> None:
        self._state.is_hidden, self._state.font = False, None

    def _note_time(self, number: int, name: str) -> None:
        if self._time:
            self.found.saved.setdefault(f"{self._time}.{name}", number)

    def _set_time(self, _: int, name: str) -> None:
        self._time = name

    def _set_hidden(self, number: int) -> None:
        self._state.is_hidden = bool(number)

    def _set_skipped(self, number: int) -> None:
        self._state.skipped = min(max(0, number), 10)

    def _set_default_font(self, number: int) -> None:
        self._default_font = number

    def _set_style(self, number: int) -> None:
        self._state.style = number

    def _start_cells(self, _: int) -> None:
        self._state.is_table, self._is_after_row = True, False

    def _count_object(self, _: int) -> None:
        self.found.objects += not self._state.destination

    def _end_nested_cell(self, _: int) -> None:
        self._end_paragraph()

    def _choose_page(self, _: int, page: int) -> None:
        self._set_code_page(page)

    _words: ClassVar[Mapping[str, Callable[[RichTextReader, int], None]]] = {
        "f": _set_font,
        "fcharset": _set_charset,
        "cpg": _set_font_page,
        "ansicpg": _set_code_page,
        "mac": partial(_choose_page, page=_MAC),
        "pc": partial(_choose_page, page=_DOS),
        "pca": partial(_choose_page, page=_DOS_WESTERN),
        "deff": _set_default_font,
        "u": _add_unicode,
        "uc": _set_skipped,
        "lang": _set_language,
        "v": _set_hidden,
        "deleted": _set_hidden,
        "plain": _end_character_style,
        "intbl": _start_cells,
        "pard": _reset_paragraph,
        "s": _set_style,
        "cell": _end_cell,
        "nestcell": _end_nested_cell,
        "trowd": _start_row,
        "row": _end_row,
        "object": _count_object,
        "creatim": partial(_set_time, name="creatim"),
        "revtim": partial(_set_time, name="revtim"),
        "printim": partial(_set_time, name="printim"),
        "yr": partial(_note_time, name="yr"),
        "mo": partial(_note_time, name="mo"),
        "dy": partial(_note_time, name="dy"),
        "hr": partial(_note_time, name="hr"),
        "min": partial(_note_time, name="min"),
    }


def _clean(text: str) -> str:
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "\n".join(filter(None, (" ".join(line.split()) for line in paired.split("\v"))))
