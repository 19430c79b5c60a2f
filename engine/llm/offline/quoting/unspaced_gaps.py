"""Name what of a question in a script without spaces a quotation lacks: whole words instead of pairs. Pure.

The terms of such a script are pairs of neighbors, which may be the ends of two words. What is lacking is shown as the
longest run of characters in the question whose pairs no quotation has; never as a single character.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from engine.llm.offline.language_rules import detect_rules, load_words
from engine.text.languages.unspaced import has_unspaced, list_content_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

_ONE = "一"


def join_characters(words: Sequence[str], question: str, quoted: Sequence[str]) -> list[str]:
    """The words of a question that are lacking, with the runs of characters that pairs among them belong to.

    A pair is left out if all that the quotations lack of it is the numeral one, or a character of auxiliary words.
    """
    if not any(map(has_unspaced, words)):
        return list(words)
    runs = [
        run
        for part in list_content_runs(detect_rules(question).strip_phrases(question))
        for run in _list_lacking(part, quoted)
        if _tells_apart(run, part, "".join(quoted))
    ]
    whole = dict[str, None]()
    for word in words:
        if not has_unspaced(word):
            whole[word] = None
            continue
        parts = [run for run in runs if not set(run).isdisjoint(word)]
        whole.update(dict.fromkeys(run if len(run) > 1 else word for run in parts))
    return list(whole)


def _list_lacking(part: str, quoted: Sequence[str]) -> list[str]:
    """The runs of characters of a part of a question that stand in no pair that a quotation has."""
    known = [any(first + second in text for text in quoted) for first, second in pairwise(part)]
    covered = [any(known[max(0, at - 1) : at + 1]) for at in range(len(part))]
    marked = "".join(" " if is_covered else character for character, is_covered in zip(part, covered, strict=True))
    return marked.split()


def _tells_apart(run: str, part: str, quoted: str) -> bool:
    """Whether what is lacking is more than the numeral one before a known unit, or than a character of auxiliaries."""
    if run.startswith(_ONE) and len(run) <= len(_ONE) + 1:
        unit = part.partition(_ONE)[2][:1]
        return unit in load_words("ordered") or unit not in quoted
    return run not in load_words("auxiliaries")
