"""Tell whether an answer copies words with a number from its sources: then they are quoted, and cite nothing."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from engine.answers.citing.named import NAMED
from engine.answers.citing.words import BRACKET_LABELS, CITING_WORDS
from engine.answers.links.visible_text import CLOSING_BRACKETS, OPENING_BRACKETS, visible_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"

_WORD = re.compile(rf"([^\W_]{{1,40}})\.?\s?([(（]\d{{1,4}}[)）]|[{SUPERSCRIPTS}]+)")
_OPENING, _CLOSING = re.escape(OPENING_BRACKETS), re.escape(CLOSING_BRACKETS)
_BRACKET = re.compile(rf"[{_OPENING}]([^{_OPENING}{_CLOSING}\n]{{1,80}})[{_CLOSING}]")
_NO_DIGIT = re.compile(r"\D")
_LABEL = re.compile(r"\W{0,4}([^\W\d_]{1,20})")
_SAME = str.maketrans({"（": "(", "）": ")", "：": ":", "*": "", "_": ""})


class CopiedNumbers:
    """The numbers with words that texts contain; `texts`: what sources, titles and the question say."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)

    def has(self, written: str) -> bool:
        """Whether a text says this word with its number, as "gate (1)", "Source 2" or "Reference: 5"."""
        return _squeeze(written) in self._words

    def has_bracket(self, content: str, *, is_given: bool = False) -> bool:
        """Whether a bracket quotes one of a text that begins with a label and has a number: "[Ref. 3]".

        "[Source 3]" is a citation if its number `is_given`: the text that has it may be a copied answer.
        """
        seen = visible_text(content)
        cites = is_given and _read_label(seen) in CITING_WORDS
        return not cites and _is_labeled(seen) and _squeeze(seen) in self._brackets

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_squeeze(words) for text in self._texts for words in _find_words(text))

    @cached_property
    def _brackets(self) -> frozenset[str]:
        found = (visible_text(match[1]) for text in self._texts for match in _BRACKET.finditer(text))
        return frozenset(map(_squeeze, filter(_is_labeled, found)))


def _find_words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        yield f"{match[1]}{match[2]}"
    for match in NAMED.finditer(_BRACKET.sub(_drop_citation, text)):
        yield match[0]
        yield match["label"] + match["gap"] + _NO_DIGIT.split(match["list"], maxsplit=1)[0]


def _drop_citation(bracket: re.Match[str]) -> str:
    """No words for a citation of a copied answer, as "[Source 1]"; other brackets as they are."""
    return "[]" if _read_label(bracket[1]) in CITING_WORDS else bracket[0]


def _is_labeled(seen: str) -> bool:
    return _read_label(seen) in BRACKET_LABELS and any(map(str.isdigit, seen))


def _read_label(seen: str) -> str:
    label = _LABEL.match(seen)
    return label[1].casefold() if label else ""


def _squeeze(text: str) -> str:
    return "".join(text.casefold().translate(_SAME).split())
