"""Find a word for sources with numbers behind it: "Source 1", "Sources: 1, 2", "according to document 2"."""

from __future__ import annotations

import re

from engine.answers.citing.places import ends_sentence, is_reported, read_last_word
from engine.answers.citing.words import REPORTED_WORDS, SOURCE_PHRASES, SOURCE_WORDS, THING_WORDS

WORD_LOOKAHEAD = 16  # characters after "document 2" that decide it

_NAMES = SOURCE_WORDS | REPORTED_WORDS | SOURCE_PHRASES
_EMPHASIS = "[*_]{0,3}"
_COLON = rf"{_EMPHASIS}\s?[:：]{_EMPHASIS}\s?{_EMPHASIS}"
BY_LENGTH = sorted(_NAMES, key=len, reverse=True)
_STARTS = sorted({word[:length] for word in _NAMES for length in range(1, len(word))}, key=len, reverse=True)
_NEXT = (
    r"(?:\s?,\s?(?:(?:and|und|y|e|et)\s)?|\s?&\s?|\s(?:and|und|y|e|et|or|oder|o|ou|to|bis|a|à)\s|\s?[-–、と和]\s?|、)"
)
NAMED = re.compile(
    rf"(?P<label>{'|'.join(map(re.escape, BY_LENGTH))})"
    rf"(?P<gap>{_COLON}|\s?(?:#|no\.\s?|nr\.\s?)?)(?P<list>\d{{1,4}}(?:{_NEXT}\d{{1,4}}){{0,9}})",
    re.IGNORECASE,
)  # fmt: skip
NAME_START = re.compile(rf"(?:{'|'.join(map(re.escape, _STARTS))})\Z", re.IGNORECASE)
PARTIAL_NAMED = re.compile(
    rf"(?:{'|'.join(map(re.escape, BY_LENGTH))})(?:{_COLON}|{_EMPHASIS}\s?(?:#|n[or]?\.?\s?)?)"
    rf"(?:\d{{1,4}}(?:{_NEXT}\d{{1,4}}){{0,9}}.{{0,{WORD_LOOKAHEAD}}})?\Z",
    re.IGNORECASE | re.DOTALL,
)
_OTHER_END = re.compile(
    r"[A-Za-z0-9%°]|_\w|[.:/,'’-]\d|\s?(?:of|von|de|di|sur|aus|/)\s?\d|\s(?:of|des?|del|du|da|do|dos|das|der|di)\s[^\W\d]|\sd['’][^\W\d]|\s(?:fois|veces|vezes|[Mm]al|times)\b|\s?(?:km|m|mi|cm|mm|ft|h|min|s|kg|g|l)\b"
)
_LAST_LINE = re.compile(  # the start of one, but no point of a list and no line of a table of facts
    r"(?:\A|(?:[.!?…。！？][)*_\"'”»]{0,3}|\])[ \t]*\n|\n[ \t]*\n)[ \t>]*[*_]{0,3}\Z"
)
_PARAGRAPH_END = re.compile(r"[*_.。]{0,4}[ \t]*(?:\n[ \t]*(?:\n|\Z)|\Z)")


def is_named_source(found: re.Match[str], before: str, behind: str) -> bool:
    """Whether such words cite: `before` ends before them, `behind` follows them.

    "Source: 2" ends a line; "Source: 2 pages" counts pages.
    """
    label, has_colon = found["label"].casefold(), found["gap"].strip(" *_") in {":", "："}
    if read_last_word(before) in THING_WORDS or _OTHER_END.match(behind) or (has_colon and not ends_sentence(behind)):
        return False
    is_last = has_colon and _LAST_LINE.search(before) is not None and _PARAGRAPH_END.match(behind) is not None
    return label in SOURCE_WORDS or (is_last and label in SOURCE_PHRASES) or is_reported(before, behind)
