"""Plain text: decode the bytes of a text file, and parse it into paragraphs located by their lines. Pure."""

from __future__ import annotations

import codecs
import re
from itertools import count, islice
from typing import TYPE_CHECKING

from engine.errors import CorruptFile
from engine.models import Passage
from engine.parsers.base import stream_passages
from engine.parsers.passages import MAX_WORDS, Block, format_span, group_blocks, join_blocks, word_count
from engine.text.cleanup import clean_lines, clean_multiline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.parsers.base import ParsedFile

# Longer markers first: UTF-32's begins with UTF-16's.
_BYTE_ORDER_MARKERS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd\ufffe\uffff\ue000-\uf8ff]")
_SAMPLE_SIZE = 64 * 1024
_BLOCKS_AT_ONCE = 5000  # grouped into passages, so that a long file is sent while it is parsed
# Data with more than one unprintable character in a hundred is not text.
_MAX_CONTROL_SHARE = 0.01
# In a language of Latin letters at most a quarter of the bytes are beyond ASCII.
_MAX_LATIN_SHARE = 0.25


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages with keys L1-12 and labels "lines 1–12". Raises CorruptFile if it is not text."""
    return stream_passages(name, _build_passages(_split_paragraphs(clean_lines(decode_text(data)))))


def _build_passages(paragraphs: Iterator[Block]) -> Iterator[Passage]:
    position, keys = count(), dict[str, int]()
    while batch := list(islice(paragraphs, _BLOCKS_AT_ONCE)):
        for group in group_blocks(batch):
            start, stop = group[0].start, group[-1].stop
            key = f"L{start}-{stop}"
            keys[key] = keys.get(key, 0) + 1
            unique = key if keys[key] == 1 else f"{key}.{keys[key]}"
            if text := clean_multiline(join_blocks(group)):
                yield Passage(unique, text, format_span("line", start, stop), position=next(position))


def _split_paragraphs(lines: Sequence[str]) -> Iterator[Block]:
    """Paragraphs between empty lines; a paragraph that is too long is split into its lines."""
    start = 0
    for number, line in enumerate([*lines, ""]):
        if line.strip():
            continue
        if number > start:
            yield from _build_blocks(lines[start:number], start + 1)
        start = number + 1


def _build_blocks(lines: Sequence[str], first: int) -> Iterator[Block]:
    text = "\n".join(lines)
    if word_count(text) <= MAX_WORDS:
        yield Block(text, first, first + len(lines) - 1)
    else:
        yield from (Block(line, number, number, "item") for number, line in enumerate(lines, first))


def decode_text(data: bytes) -> str:
    """Decode by the byte order mark, as UTF-8, as UTF-16 or -32 without a mark, or by the most likely code page.

    Raises CorruptFile if the result is not text.
    """
    text = _decode_bytes(data)
    sample = text[:_SAMPLE_SIZE]
    if sample and len(_CONTROLS.findall(sample)) > _MAX_CONTROL_SHARE * len(sample):
        raise CorruptFile(
            "The file holds binary data, not text.", hint="Rename it with the extension of its real format."
        )
    return text


def iterate_lines(text: str) -> Iterator[str]:
    """The lines one by one: a million of them would take several times the memory of the text."""
    text, start = text.replace("\r\n", "\n").replace("\r", "\n"), 0
    while (stop := text.find("\n", start) + 1) > 0:
        yield text[start:stop]
        start = stop
    yield text[start:]


def _decode_bytes(data: bytes) -> str:
    for mark, name in _BYTE_ORDER_MARKERS:
        if data.startswith(mark):
            return data.decode(name, "replace")
    if name := _detect_wide_encoding(data[:_SAMPLE_SIZE]):
        return data.decode(name, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(_detect_code_page(data[:_SAMPLE_SIZE]), "replace")


def _detect_wide_encoding(sample: bytes) -> str:
    """The UTF-16 or UTF-32 encoding that the positions of the zero bytes show, or an empty string."""
    groups_of_four = len(sample) // 4
    if not groups_of_four or b"\0" not in sample:
        return ""
    zeros = [sample[place::4].count(0) / groups_of_four for place in range(4)]
    patterns = {
        "utf-32-le": zeros[2] + zeros[3] > 1.9 and zeros[0] < 0.1,
        "utf-32-be": zeros[0] + zeros[1] > 1.9 and zeros[3] < 0.1,
        "utf-16-le": zeros[1] + zeros[3] > 0.8 and zeros[0] + zeros[2] < 0.2,
        "utf-16-be": zeros[0] + zeros[2] > 0.8 and zeros[1] + zeros[3] < 0.2,
    }
    return next((name for name, fits in patterns.items() if fits), "")


def _detect_code_page(sample: bytes) -> str:
    """Windows-1252 if few bytes are beyond ASCII; otherwise the guess of charset-normalizer."""
    beyond = sum(byte > 127 for byte in sample)
    if beyond <= _MAX_LATIN_SHARE * len(sample):
        return "cp1252"
    import charset_normalizer  # noqa: PLC0415  - loads slowly and is rarely needed

    best = charset_normalizer.from_bytes(sample).best()
    return best.encoding if best else "cp1252"
