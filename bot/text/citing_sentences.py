"""Keep the sentences of an answer that rest on some of its sources, word for word. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.text.excerpts import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    Choice = Callable[[str, frozenset[int]], bool]  # by the words of sentences and the numbers that they cite

MAX_UNEXPLAINED_WORDS = 2  # of a sentence, which its sources do not have
_CITATION = re.compile(r"\[(\d{1,9})\](?!\()")
_SENTENCE = re.compile(r".+?(?:[。！？][»”』」]*(?:\s*\[\d{1,9}\])*|[.!?…][\"'»”’)*_]*(?:\s*\[\d{1,9}\])*(?=\s|$)|$)")
_MARKER = re.compile(r"\s*(?:[-*•>]\s+|\d{1,3}[.)]\s+)+")
_UNDIVIDED = re.compile(r"```|^[^\S\n]*\|.*\|[^\S\n]*$", re.MULTILINE)  # code, tables: useless without a line
_NAME = re.compile(r"(?<!^)(?<![.!?:]\s)\b[^\W\d_a-zß-öø-ÿ]\w+")


def keep_sentences(text: str, choose: Choice) -> str:
    """The chosen sentences of a text. A sentence without a citation goes with the next one of its line that has some.

    Empty if the text has code or a table.
    """
    if _UNDIVIDED.search(text):
        return ""
    lines = [_keep_line(line, choose) for line in text.splitlines()]
    return "\n".join(filter(None, lines))


def keep_explained(text: str, sources: Mapping[int, str], removed: str = "") -> str:
    """The sentences that cite only these sources and say hardly more than they do; `sources`: texts by number.

    No word of theirs is one that only the text `removed` has.
    """
    gone = content_words(removed)
    return keep_sentences(
        text, lambda words, cited: cited <= sources.keys() and _is_explained(words, cited, sources, gone)
    )


def renumber(text: str, numbers: Mapping[int, int]) -> str:
    """The text with other numbers in its citations."""
    return _CITATION.sub(lambda found: f"[{numbers.get(int(found[1]), int(found[1]))}]", text)


def cited_numbers(text: str) -> frozenset[int]:
    """The numbers that a text cites."""
    return frozenset(int(digits) for digits in _CITATION.findall(text))


def _keep_line(line: str, choose: Choice) -> str:
    marker = found[0] if (found := _MARKER.match(line)) else ""
    kept = [words for words in _split(line.removeprefix(marker)) if choose(words, cited_numbers(words))]
    return marker + "".join(kept).strip() if kept else ""


def _split(line: str) -> Iterator[str]:
    """Parts of a line that end with a sentence that cites something; what follows the last one is left out."""
    pending = ""
    for found in _SENTENCE.finditer(line):
        pending += found[0]
        if _CITATION.search(found[0]):
            yield pending
            pending = ""


def _is_explained(words: str, cited: frozenset[int], sources: Mapping[int, str], gone: AbstractSet[str]) -> bool:
    """Whether sources have almost all words of a sentence, and all of its names and numbers."""
    bare = _CITATION.sub("", words).strip()
    new = content_words(bare) - content_words(" ".join(sources[number] for number in cited))
    decisive = content_words(" ".join(_NAME.findall(bare))) | {word for word in new if any(map(str.isdigit, word))}
    return len(new) <= MAX_UNEXPLAINED_WORDS and new.isdisjoint(decisive | gone)
