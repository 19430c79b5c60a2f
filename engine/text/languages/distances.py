"""Read how many days or other units ago words mean: "three", "a few", "ein paar", and Japanese ones. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.text.word_lists import index_words, split_phrases

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBERS = index_words(
    "zero a/an/one two three four five six seven eight nine ten eleven twelve",
    "null ein/einem/einer zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "cero un/una/uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze",
    "zero um/uma dois/duas três quatro cinco seis sete oito nove dez onze doze",
)
_COUPLE, _FEW = (2, 3), (2, 5)  # the least and the most that such words mean
_VAGUE = {
    **dict.fromkeys(split_phrases("a couple of, a couple, un par de, um par de"), _COUPLE),
    **dict.fromkeys(split_phrases("a few, few, some, several, ein paar, einigen, einige, wenigen, mehreren"), _FEW),
    **dict.fromkeys(split_phrases("quelques, plusieurs, unos, unas, algunos, algunas, pocos, pocas, varios"), _FEW),
    **dict.fromkeys(split_phrases("varias, alguns, algumas, uns, umas, poucos, poucas, vários, várias"), _FEW),
}
_LONG = 8  # digits of a number

NUMERALS = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_VAGUE_COUNTS = ("数", "何", "二、三", "2、3", "二三", "2,3", "2~3", "2〜3", "2～3")
_COUNTS = "|".join([*_VAGUE_COUNTS, r"\d{1,4}", *reversed(NUMERALS)])
_AGO = re.compile(rf"({_COUNTS})(時間|日|週間|[かヶケカヵ箇]月|年)(?:ほど|くらい|ぐらい)?前")
_ENGLISH = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_UNITS = {"時間": "hours", "日": "days", "週間": "weeks", "年": "years"}


def read_count(words: Sequence[str]) -> tuple[int, tuple[int, int] | None]:
    """The number of words that count, and the least and the most that they mean; None of words that do not count."""
    for length in (3, 2, 1):
        if counts := _VAGUE.get(tuple(words[:length])):
            return length, counts
    number = words[0] if words else ""
    if number not in _NUMBERS and not number.isdecimal():
        return 0, None
    count = _NUMBERS[number] if number in _NUMBERS else int(number[:_LONG])
    return 1, (count, count)


def translate_ago(text: str) -> str:
    """The text with English words in place of such as "3日前", "二週間前" and "数日前"."""
    return _AGO.sub(_translate, text)


def _translate(found: re.Match[str]) -> str:
    return f" {_translate_count(found[1])} {_UNITS.get(found[2], 'months')} ago "


def _translate_count(count: str) -> str:
    if count in _VAGUE_COUNTS:
        return "few"
    number = int(count) if count.isdecimal() else NUMERALS.index(count) + 1
    return _ENGLISH[number - 1] if 0 < number <= len(_ENGLISH) else str(number)
