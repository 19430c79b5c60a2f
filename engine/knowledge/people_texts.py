"""Take sentences that name people out of the descriptions of other things. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.knowledge.people import split_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from engine.models import Extraction

_TITLES = ("Dr", "Mr", "Mrs", "Ms", "Prof", "St", "Sr", "Sra", "Hr", "Fr", "Mme", "M", "Jr", "[A-Z]")
# The end of a sentence, but not after an initial or a title: "J. Berg", "Dr. Berg".
_END = re.compile("".join(rf"(?<!\b{title}\.)" for title in _TITLES) + r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_WORD = re.compile(r"[\w'’`-]+(?:\.\w+)*")
_KEYWORDS = re.compile(r"\s*,\s*")
MAX_WORDS = 4  # of a name
MIN_PART = 3  # letters of a name that alone means the person


@dataclass(frozen=True, slots=True)
class NamedPeople:
    """Whom a text names: `names` of people of the text itself, and `keys` of names that others show as people's.

    `kept`: names of other things in the text, of which no part means a person.
    """

    names: Collection[str]
    keys: Collection[str] = ()
    kept: Collection[str] = ()


def list_keys(extraction: Extraction, kept: Collection[str]) -> set[str]:
    """The keys of everything in the descriptions that may be the name of a person, but not of what is kept."""
    others = {"".join(split_name(text)) for text in kept}
    texts = {mention.description for mention in extraction.mentions} | {link.description for link in extraction.links}
    return {key for text in texts for window in _list_windows(text) for key in _join(window)} - others


def drop_sentences(extraction: Extraction, people: NamedPeople) -> Extraction:
    """The extraction without the sentences of descriptions, and without the keywords, that name people."""
    if not (people.names or people.keys):
        return extraction
    kept = {word for name in people.kept for word in split_name(name)}
    wholes = {key for name in people.names for key in _join(split_name(name))} | set(people.keys)
    parts = {word for name in people.names for word in split_name(name) if len(word) >= MIN_PART} - kept
    wholes -= {"".join(split_name(name)) for name in people.kept}

    def names_somebody(text: str) -> bool:
        windows = [*_list_windows(text)]
        return any(not wholes.isdisjoint(_join(window)) for window in windows) or any(
            len(window) == 1 and window[0] in parts for window in windows
        )

    def clean(text: str) -> str:
        sentences = _END.split(text)
        left = [sentence for sentence in sentences if not names_somebody(sentence)]
        return (
            text if len(left) == len(sentences) else " ".join(sentence.strip() for sentence in left if sentence.strip())
        )

    def clean_keywords(text: str) -> str:
        if not names_somebody(text):
            return text
        return ", ".join(part for part in _KEYWORDS.split(text) if not names_somebody(part))

    return replace(
        extraction,
        mentions=tuple(replace(mention, description=clean(mention.description)) for mention in extraction.mentions),
        links=tuple(
            replace(link, description=clean(link.description), keywords=clean_keywords(link.keywords))
            for link in extraction.links
        ),
    )


def _list_windows(text: str) -> Iterator[tuple[str, ...]]:
    """Up to MAX_WORDS words that follow each other, begin and end like a name, in the form of names."""
    words = [(match[0], split_name(match[0])) for match in _WORD.finditer(text)]
    for start in range(len(words)):
        if not _looks_like_name(words[start][0]):
            continue
        for end in range(start, min(start + MAX_WORDS, len(words))):
            if _looks_like_name(words[end][0]):
                yield tuple(part for _, parts in words[start : end + 1] for part in parts)


def _looks_like_name(word: str) -> bool:
    """Whether a word may begin or end a name: it has a capital, or is of a script without them."""
    return word[:1].isupper() or not (word[:1].islower() or word[:1].isdigit())


def _join(words: Collection[str]) -> set[str]:
    return {"".join(words), "".join(sorted(words))} - {""}
