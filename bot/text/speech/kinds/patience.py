"""Find what stands behind a call for patience: "wait, is it open today". Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.text.speech.chat_sentences import split_sentences
from bot.text.speech.kinds.weights import KINDS, estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from bot.text.speech.chat_sentences import Sentence

_MIN_WORDS = 3  # of a question behind it; "wait until Friday" has fewer
_MIN_SHARE = 0.8  # of the probability of question and statement
_CALL = re.compile(
    r"\A\W*(?:(?:(?:just )?wait|(?:hang|hold) on|(?:one|a|just a) (?:moment|sec|second|minute)"
    r"|(?:ein(?:en)? )?moment(?: mal)?|un (?:momento|segundo|moment|instant)|um (?:momento|segundo))\b[\s,.…:;!-]+"
    # These may have an object: "espera a Luis".
    r"|(?:warte(?: mal)?|espera|attends|attendez|pera(?:í| aí)|espera aí)[,.…:;!-]+\s+)",
    re.IGNORECASE,
)


def asks_behind_call(text: str, name_evidence: Callable[[str, Sequence[Sentence]], Collection[str]]) -> bool:
    """Whether a text without a question mark clearly asks something behind a call for patience."""
    behind = _CALL.sub("", text, count=1)
    if behind == text or len(behind.split()) < _MIN_WORDS:
        return False
    chances = dict(zip(KINDS, estimate(behind, name_evidence(behind, split_sentences(behind))), strict=True))
    asks, states = chances["question"], chances["statement"]
    return asks == max(chances.values()) and asks >= _MIN_SHARE * (asks + states)
