"""Detect the code page of text without a mark: by the language, the letters, and how common the code page is. Pure."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from engine.parsers.encodings.plausibility import judge_plausibility

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLE_SIZE = 16 * 1024  # bytes of lines with characters beyond ASCII
_CANDIDATES = 12
_LINE, _MAX_LINES = re.compile(rb"[^\n]+"), 200_000
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
# How much likelier or rarer code pages are in files of today than the language alone says.
_PRIORS = {
    **dict.fromkeys(("cp1252", "cp1251", "cp932", "gb18030", "euc_kr", "cp949", "big5", "cp950"), 1.3),
    **dict.fromkeys(("cp1250", "iso8859-2", "koi8-r", "cp1253", "cp1254", "cp1255", "cp1256", "euc_jp"), 1.2),
    "cp1257": 1.3,
    **dict.fromkeys(("mac-cyrillic", "mac-roman", "cp850", "cp866"), 1.28),
    **dict.fromkeys(("iso8859-10", "iso8859-14", "iso8859-16", "cp720", "cp856", "cp862", "cp864", "johab"), 0.4),
    **dict.fromkeys(("mac-iceland", "mac-turkish", "mac-latin2", "mac-greek", "cp861", "cp865", "cp1006"), 0.4),
    **dict.fromkeys(("koi8-t", "kz1048", "ptcp154", "hp-roman8", "tis-620", "cp775", "cp869", "cp857"), 0.5),
}
# What files that claim the smaller code page really hold.
_SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "cp950",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "ascii": "cp1252",
}
_SIGN_EXPONENT = 5.0
# A second candidate that gives another text and is at least so near to the best one makes the result uncertain.
_NEAR = 0.75
# Plausibility of text: one of few characters beyond ASCII may have some signs among them.
_SHORT, _MIN_OF_SHORT, _MIN_OF_LONG = 50, 0.35, 0.82


@dataclass(frozen=True, slots=True)
class CodePage:
    """A code page. `is_text`: its characters stand as in text. `is_certain`: no other one is nearly as likely."""

    name: str
    is_text: bool
    is_certain: bool


def detect_code_page(data: bytes) -> CodePage:
    """The most likely code page of text that is not UTF-8, by its lines with characters beyond ASCII."""
    first = _BEYOND_ASCII.search(data)
    start = data.rfind(b"\n", 0, first.start()) + 1 if first else 0
    lines, size = list[bytes](), 0
    for match in islice(_LINE.finditer(data, start), _MAX_LINES):
        if not match[0].isascii():
            lines.append(match[0][: SAMPLE_SIZE - size])
            size += len(lines[-1])
        if size >= SAMPLE_SIZE:
            break
    return _detect(b"\n".join(lines))


@lru_cache(maxsize=4)
def _detect(sample: bytes) -> CodePage:
    ranked = sorted(_score_candidates(sample), key=lambda each: -each[0])
    score, name, text = ranked[0] if ranked else (0.0, "cp1252", sample.decode("cp1252", "replace"))
    plausibility = judge_plausibility(text)
    other = next((other for other, _, its_text in ranked if its_text != text), 0.0)
    least = _MIN_OF_SHORT if sum(character > "\x7f" for character in text) < _SHORT else _MIN_OF_LONG
    return CodePage(name, plausibility > least, is_certain=other < _NEAR * score and plausibility > _MIN_OF_LONG)


def _score_candidates(sample: bytes) -> Iterator[tuple[float, str, str]]:
    """The score, the name and the text of each candidate."""
    import chardet  # noqa: PLC0415  - loads slowly and is rarely needed

    eras = chardet.EncodingEra.ALL & ~chardet.EncodingEra.MAINFRAME
    found = chardet.detect_all(sample, ignore_threshold=True, encoding_era=eras)
    for candidate in found[:_CANDIDATES]:
        try:
            found_name = codecs.lookup(candidate["encoding"] or "").name
            name = _SUPERSETS.get(found_name, found_name)
            text = sample.decode(name, "replace")
        except LookupError:
            continue
        likelihood = candidate["confidence"] * _PRIORS.get(name, 1.0)
        yield likelihood * judge_plausibility(text) ** _SIGN_EXPONENT, name, text
