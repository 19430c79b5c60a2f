"""Name the topics of conversations, the most discussed first. Pure.

A conversation is a topic if several messages, or several people, are about it. It is named by the words that are its
own: frequent in it, rare in the others.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.llm.offline.words import content_words, is_generic, stem
from engine.text.languages.unspaced import has_unspaced, list_content_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.llm.offline.candidates import Candidate

MAX_TOPICS = 6
MAX_TOPIC_WORDS = 3
_MIN_LETTERS = 3  # of a word that names a topic
_MIN_CHARACTERS, _MAX_CHARACTERS = 2, 8  # of one in a script without spaces


@dataclass(frozen=True, slots=True)
class DiscussedTopic:
    """A conversation, the words that name it, and the positions of its messages."""

    words: tuple[str, ...]
    positions: tuple[int, ...]


def find_topics(candidates: Sequence[Candidate]) -> list[DiscussedTopic]:
    """The topics, at most MAX_TOPICS and a third of all messages, but at least one; most discussed first."""
    groups: dict[str, list[int]] = {}
    for at, one in enumerate(candidates):
        groups.setdefault(one.source.document, []).append(at)
    words = {key: _count_words(candidates[at] for at in positions) for key, positions in groups.items()}
    used = Counter(key for counts in words.values() for key in counts)
    ranked = sorted(groups, key=lambda key: -_weigh([candidates[at] for at in groups[key]]))
    topics = [
        DiscussedTopic(_choose_words(words[key], used, [candidates[at] for at in groups[key]]), tuple(groups[key]))
        for key in ranked
    ]
    most = min(MAX_TOPICS, max(1, math.ceil(len(candidates) / 3)))
    return [topic for topic in topics if topic.words][:most]


def _weigh(said: Sequence[Candidate]) -> float:
    """How much a conversation counts: its messages, and twice its people beyond the first."""
    return len(said) + 2 * (len({one.speaker for one in said}) - 1)


def _count_words(said: Iterable[Candidate]) -> Counter[str]:
    """In how many messages of a conversation each stem stands."""
    return Counter(key for one in said for key in {stem(word) for word in _naming_words(one)})


def _naming_words(one: Candidate) -> list[str]:
    speaker = {stem(word) for word in (*one.speaker.split(), *list_content_runs(one.speaker))}
    spaced = [
        word
        for word in content_words(one.text)
        if len(word) >= _MIN_LETTERS and not is_generic(word) and any(map(str.isalpha, word))
        if not word.startswith("@") and not has_unspaced(word)
    ]
    unspaced = [run[:_MAX_CHARACTERS] for run in list_content_runs(one.text) if len(run) >= _MIN_CHARACTERS]
    return [word for word in (*spaced, *unspaced) if stem(word) not in speaker]


def _choose_words(counts: Counter[str], used: Counter[str], said: Sequence[Candidate]) -> tuple[str, ...]:
    """The words that name a conversation, as they were first written."""
    shown: dict[str, str] = {}
    for one in said:
        for word in _naming_words(one):
            shown.setdefault(stem(word), word)
    order = {key: at for at, key in enumerate(shown)}
    names = {key for key, word in shown.items() if word[:1].isupper() and not word.isupper()}
    best = sorted(counts, key=lambda key: (-counts[key] / used[key] - 0.5 * (key in names), order[key]))
    return tuple(shown[key] for key in sorted(best[:MAX_TOPIC_WORDS], key=lambda key: order[key]))
