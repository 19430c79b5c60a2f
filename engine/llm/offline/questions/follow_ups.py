"""Complete an elliptical follow-up question from the question and answer before it. Pure.

What a follow-up names itself replaces what it names of the question before; only what it lacks is carried over:

1. It refers to somebody by a pronoun ("where does she live?"): the pronoun becomes the person whom the answer is about.
2. It refers to something ("is it expensive?"), or only asks on ("why?", "and when?"): the question before, and the
   name that the answer is about.
3. It names another subject ("and the pump?"): what was asked of the former subject.
4. It asks for another attribute ("and the price?"): the former subject.
5. It begins with a preposition ("and on Sundays?"): all but what the same preposition named before.
   A question of its own ("who built it?") replaces what was asked, and keeps of what.
   Before "one" ("and the large one?") it replaces what qualified the former subject.
6. It is whole ("and what about the price of the pump?"): nothing.

The person who is quoted in an answer is never carried over, unless nobody else can be meant.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from engine.llm.offline.entities import ExcerptFacts, find_entities, index_people
from engine.llm.offline.questions.ellipsis import (
    acts_together,
    asks_name,
    drop_owners,
    exchanges_number,
    find_last_question,
    find_same_noun,
    has_object_pronoun,
    lacks_subject,
    list_asked_of,
    list_kind_asked,
    means_actors,
    means_thing,
    stands_for_noun,
    without_phrase,
)
from engine.llm.offline.questions.references import blank_own, find_reference, has_person_pronoun, replace_pronoun
from engine.llm.offline.questions.unspaced_ellipsis import complete_unspaced, strip_unspaced_continuation
from engine.llm.offline.sentences import split_sentences
from engine.llm.offline.words import content_words, is_generic, is_stop_word, split_words, stem
from engine.text.cleanup import MESSAGE_TIME
from engine.text.languages.unspaced import has_unspaced
from engine.text.names import normalize_name
from engine.text.patterns import compile_late
from engine.text.word_lists import ATTRIBUTE_WORDS, CONTRASTING_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.llm.offline.names.types import NamedEntity
    from engine.models import ChatTurn

_DEGREE = compile_late(r"\A(?:how|wie|quão|cuán) \w+ ", re.IGNORECASE)  # "how high is the rent"
_GERMAN_ARTICLES = word_set("der die das den dem des ein eine einen einem einer")
_ASKED_NOUN = compile_late(r"\A(?:welche[rsnm]?|wie viele?|was für(?: eine?n?)?) \w+", re.IGNORECASE)
_OTHER_ONE = compile_late(
    r"\b(?:the|a|an|our|my|your) (?!(?:other|same|first|last|next|right|only|new|old|best|whole)\b)([\w-]{3,}) ones?\b",
    re.IGNORECASE,
)
_CONTINUATION = compile_late(
    r"\A\W*(?:(?:no|nein|non|não)\s*,\s*)?(?:(?:sorry|pardon)[\s,]+)?"
    r"(?:(?:i mean|i meant|ich mein(?:e|te)|me refiero a|quiero decir"
    r"|je (?:parle d[eu]|veux dire|voulais dire)|quero dizer|or rather)\b[\s,]*)?"
    r"(?:(?:and|but|or|also|so|ok(?:ay)?|then|und|aber|oder|y|pero|et|mais|e|mas)\b(?! a(?:-t|vait|ura))[\s,]*)*"
    r"(?:(?:what|how) about|what of|what if|was ist mit|wie (?:ist es|steht es|sieht es aus) mit|qué hay de|qué tal"
    r"|qu(?:'|’)en est-il d[eu]|et (?:pour )?|e quanto a|e)?\b[\s,]*",
    re.IGNORECASE,
)
_RETURN = compile_late(
    r"\A\W*(?:(?:and|so|ok(?:ay)?|und|also|y|et|e|now)\b[\s,]*)*(?:(?:go(?:ing)? |com(?:e|ing) )?back to|returning to"
    r"|(?:noch ?mal )?zurück zu[rm]?|volv(?:iendo|amos) al?"
    r"|pour revenir (?:à|aux?)|revenons (?:à|aux?)|voltando (?:ao?|à)s?)"
    r"\s(?P<topic>[^:,;.?!–—]{2,60})[:,;.?!–—]*\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_ASKING = word_set(
    """
    who whom whose what which when where why how is are was were do does did can could will would should has have had
    must may wer wen wem was wann wo wohin woher warum wie welche welcher welches ist sind hat kann quién qué cuándo
    dónde cómo cuánto cuál qui quand où comment combien pourquoi quel quelle quem quando onde como quanto qual
    quelle quels quelles quienes quiénes cuánta cuántos cuántas cuáles quanta quantos quantas quais à
    gibt gab hay había há havia y que quê
    """
)
_QUESTION_WORDS = _ASKING - word_set(
    "is are was were do does did can could will would should has have had must may ist sind hat kann"
) | word_set("was")
_OF = word_set("of von vom de du des del da do das dos")
_WHO = frozenset({"who", "wer", "quién", "qui", "quem"})
_PREPOSITION = compile_late(
    r"\A(on|at|in|for|with|without|from|until|since|after|before|by|during|am|im|für|mit|bei|seit|ab|bis|en|para|con|pour"
    r"|avec|em|no|na|com|desde|depuis|dès|hasta|até)\b",
    re.IGNORECASE,
)
_OWNER = compile_late(r"(?<=\w )(?:of|von|vom|der|des|del|de|du|da|do)\b|\w['’]s\b|の|的", re.IGNORECASE)
# The subject of a question: what its last article, or "of" without one, introduces.
_ARTICLES = r"the|a|an|our|my|your|this|der|die|das|dem|den|des|unser\w*|el|la|los|las|le|les|l['’]|o|os|as|nosso|nossa"
_SUBJECT = compile_late(rf"\b(?:{_ARTICLES}|of|about)\s+(?=((?:[\w’'.-]+\s*){{1,4}}))", re.IGNORECASE)
_HINT = compile_late(r" \([^()]*\)\Z")  # what was carried over
_MIN_WHOLE_WORDS = 2  # content words of a question that stands alone
_MAX_CARRIED = 4
MAX_ARTICLE_REACH = 200  # characters of a follow-up in which an article is looked for
_QUOTED = compile_late(r"\[\d{1,9}\]|[“”]")
_CHAT_ATTRIBUTION = compile_late(
    rf"^[ \t]*+[-*•]?[ \t]*+(?:[^:(“\n]{{1,40}}: )?+([^\W\d_][^:(“\n]{{1,60}}?) \({MESSAGE_TIME}(?: UTC)?\):",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with its answer; the answer is empty if there is none yet."""

    question: str
    answer: str = ""

    def complete(self, former: Exchange | None) -> Exchange:
        """The exchange with its question completed from the one before it."""
        return self if former is None else Exchange(complete_question(self.question, former), self.answer)


def list_exchanges(history: Sequence[ChatTurn]) -> list[Exchange]:
    """The questions that were answered, and the last one if it was not."""
    found = list[Exchange]()
    for at, turn in enumerate(history):
        follower = history[at + 1] if at + 1 < len(history) else None
        if turn.role == "user" and (follower is None or follower.role != "user"):
            found.append(Exchange(" ".join(turn.text.split()), follower.text if follower else ""))
    return found


def find_returned(question: str, exchanges: Sequence[Exchange]) -> tuple[str, Exchange] | None:
    """The rest of a question that goes back to a topic ("back to the roof: who pays?"), and the exchange about that."""
    found = _RETURN.match(question)
    topic = {stem(word) for word in content_words(found["topic"])} if found else set()
    if found is None or not topic:
        return None
    about = [exchange for exchange in exchanges if topic & {stem(word) for word in split_words(exchange.question)}]
    return (found["rest"] or question, about[-1]) if about else None


def complete_question(question: str, former: Exchange) -> str:
    """The question, with what it lacks of the exchange before it, in brackets at its end."""
    if has_unspaced(question):
        return complete_unspaced(question, former.question)
    former = Exchange(_drop_remarks(former.question), former.answer)
    asking = find_last_question(question)
    rest = _strip_continuation(asking)
    fragment, continues = blank_own(rest), any(map(str.isalnum, asking.removesuffix(rest)))
    if lacks_subject(fragment) or exchanges_number(fragment):
        acting = Topics.find(former).organizations if acts_together(fragment) else ()
        return _append(question, [*acting, *_list_kept(fragment, former.question)])
    if refers := find_reference(fragment):
        before = question.removesuffix(asking) + _ASKED_NOUN.sub("", _PREPOSITION.sub("", fragment[: refers.start()]))
        return question if find_entities(before, ExcerptFacts()) else _resolve_reference(question, former)
    if has_object_pronoun(fragment):
        return _resolve_reference(question, former)
    if noun := find_same_noun(fragment, former.question):
        missing = list_asked_of(noun, former.question)
    elif not stands_for_noun(fragment) and _is_whole(fragment, continues=continues):
        missing = []
    else:
        missing = _list_missing(fragment, former)
    return _append(question, missing)


def _drop_remarks(question: str) -> str:
    """A question without the sentences before it, if it stands alone: "Never mind. What does the pump cost?"."""
    found = _HINT.search(question)
    body = question[: found.start()] if found else question
    last = find_last_question(body)
    is_alone = found is not None or find_reference(blank_own(last)) is None
    return question[len(body) - len(last) :] if _telling(last) and is_alone else question


def _list_kept(fragment: str, question: str) -> list[str]:
    """What a fragment with its own verb, or with another number, keeps of the question before."""
    subject, asked = _split_question(question)
    if not exchanges_number(fragment):
        return subject or asked
    return [part for part in (*subject, *asked) if not any(map(str.isdigit, part))]


def _strip_continuation(question: str) -> str:
    found = _CONTINUATION.match(question)
    rest = question[found.end() :] if found else question
    return strip_unspaced_continuation(rest) or question


def _telling(text: str) -> list[str]:
    """The content words that say something about the topic, and names of attributes."""
    words = [word for word in content_words(text) if not _is_asking(word)]
    return [word for word in words if not is_generic(word) or stem(word) in _ATTRIBUTES]


def _is_whole(fragment: str, *, continues: bool) -> bool:
    """Whether a question names what it asks, and of what."""
    words = split_words(fragment)
    telling = _telling(_DEGREE.sub(" ", fragment) if continues else fragment)
    is_asking = bool(words) and words[0].casefold() in _ASKING
    names = find_entities(fragment, ExcerptFacts())
    has_name = any(not _is_german_noun(found.name, fragment) for found in names)
    if is_asking and (has_name or _names_own_subject(fragment)):
        return True
    if len(telling) < _MIN_WHOLE_WORDS:
        return False
    if is_asking:
        return True
    if _PREPOSITION.match(fragment):
        return False
    return bool(_OWNER.search(fragment)) or not continues or len(telling) > _MAX_CARRIED


def _names_own_subject(fragment: str) -> bool:
    """Whether a noun with another word before it follows an article, and is no attribute: "when is the open day?"."""
    found = _SUBJECT.search(fragment)
    words = list(takewhile(lambda word: not is_stop_word(word), split_words(found[1]))) if found else []
    return len(words) > 1 and _ATTRIBUTES.isdisjoint(map(stem, words))


def _is_german_noun(name: str, fragment: str) -> bool:
    """Whether a single word stands after a German article, so that its capital marks no name: "die Miete"."""
    words = split_words(fragment[:MAX_ARTICLE_REACH])
    at = words.index(name) if name in words else 0
    return at > 0 and words[at - 1] in _GERMAN_ARTICLES


def _list_missing(fragment: str, former: Exchange) -> list[str]:
    """The words of the question before that a fragment lacks (rules 2 to 5)."""
    subject, asked = _split_question(former.question)
    words = split_words(fragment)
    if found := _PREPOSITION.match(fragment):
        return without_phrase([*subject, *asked], former.question, found[1])
    if not _telling(fragment):
        return [*Topics.find(former).people[:1], *subject, *asked]
    if words and words[0].casefold() in _ASKING:
        return [*subject, *_without_asked(asked, fragment, former.question)]
    head = [word for word in words if not is_stop_word(word)]
    if any(stem(word) in _ATTRIBUTES for word in head):
        return subject or asked
    rest = _without_rest(asked, former.question, subject, len(_telling(fragment))) or _asked_generally(former, subject)
    return [*list_kind_asked(former.question), *rest]


def _asked_generally(former: Exchange, subject: Sequence[str]) -> list[str]:
    """The content words of a question that asks by common ones: "à quelle heure ouvre le refuge de Dijon ?"."""
    inside = {stem(word) for part in subject for word in split_words(part)}
    words = [word for word in content_words(former.question) if not _is_asking(word)]
    return [word for word in words if stem(word) not in inside] or list(subject)


def _without_rest(asked: Sequence[str], question: str, subject: Sequence[str], count: int) -> list[str]:
    """The words without those that follow the first of a subject, if what replaces it has so many words."""
    words = split_words(question)
    if len(subject) != 1 or subject[0] not in words:
        return list(asked)
    start = words.index(subject[0])
    rest = words[start + 1 : start + count]
    owned = words[start + 2 : start + 3] if _OF.issuperset(words[start + 1 : start + 2]) else []  # "curso de cerámica"
    return [word for word in asked if word not in owned and (word not in rest or word == asked[-1])]


def _split_question(question: str) -> tuple[list[str], list[str]]:
    """The words for the subject of a question, and the content words for what is asked of it."""
    named = [found.name for found in find_entities(question, ExcerptFacts()) if not _is_asking(found.name)]
    phrases = [words for match in _SUBJECT.finditer(question) if (words := _trim(match[1]))]
    subject = list(dict.fromkeys(named + (phrases[-1] if phrases else [])))
    inside = {stem(word) for part in subject for word in split_words(part)}
    asked = [word for word in _telling(question) if stem(word) not in inside]
    first = "".join(split_words(question)[:1]).casefold()
    if not subject and len(asked) > 1 and first in _WHO:  # "Who owns billing?"
        return asked[-1:], asked[:-1]
    if not asked and len(subject) > 1 and not named:
        return subject[:1], subject[1:]
    return subject, asked


def _is_asking(word: str) -> bool:
    return word.casefold() in _QUESTION_WORDS


def _trim(phrase: str) -> list[str]:
    """The words of a noun phrase up to the first function word; attributes are no subject."""
    kept = list(takewhile(lambda word: not is_stop_word(word), split_words(phrase)))
    if kept and stem(kept[0]) in _ATTRIBUTES:
        return []
    named = [word for word in kept if any(map(str.isdigit, word)) or word[:1].isupper()]
    return drop_owners(kept[: kept.index(named[-1]) + 1]) if named else kept[:1]


def _without_asked(asked: Sequence[str], fragment: str, question: str) -> list[str]:
    """The words without what a question asked for, if a fragment that begins with a question word asks otherwise."""
    words = split_words(fragment)
    asks = bool(words) and (_is_asking(words[0]) or not _ATTRIBUTES.isdisjoint(map(stem, words)))
    if not asks or not _telling(fragment):
        return list(asked)
    after = [word for word in split_words(question)[1:] if not is_stop_word(word)]
    replaced = {stem(word) for word in after[:1]} | _ATTRIBUTES
    return [word for word in asked if stem(word) not in replaced]


def _resolve_reference(question: str, former: Exchange) -> str:
    if found := _OTHER_ONE.search(question):
        return _append(question, _without_qualifier(found[1], former.question))
    topics = Topics.find(former)
    if has_person_pronoun(question) and (person := topics.choose_person(former.question)):
        return replace_pronoun(question, person)
    subject, asked = _split_question(former.question)
    fragment = blank_own(_strip_continuation(question))
    replaces = bool(_telling(fragment)) and bool(subject or topics.things)
    asked = [] if replaces else _without_asked(asked, fragment, former.question)
    people = () if means_thing(fragment) and (subject or topics.things) else topics.people[:1]
    asked_of = [name for name in topics.things if name in former.question]
    told = () if subject and not asks_name(former.question) else topics.things
    acting = topics.organizations if means_actors(fragment) else ()
    things = [name for name in (*acting, *(asked_of or told)) if people or name not in topics.people]
    return _append(question, [*people, *things[:_MAX_CARRIED], *subject, *asked])


def _without_qualifier(instead: str, question: str) -> list[str]:
    """The words of a question without what another word stands for: "and the large one?" after "the small stage"."""
    subject, asked = _split_question(question)
    words = split_words(question)
    replaced = {word for word in words if {word.casefold(), instead.casefold()} <= CONTRASTING_WORDS}
    if not replaced and len(subject) == 1 and subject[0] in words[:-1]:
        after = words[words.index(subject[0]) + 1]
        replaced = set() if is_stop_word(after) else {subject[0]}
    return [word for word in (*subject, *asked) if word not in replaced]


def _append(question: str, parts: Iterable[str]) -> str:
    own = {stem(word) for word in split_words(question)}
    hints: list[str] = []
    for part in parts:
        if part not in _OF and not own.issuperset(stems := {stem(word) for word in split_words(part)}):
            hints.append(part)
            own |= stems
    return f"{question} ({', '.join(hints[: 2 * _MAX_CARRIED])})" if hints else question


@dataclass(frozen=True, slots=True)
class Topics:
    """The names of an answer and its question, those most mentioned first; ties in order of appearance.

    `people` and `things` are those whom quotations and the question name, `organizations` those of the things that
    act, `speakers` those who are quoted.
    """

    people: tuple[str, ...]
    things: tuple[str, ...]
    organizations: tuple[str, ...]
    speakers: tuple[str, ...]

    @classmethod
    def find(cls, exchange: Exchange) -> Topics:
        """The names of an exchange."""
        speakers = [match[1] for match in _CHAT_ATTRIBUTION.finditer(exchange.answer)]
        facts = ExcerptFacts(index_people(speakers))
        quoted = _QUOTED.sub(" ", _CHAT_ATTRIBUTION.sub("", exchange.answer))
        first = quoted.strip().partition("\n")[0]  # later passages may be about something else
        found, near = _find_names((quoted, exchange.question), facts), _find_names((first, exchange.question), facts)
        people = (name.name for name in found if name.type == "person" or _can_be_person(name.name, name.type))
        things = (name.name for name in near if name.type != "person")
        acting = (name.name for name in near if name.type == "organization")
        return cls(*map(_by_frequency, (people, things, acting, speakers)))

    def choose_person(self, question: str) -> str:
        """The person whom a pronoun means: named, else a new name of the answer, else who is quoted."""
        known = question.casefold()
        told = [person for person in self.people if person.casefold() not in known]
        new = [thing for thing in self.things if thing[:1].isupper() and thing.isalpha() and thing not in question]
        return next(iter([*told, *self.people, *new, *self.speakers]), "")


def _find_names(texts: Iterable[str], facts: ExcerptFacts) -> list[NamedEntity]:
    """The names in some texts, in order; a question word is none."""
    found = [name for text in texts for part in split_sentences(text) for name in find_entities(part, facts)]
    return [name for name in found if not _is_asking(name.name)]


def _can_be_person(name: str, kind: str) -> bool:
    """Whether it is two or three capitalized words with no sign of another type."""
    parts = name.split()
    return kind == "concept" and len(parts) in {2, 3} and all(part[:1].isupper() and part.isalpha() for part in parts)


def _by_frequency(names: Iterable[str]) -> tuple[str, ...]:
    names = list(names)
    first = {normalize_name(name): name for name in reversed(names)}
    return tuple(first[key] for key, _ in Counter(map(normalize_name, names)).most_common())


_ATTRIBUTES = frozenset(stem(word) for word in ATTRIBUTE_WORDS)
