"""Recognize messages that repeat a template, as programs send them: builds, releases, alerts, reminders.

Messages of one author and one number of words are compared word by word; numbers, addresses and mentions are equal. A
message repeats a template if nearly all its words are those of messages before it. In memory only: after a start the
first few of each template are read again as any message.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, field

from engine.text.cleanup import MESSAGE_TIME

REPEATS = 5  # messages of a template that are read as any other
MIN_WORDS = 4  # of a template; shorter messages say too little to be compared
MIN_EQUAL = 0.7  # share of the words that are those of the template
MAX_WORDS = 120  # longer messages are no notices
MAX_GROUPS, MAX_TEMPLATES, MAX_CHUNKS = 2_000, 16, 20_000  # kept, the latest ones

_MESSAGE = re.compile(rf"^\[{MESSAGE_TIME}\] ", re.MULTILINE)
_VARIABLE = re.compile(r"\d|://|^[@#<]|[0-9a-f]{7,}")
ANY = "*"


@dataclass(slots=True)
class _Template:
    """The words that all messages so far had in their places, `ANY` where they differ, and their number."""

    words: list[str]
    count: int = 1

    def matches(self, words: list[str]) -> bool:
        equal = sum(a == b for a, b in zip(self.words, words, strict=True))
        constant = sum(a == b != ANY for a, b in zip(self.words, words, strict=True))
        return equal >= MIN_EQUAL * len(words) and 2 * constant >= len(words)

    def add(self, words: list[str]) -> None:
        self.words = [a if a == b else ANY for a, b in zip(self.words, words, strict=True)]
        self.count += 1


@dataclass(slots=True)
class NoticeMemory:
    """The templates of each space, and which chunks were compared with them."""

    _groups: OrderedDict[tuple[int, str, int], list[_Template]] = field(default_factory=OrderedDict)
    _chunks: OrderedDict[int, bool] = field(default_factory=OrderedDict)

    def is_repeated(self, space: int, chunk: int, text: str) -> bool:
        """Whether every message of a chunk repeats a template that was seen often enough; each chunk counts once."""
        if chunk not in self._chunks:
            messages = [text[a:b] for a, b in _split(text)]
            seen = [self._record(space, message) for message in messages]
            self._chunks[chunk] = bool(seen) and all(seen)
            while len(self._chunks) > MAX_CHUNKS:
                self._chunks.popitem(last=False)
        return self._chunks[chunk]

    def _record(self, space: int, message: str) -> bool:
        author, _, said = message.partition(": ")
        words = [ANY if _VARIABLE.search(word) else word for word in said.split()]
        if not MIN_WORDS <= len(words) <= MAX_WORDS:
            return False
        key = (space, author, len(words))
        templates = self._groups.setdefault(key, [])
        self._groups.move_to_end(key)
        while len(self._groups) > MAX_GROUPS:
            self._groups.popitem(last=False)
        for template in templates:
            if template.matches(words):
                template.add(words)
                return template.count > REPEATS
        templates.append(_Template(words))
        del templates[:-MAX_TEMPLATES]
        return False


def _split(text: str) -> list[tuple[int, int]]:
    """Where the messages of a chunk are, without their times; empty if it has none."""
    found = list(_MESSAGE.finditer(text))
    ends = [*(match.start() for match in found), len(text)][1:]
    return [(each.end(), end) for each, end in zip(found, ends, strict=True)]
