"""Which words of a search a text has, and where; and the part of the text around them. Pure.

Forms of a word match each other, letters match without their accents, and what is in quotation marks matches as it is.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.llm.offline.words import is_stop_word, stem
from engine.text.languages.unspaced import RUN, list_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

EXCERPT_LENGTH, LEAD_LENGTH = 320, 100  # characters; those before the first match
_WORD = re.compile(r"\w+")
_PHRASE = re.compile(r"[\"“”„«»]([^\"“”„«»]{2,200})[\"“”„«»]")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SoughtWords:
    """The words of a search: stems, pairs of letters of scripts without spaces, and phrases, which are all needed."""

    stems: frozenset[str] = frozenset()
    pairs: frozenset[str] = frozenset()
    phrases: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> SoughtWords:
        """The words of a search; function words only if there are no others."""
        phrases = tuple(dict.fromkeys(" ".join(phrase.split()).casefold() for phrase in _PHRASE.findall(text)))
        words = _WORD.findall(RUN.sub(" ", text))
        chosen = [word for word in words if not is_stop_word(word)] or words
        return cls(frozenset(map(_to_stem, chosen)), frozenset(list_pairs(text)), phrases)

    def count(self, text: str) -> int:
        """How many of the different words a text has; 0 if it lacks a phrase, or most of the pairs."""
        folded = " ".join(text.casefold().split())
        if any(phrase not in folded for phrase in self.phrases):
            return 0
        found = len(self.stems.intersection(_to_stem(word) for word in _WORD.findall(text)))
        pairs = sum(pair in text for pair in self.pairs)
        return found + len(self.phrases) + (pairs if 2 * pairs >= len(self.pairs) else 0)

    def find_spans(self, text: str) -> list[Span]:
        """Where the words are in a text, in order and without overlaps."""
        found = [match.span() for match in _WORD.finditer(text) if _to_stem(match[0]) in self.stems]
        for pair in self.pairs:
            found += [match.span() for match in re.finditer(re.escape(pair), text)]
        return _merge(sorted(found))


def build_excerpt(text: str, spans: Sequence[Span], length: int = EXCERPT_LENGTH) -> tuple[tuple[str, bool], ...]:
    """The part of a text around its matches, as pieces, each with whether it is a match."""
    start = _find_start(text, spans[0][0] if spans else 0)
    end = min(len(text), start + length)
    if end < len(text):
        end = text.rfind(" ", start + length // 2, end) if " " in text[start + length // 2 : end] else end
    pieces, at = list[tuple[str, bool]](), start
    if start:
        pieces.append(("… ", False))
    for first, last in (span for span in spans if start <= span[0] and span[1] <= end):
        pieces += [(text[at:first], False), (text[first:last], True)]
        at = last
    pieces.append((text[at:end] + (" …" if end < len(text) else ""), False))
    return tuple((each, is_match) for each, is_match in pieces if each)


def _find_start(text: str, match: int) -> int:
    """Where an excerpt begins: at the text's beginning, or at a word before the match."""
    if match <= LEAD_LENGTH:
        return 0
    line = text.rfind("\n", match - LEAD_LENGTH, match)
    space = text.find(" ", match - LEAD_LENGTH, match)
    return max(line, space) + 1 if line >= 0 or space >= 0 else match


def _merge(spans: Iterable[Span]) -> list[Span]:
    merged = list[Span]()
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _to_stem(word: str) -> str:
    return stem("".join(_list_base_letters(word)))


def _list_base_letters(word: str) -> Iterator[str]:
    if word.isascii():
        yield word
        return
    for letter in unicodedata.normalize("NFKD", word[:200]):
        if not unicodedata.combining(letter):
            yield letter
