"""Count the languages that texts are written in, line by line. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from engine.text.languages.detection import detect_language
from engine.text.languages.stemming import LINE_HEAD, MIN_MAIN_MARGIN

if TYPE_CHECKING:
    from collections.abc import Iterable

OTHER = "other"  # counts lines in languages that are not told apart
MIN_WORDS, MIN_CHARACTERS = 4, 6  # of a line that counts; characters of a script without spaces
# Scripts of one language that have no stems; Chinese is written in the second only.
_KANA, _HAN = re.compile("[\u3040-\u30ff]"), re.compile("[\u4e00-\u9fff]")
_SCRIPTS = (
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("he", re.compile("[\u05d0-\u05ea]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    # Bengali to Odia, Telugu to Sinhala, Lao to Georgian, Ethiopic, Khmer.
    (OTHER, re.compile("[\u0980-\u0b7f\u0c00-\u0dff\u0e80-\u10ff\u1200-\u137f\u1780-\u17ff]")),
)
# A line in none of the languages that are told apart has so many words, and such a share of letters: others are names,
# numbers, exclamations or code.
MIN_OTHER_WORDS, MIN_OTHER_LETTERS = 8, 0.85
_WORD = re.compile(r"[^\W\d_]{2,}")


def count_languages(texts: Iterable[str]) -> Counter[str]:
    """The lines in each language, as ISO 639-1 codes, and in others; lines that are too short count nothing."""
    found = (_find_language(LINE_HEAD.sub("", line)) for text in texts for line in text.splitlines())
    return Counter(language for language in found if language)


def _find_language(line: str) -> str:
    if len(_HAN.findall(line)) + len(kana := _KANA.findall(line)) >= MIN_CHARACTERS:
        return "ja" if kana else "zh"
    for language, script in _SCRIPTS:
        if len(script.findall(line)) >= MIN_CHARACTERS:
            return language
    if len(line.split()) < MIN_WORDS:
        return ""
    found = detect_language(line)
    if not found.language:
        return OTHER if found.margin or _is_prose(line) else ""
    return found.language if found.margin >= MIN_MAIN_MARGIN else ""


def _is_prose(line: str) -> bool:
    words, length = _WORD.findall(line), len("".join(line.split()))
    return len(words) >= MIN_OTHER_WORDS and sum(map(len, words)) >= MIN_OTHER_LETTERS * length
