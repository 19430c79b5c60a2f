"""Extract names from an excerpt, and pairs of names in one sentence, by rules. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from engine.llm.offline.entities import ExcerptFacts, collect_excerpt_facts, find_entities
from engine.llm.offline.names.lines import join_wrapped_lines
from engine.llm.offline.names.resolution import resolve_names
from engine.llm.offline.names.selection import Prose, select_names
from engine.llm.offline.names.types import NamedEntity
from engine.llm.offline.sentences import ChatLine, split_chat_lines, split_pieces
from engine.llm.offline.words import content_words, is_generic, stem
from engine.models import Extraction, Link, Mention
from engine.text.names import normalize_name
from engine.text.word_lists import COMMON_WORDS, GENERIC_VERBS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.models import Excerpt

MAX_MENTIONS_PER_NAME = 3
MAX_LINKS_PER_SENTENCE = 5
MAX_KEYWORDS = 5
_VERB_STEMS = frozenset(map(stem, GENERIC_VERBS))


@dataclass(frozen=True, slots=True)
class _SentenceEntities:
    """A sentence with its names, the speaker's first."""

    text: str
    entities: tuple[NamedEntity, ...]


def extract_by_rules(excerpt: Excerpt) -> Extraction:
    """Up to three mentions per name and one link per pair, described by their sentences."""
    parts = [_join_lines(part) for part in split_chat_lines(excerpt.text)]
    people = {part.speaker for part in parts if isinstance(part, ChatLine)}
    texts = [(part, piece) for part in parts for piece in split_pieces(part if isinstance(part, str) else part.text)]
    facts = collect_excerpt_facts([piece.text for _, piece in texts], people)
    named = resolve_names([find_entities(piece.text, facts) for _, piece in texts])
    if not (people or excerpt.is_conversation):
        named = select_names([Prose(*piece, names) for (_, piece), names in zip(texts, named, strict=True)])
    sentences = [_add_speaker(part, piece.text, names) for (part, piece), names in zip(texts, named, strict=True)]
    return Extraction(
        tuple(_build_mentions(sentences)),
        tuple(_build_links([*sentences, *_link_to_heading(excerpt.section, sentences, facts)])),
    )


def _join_lines(part: ChatLine | str) -> ChatLine | str:
    return join_wrapped_lines(part) if isinstance(part, str) else replace(part, text=join_wrapped_lines(part.text))


def _add_speaker(part: ChatLine | str, sentence: str, found: Sequence[NamedEntity]) -> _SentenceEntities:
    if isinstance(part, str):
        return _SentenceEntities(sentence, tuple(found))
    speaker = NamedEntity(part.speaker, "person", -1)
    others = (name for name in found if name.name != part.speaker)
    return _SentenceEntities(f"{part.speaker}: {sentence}", (speaker, *others))


def _build_mentions(sentences: Iterable[_SentenceEntities]) -> list[Mention]:
    found: dict[str, dict[str, Mention]] = {}
    for sentence in sentences:
        for name in sentence.entities:
            texts = found.setdefault(normalize_name(name.name), {})
            if len(texts) < MAX_MENTIONS_PER_NAME:
                texts.setdefault(sentence.text, Mention(name.name, name.type, sentence.text))
    return [mention for key, texts in found.items() if key for mention in texts.values()]


def _build_links(sentences: Iterable[_SentenceEntities]) -> list[Link]:
    links: dict[frozenset[str], Link] = {}
    for sentence in sentences:
        keywords = ",".join(_keywords(sentence)) if len(sentence.entities) > 1 else ""
        for source, target in _nearest_pairs(sentence.entities):
            ends = frozenset((normalize_name(source.name), normalize_name(target.name)))
            if len(ends) > 1 and "" not in ends and ends not in links:
                links[ends] = Link(source.name, target.name, keywords, sentence.text)
    return list(links.values())


def _nearest_pairs(entities: Sequence[NamedEntity]) -> list[tuple[NamedEntity, NamedEntity]]:
    """The nearest pairs of names, at most five; a speaker is near to everything they say."""
    pairs = combinations(range(len(entities)), 2)
    spoken = bool(entities) and entities[0].start < 0
    ranked = sorted(pairs, key=lambda pair: (1 if spoken and pair[0] == 0 else pair[1] - pair[0], pair))
    return [(entities[first], entities[second]) for first, second in ranked[:MAX_LINKS_PER_SENTENCE]]


def _keywords(sentence: _SentenceEntities) -> list[str]:
    """The first content words that are not part of a name."""
    named = {stem(word) for name in sentence.entities for word in name.name.replace("@", " ").replace("#", " ").split()}
    words = (
        word
        for word in content_words(sentence.text)
        if word.islower() and word.isalpha() and stem(word) not in named and not _is_weak(word)
    )
    return list(dict.fromkeys(words))[:MAX_KEYWORDS]


def _is_weak(word: str) -> bool:
    """Whether a word names no relation: it is generic and no verb, or of a time of day."""
    return word == "clock" or word in COMMON_WORDS or (is_generic(word) and stem(word) not in _VERB_STEMS)


def _link_to_heading(
    section: str, sentences: Sequence[_SentenceEntities], facts: ExcerptFacts
) -> list[_SentenceEntities]:
    """Link sentences with a single name to the first name of the title or heading above them."""
    heads = [name for part in section.split("›") for name in find_entities(part.strip(), facts) if " " in name.name][:1]
    alone = [sentence for sentence in sentences if len(sentence.entities) == 1] if heads else []
    return [
        _SentenceEntities(sentence.text, (*heads, *sentence.entities)) for sentence in alone[:MAX_LINKS_PER_SENTENCE]
    ]
