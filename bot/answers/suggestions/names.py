"""Tell names that make a good question from generic words, code and parts of names. Pure."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

MIN_WORD_LENGTH = 4  # letters of a name that is one word
MAX_NAME_LENGTH = 40  # characters
MAX_NAME_WORDS, MAX_PERSON_WORDS = 5, 4
SHARE_WITH_ARTICLE = SHARE_BEFORE_NOUN = 0.5  # of the places where a name occurs
STEM_LENGTH = 4  # letters that two forms of a noun share

_WORD = re.compile(r"[^\W\d_]+(?:['’&-][^\W\d_]+)*\.?")
_PARTICLES = frozenset(re.findall(r"\S+", "of the de la del der den van von zu le du da dos af av and & und y et"))
_NOT_NAMES = frozenset(
    re.findall(
        r"\w+",
        """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december one two three four five six seven eight nine ten eleven twelve thirteen
    fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
    thousand today tomorrow yesterday total agenda edition issue issued note notes page section chapter table figure
    appendix summary introduction overview contents report update reminder thanks hello morning everyone here channel
    """,
    )
)


def contains_name(name: str, text: str) -> bool:
    """Whether a name is in a text as whole words; both are in lower case."""
    at = text.find(name) if name else -1
    while at >= 0:
        end = at + len(name)
        if not (_is_word_character(text[at - 1 : at]) or _is_word_character(text[end : end + 1])):
            return True
        at = text.find(name, at + 1)
    return False


def _is_word_character(character: str) -> bool:
    return character.isalnum() or character == "_"


def is_well_formed(name: str) -> bool:
    """Whether a name is made of capitalized words: no code, no mention, no address, no number, no acronym."""
    words = name.split()
    if not words or " ".join(words) != name or len(words) > MAX_NAME_WORDS or len(name) > MAX_NAME_LENGTH:
        return False
    if name.isupper() or not all(_WORD.fullmatch(word) or word == "&" for word in words):
        return False
    if not (words[0][0].isupper() and words[-1][0].isupper()) or words[0].casefold() in STOP_WORDS:
        return False
    if any(word[0].islower() and word not in _PARTICLES for word in words):
        return False
    if not _NOT_NAMES.isdisjoint(word.casefold() for word in words):
        return False
    return len(words) > 1 or (len(name) >= MIN_WORD_LENGTH and name[1:].islower())


def is_person_name(name: str) -> bool:
    """Whether the display name of a person looks like one, if only a first name: no handle, no sentence."""
    words = name.split()
    if " ".join(words) != name or not 0 < len(words) <= MAX_PERSON_WORDS or len(name) > MAX_NAME_LENGTH:
        return False
    is_cased = all(_WORD.fullmatch(word) for word in words) and words[0][0].isupper() and len(words[0]) > 1
    return is_cased and _NOT_NAMES.isdisjoint(word.casefold() for word in words)


@dataclass(frozen=True, slots=True)
class NameJudge:
    """Judges names by the texts in which they occur. `known`: all names of a context, in lower case."""

    text: str
    known: frozenset[str]

    @classmethod
    def build(cls, texts: Iterable[str], names: Iterable[str]) -> NameJudge:
        """A judge for the names of a context."""
        return cls("\n".join(texts), frozenset(name.casefold() for name in names))

    def is_good(self, name: str) -> bool:
        """Whether a reader knows what a question about this name means.

        A name that is only a part of another one is ambiguous. One that is also written in lower case is a common word,
        one that precedes a noun is a part of what that means.
        """
        lowered = name.casefold()
        if not is_well_formed(name) or contains_name(lowered, self.text) or not contains_name(name, self.text):
            return False
        if " " not in name and self._is_modifier(name):
            return False
        return not any(lowered in other and lowered != other and contains_name(lowered, other) for other in self.known)

    def _is_modifier(self, name: str) -> bool:
        """Whether a word mostly precedes the same noun, as in "Delta kites", and is no name without it."""
        nouns = re.findall(rf"(?<!\w){re.escape(name)} ([a-z]{{{STEM_LENGTH},}})", self.text)
        stems = Counter(noun[:STEM_LENGTH] for noun in nouns if noun not in STOP_WORDS)
        occurrences = len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", self.text))
        return bool(stems) and stems.most_common(1)[0][1] >= occurrences * SHARE_BEFORE_NOUN

    def add_article(self, name: str) -> str:
        """The name with its English article, if it mostly has one."""
        escaped = re.escape(name)
        found = len(re.findall(rf"(?<!\w){escaped}(?!\w)", self.text))
        with_article = len(re.findall(rf"(?<!\w)(?i:the) {escaped}(?!\w)", self.text))
        return f"the {name}" if found and with_article / found >= SHARE_WITH_ARTICLE else name
