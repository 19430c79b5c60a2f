"""Remove from the start of a reply what it repeats of its prompt, and the name of its role that is glued to its text.

Only what is certain is removed: whole sentences, in the order of the prompt that was sent, from one of the program's
own sentences on. What a source or the question says too may be a quotation, and stays.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_WORDS = 6  # of what is removed
MIN_CHARACTERS = 30  # of it
MAX_BLANKS = 1_000  # before a reply that is looked at
MAX_MARK = 60  # characters of a mark such as `<context-…>`
MAX_ROLE = 60  # characters of a word that may begin with the name of a role

_TOKEN = re.compile(r"(?<!\s)\s*(\S+)")
_FENCE = re.compile(r"</?context-[0-9a-f]{12}>")
_SENTENCE_END = re.compile(r"[.!?:][\"'”’)\]*_]{0,4}\Z")
_MARKS = "*_`>#-•"
_ROLES = ("system", "user", "assistant", "model")  # alone in a line
_LABELS = ("System:", "User:", "Assistant:", "Question:", "Answer:", "Response:", *(f"{role}:" for role in _ROLES))
_SPEAKERS = ("assistant", "model")
_NAME = re.compile(r"[A-Za-z0-9_]+")
_TEXT_STARTS = ("**", "# ", "¿", "¡", "「", "“", "«")


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a prompt. `ends`: the places of those that end a sentence or line; `starts`: where an echo begins.

    `question`: the place of the first word of the question, where an echo goes on.
    """

    words: Sequence[str]
    ends: frozenset[int]
    starts: dict[str, list[int]]
    question: int

    @property
    def question_word(self) -> str:
        """The first word of the question."""
        return self.words[self.question] if self.question < len(self.words) else ""


class SentPrompt:
    """A prompt as it was sent. `frame`: the program's own lines in it; `texts`: all of it, the question last."""

    def __init__(self, frame: Sequence[str] = (), texts: Sequence[str] = ()) -> None:
        self._frame = frozenset(frame)
        self._texts = tuple(texts)

    @cached_property
    def first_words(self) -> frozenset[str]:
        """The words with which an echo may begin."""
        first = {_normalize(sentence[0]) for line in self._frame for sentence in _split_sentences(line.split())}
        return frozenset(first) if self._texts else frozenset()

    @cached_property
    def words(self) -> _Words:
        """The words of the prompt."""
        words, ends, starts = list[str](), set[int](), list[int]()
        question = 0
        for text in self._texts:
            question = len(words)
            for line in text.splitlines():
                known = line.strip() in self._frame or _FENCE.fullmatch(line.strip()) is not None
                for sentence in _split_sentences(line.split()):
                    if known:
                        starts.append(len(words))
                    words += filter(None, map(_normalize, sentence))
                    ends.add(len(words) - 1)
        return _Words(words, frozenset(ends), _find_unique(words, starts), question)

    @cached_property
    def _said(self) -> frozenset[str]:
        return frozenset(word for text in self._texts for word in _NAME.findall(text))

    def says(self, word: str) -> bool:
        """Whether the prompt has this word."""
        return word in self._said


def _find_unique(words: Sequence[str], starts: Sequence[int]) -> dict[str, list[int]]:
    """Those places at which words stand that stand nowhere else, by their first word."""
    places = defaultdict[tuple[str, ...], list[int]](list)
    wanted = {tuple(words[at : at + MIN_WORDS]) for at in starts}
    firsts = {group[0] for group in wanted if group}
    for at, word in enumerate(words):
        if word in firsts and (group := tuple(words[at : at + MIN_WORDS])) in wanted:
            places[group].append(at)
    found: dict[str, list[int]] = {}
    for group, at_places in places.items():
        if len(at_places) == 1:
            found.setdefault(group[0], []).extend(at_places)
    return found


def _split_sentences(words: Sequence[str]) -> list[list[str]]:
    sentences: list[list[str]] = []
    is_open = False
    for word in words:
        if not _normalize(word):
            continue
        if not is_open:
            sentences.append([])
        sentences[-1].append(word)
        is_open = _SENTENCE_END.search(word) is None
    return sentences


def _normalize(word: str) -> str:
    return word.lstrip(_MARKS).rstrip("*_`")


class EchoFilter:
    """Passes a streamed reply without what it repeats of its prompt."""

    def __init__(self, prompt: SentPrompt) -> None:
        self._prompt = prompt
        self._held = ""
        self._at = 0  # in `_held`, behind the words that were compared
        self._next: list[int] = []  # places in the prompt of the word that would go on
        self._count = self._characters = 0  # of the words of this echo
        self._has_cut = False
        self._is_begun = False  # the name of a role was looked for
        self._is_done = False

    @property
    def is_echo(self) -> bool:
        """Whether something was removed, and nothing is left."""
        return self._has_cut and not self._is_done

    def feed(self, delta: str) -> str:
        """Add a piece of the reply; returns the text that can be shown now."""
        if self._is_done:
            return delta
        self._held += delta
        return self._read(is_last=False)

    def finish(self) -> str:
        """The rest at the end of the reply."""
        return "" if self._is_done else self._read(is_last=True)

    def _read(self, *, is_last: bool) -> str:
        if not self._is_begun and len(self._held) > MAX_BLANKS and self._held[:MAX_BLANKS].isspace():
            return self._release()
        self._is_begun = self._is_begun or self._drop_role(is_last=is_last)
        if not self._is_begun:
            return ""
        while found := _TOKEN.match(self._held, self._at):
            word = _normalize(found[1])
            if found.end() == len(self._held) and not is_last and self._may_go_on(word):
                return ""
            if not self._compare(word, found.end()):
                return self._release()
        return self._finish_echo() if is_last else ""

    def _drop_role(self, *, is_last: bool) -> bool:
        """Drop "assistant" before "The kiln" without a blank; false if more text decides it."""
        text = self._held.lstrip()
        name = _NAME.match(text)
        whole = name[0] if name else ""
        speaker = next((each for each in _SPEAKERS if whole.startswith(each)), "")
        may_begin = any(each.startswith(text) for each in _SPEAKERS)
        if not is_last and (may_begin or (speaker and len(text) < MAX_ROLE and len(text) < len(whole) + 2)):
            return False
        behind = text[len(speaker) :]
        if speaker and len(whole) < MAX_ROLE and self._is_glued(behind) and not self._is_word(whole, speaker, behind):
            self._held = behind
        return True

    def _is_glued(self, behind: str) -> bool:
        return behind.startswith(_TEXT_STARTS) or (behind[:1].isalpha() and not behind[0].islower())

    def _is_word(self, whole: str, speaker: str, behind: str) -> bool:
        """Whether the prompt has the word: "assistantId", or "model" before a script without capital letters."""
        is_apart = whole != speaker or (behind[0].isalpha() and not behind[0].isupper())
        return is_apart and self._prompt.says(whole)

    def _may_go_on(self, word: str) -> bool:
        """Whether a word that may not be complete yet is the beginning of one that is looked for."""
        known = self._prompt
        expected = [known.words.words[place] for place in self._next if place < len(known.words.words)]
        if not (self._next and self._at):  # another echo, or the answer, may begin here
            expected += [*known.first_words, *_ROLES]
        if self._has_cut:
            expected += [*_LABELS, known.words.question_word]
        return not word or (word[0] == "<" and len(word) < MAX_MARK) or any(each.startswith(word) for each in expected)

    def _compare(self, word: str, end: int) -> bool:
        """Compare a word of the reply; false if the answer begins where `_held` does."""
        if not word:
            self._at = end
            return True
        if self._next and not self._advance(self._next, word, end):
            self._next, self._count, self._characters = [], 0, 0
            if self._at:  # words of a sentence that is not whole
                return False
        elif self._next:
            return True
        return self._advance(self._list_starts(word), word, end) or self._skip_role(word, end)

    def _advance(self, places: Sequence[int], word: str, end: int) -> bool:
        """Go on if a word stands at one of these places of the prompt, and cut behind the end of a sentence."""
        words = self._prompt.words
        going_on = [place + 1 for place in places if place < len(words.words) and words.words[place] == word]
        if not going_on:
            return False
        self._next, self._at = going_on, end
        self._count, self._characters = self._count + 1, self._characters + len(word)
        is_long = self._count >= MIN_WORDS and self._characters >= MIN_CHARACTERS
        is_end = any(place - 1 in words.ends for place in going_on)
        if is_end and (is_long or self._has_cut or _FENCE.fullmatch(word)):
            self._cut(end)
        return True

    def _list_starts(self, word: str) -> list[int]:
        if not (self._has_cut or word in self._prompt.first_words or _FENCE.fullmatch(word)):
            return []
        words = self._prompt.words
        return [*words.starts.get(word, []), *([words.question] if self._has_cut else [])]

    def _skip_role(self, word: str, end: int) -> bool:
        """Pass over the name of a role before the prompt or between its parts."""
        is_alone = word in _ROLES and self._held[end : end + 1] in {"", "\n"}
        if not (is_alone or word in _LABELS) or (self._at and not self._has_cut):
            return False
        if self._has_cut:
            self._cut(end)
        self._at = 0 if self._has_cut else end
        return True

    def _cut(self, end: int) -> None:
        self._held, self._at, self._has_cut = self._held[end:], 0, True

    def _finish_echo(self) -> str:
        """What is held at the end: nothing behind an echo, where it begins a sentence of the prompt."""
        if self._has_cut:
            self._held = ""
            return ""
        return self._release()

    def _release(self) -> str:
        self._is_done = True
        rest, self._held = self._held, ""
        return rest.lstrip() if self._has_cut else rest
