"""An excerpt read by rules: its names, and what stands together in one sentence. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from engine.llm.offline.entities import Known, Named, know, names
from engine.llm.offline.text.sentences import ChatLine, sentences, turns
from engine.llm.offline.text.words import salient, stem
from engine.models import Link, Mention, Reading
from engine.text.names import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.models import Excerpt

MENTIONS_OF_A_NAME = 3
LINKS_OF_A_SENTENCE = 5
KEYWORDS = 5


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence with its names, the speaker's first."""

    text: str
    names: tuple[Named, ...]


def notice(excerpt: Excerpt) -> Reading:
    """Up to three mentions a name, and one link a pair, described by the sentences in which they stand."""
    parts = turns(excerpt.text)
    people = {part.speaker for part in parts if isinstance(part, ChatLine)}
    texts = [(part, sentence) for part in parts for sentence in sentences(part if isinstance(part, str) else part.text)]
    known = know([sentence for _, sentence in texts], people)
    said = [_said(part, sentence, known) for part, sentence in texts]
    return Reading(tuple(_mentions(said)), tuple(_links([*said, *_under(excerpt.section, said, known)])))


def _said(part: ChatLine | str, sentence: str, known: Known) -> _Said:
    found = names(sentence, known)
    if isinstance(part, str):
        return _Said(sentence, tuple(found))
    speaker = Named(part.speaker, "person", -1)
    others = (name for name in found if name.name != part.speaker)
    return _Said(f"{part.speaker}: {sentence}", (speaker, *others))


def _mentions(said: Iterable[_Said]) -> list[Mention]:
    found: dict[str, dict[str, Mention]] = {}
    for one in said:
        for name in one.names:
            texts = found.setdefault(canonical(name.name), {})
            if len(texts) < MENTIONS_OF_A_NAME:
                texts.setdefault(one.text, Mention(name.name, name.type, one.text))
    return [mention for key, texts in found.items() if key for mention in texts.values()]


def _links(said: Iterable[_Said]) -> list[Link]:
    found: dict[frozenset[str], Link] = {}
    for one in said:
        keywords = ",".join(_keywords(one)) if len(one.names) > 1 else ""
        for source, target in _pairs(one.names):
            ends = frozenset((canonical(source.name), canonical(target.name)))
            if len(ends) > 1 and "" not in ends and ends not in found:
                found[ends] = Link(source.name, target.name, keywords, one.text)
    return list(found.values())


def _pairs(found: Sequence[Named]) -> list[tuple[Named, Named]]:
    """The pairs of names that stand nearest, at most five; a speaker is near to all that they say."""
    pairs = combinations(range(len(found)), 2)
    spoken = bool(found) and found[0].start < 0
    ranked = sorted(pairs, key=lambda pair: (1 if spoken and pair[0] == 0 else pair[1] - pair[0], pair))
    return [(found[one], found[other]) for one, other in ranked[:LINKS_OF_A_SENTENCE]]


def _keywords(one: _Said) -> list[str]:
    """The first words that say something and name nothing."""
    named = {stem(word) for name in one.names for word in name.name.replace("@", " ").replace("#", " ").split()}
    words = (word for word in salient(one.text) if word.islower() and word.isalpha() and stem(word) not in named)
    return list(dict.fromkeys(words))[:KEYWORDS]


def _under(section: str, said: Sequence[_Said], known: Known) -> list[_Said]:
    """Sentences with a single name, linked to the first name of the title or heading under which they stand."""
    heads = [name for part in section.split("›") for name in names(part.strip(), known) if " " in name.name][:1]
    alone = [one for one in said if len(one.names) == 1] if heads else []
    return [_Said(one.text, (*heads, *one.names)) for one in alone[:LINKS_OF_A_SENTENCE]]
