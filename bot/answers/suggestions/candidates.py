"""Propose follow-up questions from what was retrieved for an answer, but not cited by it, about good names. Pure.

A candidate is about a name, a person or a section that is close to the answer and that the answer does not explain.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bot.text.excerpts import strip_speaker
from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from engine import Context, Source

    CandidateKind = Literal["decided", "connected", "said", "section"]


MAX_SOURCES = 40  # retrieved passages that are looked at, the most relevant first
MIN_PASSAGES = 2  # uncited passages that name the subject of a candidate
HUB_PASSAGES = 9  # a name in more of them is a hub: that it is connected says nothing
MIN_MESSAGE_LENGTH = 40  # characters of a message that is worth asking for
MIN_SECTION_LENGTH = 80  # characters of a section that is worth asking for
MAX_HEADING_WORDS = 6

_FILE_ENDING = re.compile(r"\.[a-z][a-z0-9]{1,4}$", re.IGNORECASE)
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*[.)]|\d+(?:\.\d+)+|[A-Z]\.|§ ?\d+)\s+")
_PLAIN = re.compile(r"[^\W_](?:[^\W_]|[ ,;:'’()&+–—.-])*")  # no markup, no mention
_ADDRESS = re.compile(r"\w\.\w|:\w")  # or the name of an emoji, or a search filter
_DIGIT = re.compile(r"\d")
_GENERIC_HEADINGS = frozenset(
    re.findall(
        r"\w+",
        """
    introduction overview summary contents notes remarks appendix references general miscellaneous conclusion
    background description details information other about
    """,
    )
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_DECIDED = re.compile(
    r"\b(?:decided|decision|agreed|resolved|approved|granted|voted|adopted|postponed|cancell?ed|accepted|rejected|"
    r"beschloss\w*|entschied\w*|vereinbart\w*|décid\w*|decid\w*|acord\w*|aprob\w*|aprovad\w*)\b|決定|決まり|合意",
    re.IGNORECASE,
)
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


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that could be suggested: its kind, its subject, and what that is connected to or part of.

    `author`: who must have written what supports it, empty for anybody. `document`: which must contain that.
    """

    kind: CandidateKind
    subject: str
    other: str
    score: float
    author: str = ""
    document: str = ""

    def is_supported_by(self, source: Source) -> bool:
        """Whether a passage can answer it."""
        if (self.author and source.author != self.author) or (self.document and source.document != self.document):
            return False
        text = passage_text(source).casefold()
        match self.kind:
            case "section":
                return find_heading(source) == self.subject
            case "said":
                return contains_name(self.other.casefold(), text)
            case "decided":
                return _is_decided(self.subject, source)
            case "connected":
                return all(contains_name(name.casefold(), text) for name in (self.subject, self.other))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an answer says, what it cites, and the other passages that were retrieved for it, with lower-case texts."""

    said: str
    cited: tuple[Source, ...]
    uncited: tuple[tuple[Source, str], ...]
    context: Context
    judge: NameJudge

    @classmethod
    def build(cls, context: Context, said: str, cited: Sequence[Source]) -> Evidence:
        """The evidence of an answer; `said`: the question and the answer."""
        keys = {(source.document, source.passage) for source in cited}
        others = [source for source in context.sources[:MAX_SOURCES] if (source.document, source.passage) not in keys]
        names = {entity.name for entity in context.entities} | {source.author for source in context.sources}
        names |= {name for relation in context.relations for name in (relation.source, relation.target)}
        judge = NameJudge.build((strip_speaker(source.text) for source in context.sources), names)
        uncited = tuple((other, passage_text(other).casefold()) for other in others)
        return cls(said.casefold(), tuple(cited), uncited, context, judge)

    def says(self, name: str) -> bool:
        """Whether the question or the answer contains a name."""
        return contains_name(name.casefold(), self.said)

    def explains(self, name: str) -> bool:
        """Whether the question or the answer contains a name, or a part of it."""
        return any(self.says(word) for word in {name, *name.split()} if word == name or word[0].isupper())

    def list_naming(self, *names: str) -> list[Source]:
        """The uncited passages that contain all of these names."""
        lowered = [name.casefold() for name in names]
        return [each for each, text in self.uncited if all(contains_name(name, text) for name in lowered)]


def passage_text(source: Source) -> str:
    """The words of a passage; with its heading, if it is not a message."""
    return strip_speaker(source.text) if source.author else f"{source.label}\n{source.text}"


def find_heading(source: Source) -> str:
    """The heading of a section without its number; empty for a page, a line, a message, or an unclear one."""
    heading = _NUMBERING.sub("", source.label.rpartition(" › ")[2]).strip()
    if source.author or source.label == source.title or not _is_plain(heading):
        return ""
    has_words = heading[0].isupper() and not _DIGIT.search(heading)
    clear = has_words and heading.casefold() not in _GENERIC_HEADINGS
    return heading if clear and len(heading.split()) <= MAX_HEADING_WORDS else ""


def _is_plain(text: str) -> bool:
    """Whether a text has no markup, mention, address or search filter."""
    return _PLAIN.fullmatch(text) is not None and _ADDRESS.search(text) is None


def _find_title(source: Source) -> str:
    """The heading above all of a document's sections, else its title, without the ending of a file name."""
    root, is_nested, _ = source.label.partition(" › ")
    return root.strip() if is_nested else _FILE_ENDING.sub("", source.title)


def propose(evidence: Evidence) -> list[Candidate]:
    """All candidates, the best first; of those about the same subject, only the best."""
    found = [*_propose_related(evidence), *_propose_authors(evidence), *_propose_sections(evidence)]
    best: dict[str, Candidate] = {}
    for candidate in sorted(found, key=lambda each: (-each.score, each.kind, each.subject, each.other)):
        best.setdefault(candidate.subject.casefold(), candidate)
    return list(best.values())


def _propose_related(evidence: Evidence) -> Iterator[Candidate]:
    """Names that a relation connects with what the answer says: a person with a thing, or a thing with a decision."""
    people = {entity.name for entity in evidence.context.entities if entity.type == "person"}
    people |= {source.author for source in evidence.context.sources if source.author}
    for anchor, name in _list_open_ends(evidence):
        passages = evidence.list_naming(name)
        if len(passages) < MIN_PASSAGES or not evidence.judge.is_good(name):
            continue
        rarity = 1.0 / len(passages)
        if name not in people and any(_is_decided(name, passage) for passage in passages):
            yield Candidate("decided", name, "", 1.5 + rarity)
        crosses = (name in people) != (anchor in people)
        if crosses and len(passages) <= HUB_PASSAGES and evidence.judge.is_good(anchor):
            shared = len(evidence.list_naming(name, anchor))
            if shared:
                person, thing = (name, anchor) if name in people else (anchor, name)
                yield Candidate("connected", person, thing, 0.9 + rarity + 0.1 * min(shared, 3))


def _list_open_ends(evidence: Evidence) -> Iterable[tuple[str, str]]:
    """The relations with one end that the answer says and one that it does not explain, in this order."""
    ends = [(relation.source, relation.target) for relation in evidence.context.relations]
    pairs = dict.fromkeys([*ends, *((target, source) for source, target in ends)])
    said = {name: evidence.says(name) for pair in pairs for name in pair}
    return [(anchor, name) for anchor, name in pairs if said[anchor] and not evidence.explains(name)]


def _is_decided(name: str, source: Source) -> bool:
    return any(
        contains_name(name.casefold(), sentence.casefold()) and _DECIDED.search(sentence)
        for sentence in _SENTENCE.split(passage_text(source))
    )


def _propose_authors(evidence: Evidence) -> Iterator[Candidate]:
    """People who wrote about what the answer says."""
    authors = {each.author for each, _ in evidence.uncited if each.author}
    names = {name for relation in evidence.context.relations for name in (relation.source, relation.target)}
    names |= {entity.name for entity in evidence.context.entities}
    for topic in sorted(names - authors):
        if not evidence.says(topic) or not evidence.judge.is_good(topic):
            continue
        wrote = Counter(
            source.author
            for source in evidence.list_naming(topic)
            if source.author and len(strip_speaker(source.text)) >= MIN_MESSAGE_LENGTH
        )
        for author, count in wrote.items():
            if is_person_name(author) and not evidence.explains(author):
                yield Candidate("said", author, topic, 0.8 + 0.3 * min(count, 3), author=author)


def _propose_sections(evidence: Evidence) -> Iterator[Candidate]:
    """Other sections of a cited document, those nearest to a cited one first."""
    positions: dict[str, list[int]] = {}
    for source in evidence.cited:
        positions.setdefault(source.document, []).append(source.position)
    for source, _ in evidence.uncited:
        heading = find_heading(source)
        if source.document not in positions or not heading or len(source.text) < MIN_SECTION_LENGTH:
            continue
        title = _find_title(source)
        is_named = evidence.says(heading) or heading.casefold() in title.casefold()
        if is_named or not _is_plain(title):
            continue
        distance = min(abs(source.position - at) for at in positions[source.document])
        yield Candidate("section", heading, title, 1.35 - min(distance, 20) / 100, document=source.document)


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
