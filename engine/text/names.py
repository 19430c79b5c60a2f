"""Clean and compare names that a model extracted, and find words of a question that may be names. Pure.

The rules are LightRAG's, corrected where they lost content: a description "12" is kept, a lone quotation mark is
dropped, an apostrophe inside a word is kept.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.text.patterns import compile_late
from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Container, Iterator


MAX_NAME_CHARACTERS = 256
MAX_NAME_BYTES = 512

# Names that need no cleaning. Most are like this, and cleaning is on the hot path of every write.
_PLAIN = compile_late(r"[A-Za-z][A-Za-z0-9]*(?:[ _.-][A-Za-z0-9]+)*")
_UNSTORABLE = compile_late("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# Only entities with a semicolon: the address "?a=1&copy=2" contains no copyright sign.
_ENTITY = compile_late(r"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);")
_TAGS = compile_late(r"</?(?:p|br)\s*/?>", re.IGNORECASE)
_HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_NEAR_HAN = r"a-zA-Z0-9()\[\]@#$%!&*\-=+_"
_HAN_GAP = compile_late(rf"(?<=[{_HAN}])\s+(?=[{_HAN}{_NEAR_HAN}])|(?<=[{_NEAR_HAN}])\s+(?=[{_HAN}])")
_QUOTES_AT_HAN = compile_late(rf"(?<!['\"])['\"]+(?=[{_HAN}])|(?<=[{_HAN}])['\"]+")
_APOSTROPHE = compile_late(r"(?<=[^\W\d_])’(?=[^\W\d_])")
_CURLY = str.maketrans({"“": "", "”": "", "‘": "", "’": "", "\u00a0": " "})
_PAIRS = frozenset({'""', "''", "“”", "‘’", "《》"})
_QUOTES = "\"'“”‘’《》"
# Unicode's "default ignorable" characters: they are invisible, so they do not distinguish names.
_INVISIBLE = compile_late(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_COMMA = compile_late("[,，]")
_BAD_IN_TYPE = frozenset("'()<>|/\\")
_RESERVED_TYPES = frozenset({"__proto__", "constructor", "prototype"})
_FULL_WIDTH = [*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B), *map(ord, "－＋／＊（）")]
_NARROW = {code: code - 0xFEE0 for code in _FULL_WIDTH} | {ord("—"): "-", 0x3000: " "}
MAX_WORDS = 12  # of a name or title
MAX_QUESTION_WORDS = 120  # of a question; names after them are not looked for
_WORD = compile_late(r"\S+")
_MARKS = ".,;:!?()[]{}\"“”„‘’'«»*_`"
_POSSESSIVE = compile_late(r"['’]s$|(?<=s)['’]$")
_EXTENSION = compile_late(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_FILE_NAME_BLANKS = compile_late(r"[-_]+")


def remove_unstorable(text: str) -> str:
    """The text without characters that a store or encoder rejects: lone surrogates, controls except TAB, LF, CR."""
    return _UNSTORABLE.sub("", text)


def clean_text(text: str) -> str:
    """A cleaned description; "" if only blanks and quotation marks are left."""
    text = text.strip()
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    text = remove_unstorable(text)
    if "<" in text:
        text = _TAGS.sub("", text)
    if not text.isascii():
        text = _HAN_GAP.sub("", text.translate(_NARROW))
    return _blank_if_empty(_strip_quotes(text).strip())


def clean_name(text: str) -> str:
    """A cleaned name or keyword for display, at most 256 characters and 512 bytes of UTF-8; "" if it is dropped."""
    if len(text) <= MAX_NAME_CHARACTERS and _PLAIN.fullmatch(text):
        return text
    name = _APOSTROPHE.sub("'", clean_text(text)).translate(_CURLY)
    name = _blank_if_empty(_QUOTES_AT_HAN.sub("", name).strip())
    return "" if _is_bare_number(name) else _truncate_name(name)


def clean_type(text: str) -> str:
    """A cleaned type: the first of a comma-separated list, lower case, without blanks; "" if it is dropped."""
    whole = clean_name(text)
    if not _BAD_IN_TYPE.isdisjoint(whole):
        return ""
    first = next(filter(None, ("".join(part.split()) for part in _COMMA.split(whole))), "").lower()
    return "" if first in _RESERVED_TYPES else first


def clean_keywords(text: str) -> str:
    """Cleaned keywords without duplicates, joined by ","."""
    cleaned = (clean_name(part) for part in _COMMA.split(clean_text(text)))
    return ",".join(dict.fromkeys(filter(None, cleaned)))


@lru_cache(maxsize=8192)
def normalize_name(name: str) -> str:
    """The canonical form of a name: names with equal forms are the same entity; "" if it is not a name.

    Cleaned, NFKC, case-folded, without invisible characters, blanks collapsed (Unicode's NFKC_Casefold, UAX #44, after
    cleaning). Repeated until nothing changes, so it is idempotent. This ends, because a folded form changes again only
    by losing characters or by resolving one of finitely many HTML entities.
    """
    key = _casefold_name(clean_name(name))
    while (again := _casefold_name(clean_name(key))) != key:
        key = again
    return key


def _casefold_name(name: str) -> str:
    if name.isascii():
        folded = name.lower()
    else:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
        folded = _INVISIBLE.sub("", folded)
    return " ".join(folded.split())


def _strip_quotes(text: str) -> str:
    """Remove one pair of outer quotes, unless the text contains more quotes of that kind."""
    inner = text[1:-1]
    outer = text[:1] + text[-1:]
    return inner if len(text) > 1 and outer in _PAIRS and not set(outer) & set(inner) else text


def _blank_if_empty(text: str) -> str:
    return text if text.strip(_QUOTES + " \t\r\n") else ""


def _is_bare_number(name: str) -> bool:
    """Whether a name is a page, list or version number: up to 2 digits, or up to 5 digits and dots."""
    return not name.strip("0123456789.") and len(name) < (6 if "." in name else 3)


def _truncate_name(name: str) -> str:
    if len(name) <= MAX_NAME_BYTES // 4:
        return name
    return name[:MAX_NAME_CHARACTERS].encode()[:MAX_NAME_BYTES].decode(errors="ignore").rstrip()


@dataclass(frozen=True, slots=True)
class NameSpan:
    """A sequence of words, from `start` to before `end`, and its canonical name."""

    start: int
    end: int
    name: str


def find_name_spans(text: str) -> list[NameSpan]:
    """The word sequences of a text that may be names; a single word only if it is capitalized or has a digit."""
    words = [match.span() for match in _WORD.finditer(text)][:MAX_QUESTION_WORDS]
    found = dict[NameSpan, None]()
    for start, (begin, _) in enumerate(words):
        for end in range(start + 1, min(start + MAX_WORDS, len(words)) + 1):
            for form in _forms(text[begin : words[end - 1][1]]):
                name = normalize_name(form)
                if name and (end > start + 1 or is_name_like(form)):
                    found[NameSpan(start, end, name)] = None
    return list(found)


def longest_spans(spans: list[NameSpan], known: Container[str]) -> list[NameSpan]:
    """The spans with known names that are not part of a longer one."""
    matching = [span for span in spans if span.name in known]
    return [span for span in matching if not any(_contains(other, span) for other in matching)]


def title_key(title: str) -> str:
    """The canonical form of a title: without a file extension or a qualifier in parentheses, `-` and `_` as blanks."""
    stem = _EXTENSION.sub("", title.strip())
    if stem != title.strip():
        stem = _FILE_NAME_BLANKS.sub(" ", stem)
    return normalize_name(_remove_qualifier(stem) or stem)


def _remove_qualifier(title: str) -> str:
    """The title without a last part in parentheses."""
    start = title.rfind("(")
    return title[:start].rstrip() if start >= 0 and title.find(")", start) == len(title) - 1 else title


def _forms(words: str) -> Iterator[str]:
    bare = words.strip(_MARKS)
    yield bare
    if (stem := _POSSESSIVE.sub("", bare)) != bare:
        yield stem


def is_name_like(word: str) -> bool:
    """Whether a single word may be a name: it is capitalized or has a digit, and is no function word."""
    return not word.islower() and any(map(str.isalnum, word)) and word.casefold() not in STOP_WORDS


def _contains(outer: NameSpan, inner: NameSpan) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end and outer.end - outer.start > inner.end - inner.start
