"""Decide what a message to the bot is by weights that were learned from examples.

`weights.tsv` lists what was learned (`python -m scripts.speech.train`): each line has the name of a feature and a
weight for each kind of speech, in hundredths. Lines are sorted; the first one, without a name, is the bias. Pure, but
for reading that file once.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bot.text.speech.chat_sentences import split_sentences
from bot.text.speech.kinds.features import name_features

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from bot.text.speech.chat_sentences import Sentence

Kind = Literal["question", "statement", "thanks", "introduction"]
KINDS: tuple[Kind, ...] = ("question", "statement", "thanks", "introduction")
SCALE = 100  # of a weight in the file
MIN_CALL = 0.7  # probability from which a message is thanks or an introduction: other messages are lost by it
# Probabilities, of the two, from which a message is one; between them the rules decide. A lost question costs more.
MIN_QUESTION, MIN_STATEMENT = 0.72, 0.65
MIN_LONG_QUESTION, LONG = 0.6, 8  # from so many words on the rules see the statement, and miss what is asked of it

FILE = Path(__file__).with_name("weights.tsv")

_MIN_WORDS = 3  # of a question behind a call for patience; "wait until Friday" has fewer
_MIN_SHARE = 0.6  # of the probability of question and statement
_PATIENCE = re.compile(
    r"\A\W*(?:(?:(?:just )?wait|(?:hang|hold) on|(?:one|a|just a) (?:moment|sec|second|minute)"
    r"|(?:ein(?:en)? )?moment(?: mal)?|un (?:momento|segundo|moment|instant)|um (?:momento|segundo))\b"
    r"(?: (?:please|bitte|por favor|svp|s['’]il (?:te|vous) pla[iî]t)\b)?[\s,.…:;!-]*+"
    # These may have an object: "espera a Luis".
    r"|(?:warte(?: mal)?|espera|attends|attendez|pera(?:í| aí)|espera aí)[,.…:;!-]+\s+)",
    re.IGNORECASE,
)


def classify(text: str, evidence: Collection[str]) -> Kind | None:
    """What a text without mentions is, None if it is uncertain; `evidence`: names of what the rules found in it."""
    asks, states, thanks, introduces = estimate(text, evidence)
    if max(thanks, introduces) > MIN_CALL:
        return "thanks" if thanks > introduces else "introduction"
    share = asks / (asks + states)
    if share >= (MIN_LONG_QUESTION if len(text.split()) >= LONG else MIN_QUESTION):
        return "question"
    return "statement" if share <= 1 - MIN_STATEMENT else None


def estimate(text: str, evidence: Collection[str]) -> list[float]:
    """The probability of each of `KINDS`."""
    return weigh((*sorted(name_features(text)), *sorted(evidence)), read_weights(), len(KINDS))


@cache
def read_weights() -> Mapping[str, str]:
    """The weights of each feature as the file writes them, read once."""
    return read_table(FILE)


def weigh(names: Iterable[str], weights: Mapping[str, str], kinds: int) -> list[float]:
    """The probability of each kind of a text with these features; `kinds`: their number."""
    known = [parse_weights(found) for name in names if (found := weights.get(name)) is not None]
    share = 1 / math.sqrt(len(known) + 1)
    columns = zip(*known, strict=True) if known else [()] * kinds
    sums = [share * sum(column) + bias for column, bias in zip(columns, parse_weights(weights[""]), strict=True)]
    highest = max(sums)
    powers = [math.exp((each - highest) / SCALE) for each in sums]
    return [power / sum(powers) for power in powers]


class SortedTable(Mapping[str, str]):
    """What sorted lines say behind their name and a tab; a text looks up a few of thirty thousand."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def __getitem__(self, name: str) -> str:
        head = f"{name}\t"
        at = bisect_left(self._lines, head)
        if at == len(self._lines) or not self._lines[at].startswith(head):
            raise KeyError(name)
        return self._lines[at][len(head) :]

    def __iter__(self) -> Iterator[str]:
        return (line.partition("\t")[0] for line in self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def read_table(file: Path) -> SortedTable:
    """The weights that a file lists, by the name of their feature."""
    return SortedTable(file.read_text(encoding="utf-8").splitlines())


@lru_cache(maxsize=8_192)
def parse_weights(weights: str) -> tuple[int, ...]:
    """The numbers of a line behind its name. Kept, as most messages have the same features."""
    return tuple(map(int, weights.split("\t")))


def asks_behind_call(text: str, name_evidence: Callable[[str, Sequence[Sentence]], Collection[str]]) -> bool:
    """Whether a text clearly asks something, without its mark, behind a call for patience: "wait, is it open today"."""
    behind = _PATIENCE.sub("", text, count=1)
    if behind == text or len(behind.split()) < _MIN_WORDS:
        return False
    chances = dict(zip(KINDS, estimate(behind, name_evidence(behind, split_sentences(behind))), strict=True))
    asks, states = chances["question"], chances["statement"]
    return asks == max(chances.values()) and asks >= _MIN_SHARE * (asks + states)
