"""Tell a clause that states something from a noun phrase, by the place and the form of its finite verb. Pure.

People state things with any verb, and search with noun phrases ("price of oak"). No list has all verbs; but a noun
phrase goes on with a preposition, and an adjective agrees with its noun. A word after a noun is a finite verb if

1. it has a form that nothing else has ("took", "gostó", "aumentou"),
2. a determiner or an unstressed pronoun follows without a preposition ("brings the", "stellt den"),
3. a particle or pronoun that stands before verbs precedes it ("ya funciona", "se rompió", "n'ouvre"),
4. it does not agree as an adjective would ("les commandes arrivent", "el techo gotea"),
5. it ends as verbs of the language do, and an adverb, a time or the end follows ("the batch arrived yesterday").
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.text.speech import phrases
from bot.text.speech.grammars import ENGLISH, FRENCH, GERMAN, GRAMMARS, PORTUGUESE, SPANISH, SUBJECTS, Grammar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.text.speech.chat_sentences import Sentence

Words = tuple[str, ...]

_PARTICLES = phrases.parse_words("up out off over down away back")
_SEPARABLE = phrases.parse_words("an ab auf aus ein mit um vor nach zu zurück weg los statt fest her hin bei weiter")
_WE = re.compile(r"\w{2,}(?:[aeiáê]mos)$")
_CLITIC = re.compile(r"(?:n|s|m|t|j)['’]\w", re.IGNORECASE)
_ELIDED_ARTICLE = re.compile(r"l['’]\w", re.IGNORECASE)
_PARTICIPLE = re.compile(r"(?:\wée?s?|\w{3}i|\w\wis|\w\wit|\w\wu|ert|aint)$")
_GERMAN_VERB = re.compile(r"(?:[tne]|st)$")
_PAST = re.compile(r"(?<!e)ed$")
_TIMES = phrases.parse_words("depuis jusquà jusquau demain hier maintenant aujourdhui déjà")
_NUMERALS = phrases.parse_words(
    """
    deux trois quatre cinq six sept huit neuf dix onze douze vingt cent mille midi minuit
    """
)
_SUBORDINATORS = phrases.parse_words(
    "der die das den dem denen deren dessen welche welcher welches welchen welchem dass weil wenn ob als nachdem bevor"
)
_RELATIVES = phrases.parse_words("que qui dont où")
# English forms that need an object: at the end of a clause, what they did it to stands before them.
_TRANSITIVE = phrases.parse_words(
    "took gave wrote stole threw wore ate drank forgot hid chose forbade had made got saw"
)
_NEEDS_OBJECT = phrases.parse_words("said told decided agreed changed paid owns uses needs")
_FRENCH_ADJECTIVE = re.compile(r"(?:ées?|és?|[iu]s|(?:is|t|u|i)es)$")
_FRENCH_PARTICIPLE = re.compile(r"(?:s|ée?|ue?|ie?|ite?|erte?)$")
_MIN_WORDS = 3


def states(sentence: Sentence, *, ends_with_period: bool = False) -> bool:
    """Whether a sentence that asks nothing has a finite verb after a subject; `ends_with_period`: or so its text."""
    raw = tuple(token for token in sentence.tokens if token[0].isalnum() or token[0] in "<@")
    words = sentence.words
    if len(words) < _MIN_WORDS or len(raw) != len(words):
        return False
    grammars = _find_grammars(words)
    at, ambiguous = 0, frozenset[str]().union(*(grammar.links for grammar in grammars))
    for clause in sentence.clauses:
        view = _Clause(clause, raw[at : at + len(clause)], ambiguous, has_period=ends_with_period)
        depends = GERMAN in grammars and _is_subordinate(clause, at, raw)
        if not depends and any(view.has_verb(grammar) for grammar in grammars):
            return True
        at += len(clause)
    return False


def tells_of_noun(sentence: Sentence, at: int) -> bool:
    """Whether a verb of an English sentence belongs to the noun before its subject: "the thing Ada said about it"."""
    words, raw = sentence.words, sentence.tokens
    follows = words[at + 1 : at + 2]
    has_object = not (ENGLISH.openers | ENGLISH.pronouns | {"that"}).isdisjoint(follows)
    if len(raw) != len(words) or words[at] not in _NEEDS_OBJECT or has_object:
        return False
    return _Clause(words, raw, frozenset(), has_period=False).is_relative(at)


def _find_grammars(words: Sequence[str]) -> list[Grammar]:
    """The languages that most function words belong to."""
    counts = {key: sum(word in each.closed for word in words) for key, each in GRAMMARS.items()}
    most = max(counts.values())
    return [GRAMMARS[key] for key, count in counts.items() if count == most > 0]


def _is_subordinate(clause: Words, at: int, raw: Words) -> bool:
    """Whether a German clause at a position depends on a noun before it: ", die Anna gestern hochgeladen hat"."""
    leads = clause[0] in _SUBORDINATORS or (clause[0] in GERMAN.links and clause[1:2] and clause[1] in _SUBORDINATORS)
    return at > 0 and bool(leads) and any(word[0].isupper() for word in raw[:at])


class _Clause:
    """The words of a clause, in small letters and as written; `ambiguous`: prepositions of its possible languages."""

    def __init__(self, words: Words, raw: Words, ambiguous: frozenset[str], *, has_period: bool) -> None:
        self.words, self.raw, self.ambiguous, self.has_period = words, raw, ambiguous, has_period

    def has_verb(self, grammar: Grammar) -> bool:
        """Whether any word after the first noun is a finite verb."""
        if self._begins_with_we(grammar):
            return True
        return any(self._is_verb(at, grammar) for at in range(1, len(self.words)))

    def _begins_with_we(self, grammar: Grammar) -> bool:
        """Whether it begins with a verb in the first person plural, or with a denial, which needs no subject."""
        if grammar not in (SPANISH, PORTUGUESE):
            return False
        light = grammar.adverbs | grammar.leading
        at = next((at for at, word in enumerate(self.words) if word not in light), len(self.words))
        if at + 1 < len(self.words) and _WE.fullmatch(self.words[at]):
            return True
        denies = self.words[0] in {"no", "não"} and len(self.words) >= _MIN_WORDS
        return denies and self._is_content(1, grammar)

    def _is_verb(self, at: int, grammar: Grammar) -> bool:
        if not self._may_be_verb(at, grammar) or self._follows_relative(at, grammar):
            return False
        word, before = self.words[at], self.words[at - 1]
        has_form = word in grammar.finite or bool(grammar.endings.search(word))
        has_form = has_form and not (grammar is ENGLISH and self.is_relative(at))
        if has_form and (at > 1 or not self._is_content(0, grammar) or at + 1 < len(self.words)):
            return True
        if self._follows_pronoun(at):
            return True
        if not self._has_noun_before(at, grammar):
            return False
        if grammar is ENGLISH and self.is_relative(at):
            return self._has_name_before(at) and not ENGLISH.openers.isdisjoint(self.words[at + 1 : at + 2])
        is_led = before in grammar.leading - self.ambiguous - SUBJECTS and at > 1
        return is_led or self._opens_object(at, grammar) or self._disagrees(at, grammar) or self._ends_as(at, grammar)

    def _follows_pronoun(self, at: int) -> bool:
        """Whether a subject pronoun stands before, and no noun before it: "from today we keep", "keys we lost"."""
        if self.words[at - 1] not in SUBJECTS:
            return False
        return at == 1 or any(self.words[at - 2] in grammar.adverbs for grammar in GRAMMARS.values())

    def _may_be_verb(self, at: int, grammar: Grammar) -> bool:
        """Whether a word can be a verb: none that names the language's structure, and not after a preposition."""
        if not (self._is_content(at, grammar) or self.words[at] in grammar.finite):
            return False
        before = self.words[at - 1]
        return before not in grammar.links | grammar.openers | grammar.articles and not grammar.non_finite.search(
            self.words[at]
        )

    def _is_content(self, at: int, grammar: Grammar) -> bool:
        word = self.words[at]
        return word[0].isalpha() and word not in grammar.closed and word not in phrases.QUESTION_WORDS

    def _has_noun_before(self, at: int, grammar: Grammar) -> bool:
        """Whether a subject may stand before: a noun or a pronoun; where the verb comes second, an adverb, too."""
        first = self.words[0]
        if first in phrases.SUBJECT_PRONOUNS and first not in grammar.links:
            return True
        if grammar is not ENGLISH and first in grammar.adverbs and at == 1:
            return True
        return any(self._is_content(number, grammar) for number in range(at))

    def _opens_object(self, at: int, grammar: Grammar) -> bool:
        """Whether a new noun phrase or an unstressed pronoun follows without a preposition."""
        after = at + 1
        if grammar is ENGLISH and self.words[after : after + 1] and self.words[after] in _PARTICLES:
            after += 1
        between = grammar.adverbs - grammar.openers if grammar is not ENGLISH else frozenset[str]()
        while self.words[after : after + 1] and self.words[after] in between:
            after += 1
        if after >= len(self.words) or (grammar is ENGLISH and self.words[at] in _PARTICLES):
            return False
        if grammar is FRENCH and _FRENCH_ADJECTIVE.search(self.words[at]):
            return False
        if grammar is GERMAN and not (_GERMAN_VERB.search(self.words[at]) or self._is_small(at)):
            return False
        elided = grammar is FRENCH and bool(_ELIDED_ARTICLE.match(self.raw[after]))
        return elided or self.words[after] in grammar.openers | grammar.pronouns

    def _disagrees(self, at: int, grammar: Grammar) -> bool:
        """Whether a word after a noun of a Romance language has neither the number nor the gender of an adjective."""
        if grammar not in (FRENCH, SPANISH, PORTUGUESE) or not self._is_content(at - 1, grammar):
            return False
        word, noun, article = self.words[at], self.words[at - 1], self.words[at - 2] if at > 1 else ""
        if article in grammar.plurals and noun.endswith(("s", "x")):
            return word.endswith("ent" if grammar is FRENCH else ("n", "m"))
        if article in {"el", "o"}:
            return word.endswith("a") and not word.endswith("ista")
        return article == "la" and grammar is FRENCH and word.endswith("t")

    def _ends_as(self, at: int, grammar: Grammar) -> bool:
        """Whether a word has an ending of verbs and what follows is neither a noun nor a preposition."""
        if grammar is ENGLISH:
            return self._is_past(at)
        if grammar is GERMAN:
            return self._is_german(at)
        return grammar is FRENCH and self._is_french(at)

    def _is_past(self, at: int) -> bool:
        """Whether a past form or a third person closes a definite subject, or a sentence with a period."""
        is_past = bool(_PAST.search(self.words[at]))
        third = self.words[at].endswith("s") and not self.words[at - 1].endswith("s")
        if not (is_past or third) or not self._is_content(at - 1, ENGLISH):
            return False
        definite = not ENGLISH.articles.isdisjoint(self.words[:at]) and not self._is_nested(at)
        after = self.raw[at + 1 : at + 2]
        closes = after[0] in ENGLISH.adverbs or not after[0].islower() if after else is_past
        return ((definite and third) or self.has_period) and closes

    def is_relative(self, at: int) -> bool:
        """Whether a verb tells of a noun before its subject: "the plan the board broke", "the number Ada gave us"."""
        if self._is_nested(at) or (self.words[at] in _TRANSITIVE and at + 1 == len(self.words)):
            return True
        if at > 1 and self.words[at - 1] in SUBJECTS and self.words[0] not in ENGLISH.links:
            return self._is_content(at - 2, ENGLISH)  # "the letters they wrote to Ada"
        return self._has_name_before(at)

    def _follows_relative(self, at: int, grammar: Grammar) -> bool:
        """Whether a relative pronoun behind a noun stands before: "o muro que a Rita pintou", not "Ana disse que"."""
        if grammar is GERMAN and at + 1 == len(self.words):  # "der Plan den Anna hochgeladen hat", without a comma
            return any(
                self.words[number] in _SUBORDINATORS and self.raw[number - 1][0].isupper() for number in range(1, at)
            )
        return grammar in (FRENCH, SPANISH, PORTUGUESE) and any(
            self.words[number] in _RELATIVES
            and self._is_content(number - 1, grammar)
            and (number == 1 or not self._is_content(number - 2, grammar))
            for number in range(1, at)
        )

    def _has_name_before(self, at: int) -> bool:
        """Whether a name stands behind another noun of the first noun phrase: "the number Ada"."""
        begins = self.words[0] in ENGLISH.articles and at > 2
        return begins and self.raw[at - 1][0].isupper() and self._is_content(at - 2, ENGLISH)

    def _is_nested(self, at: int) -> bool:
        """Whether a second noun phrase stands before a word: "the plan the board rejected"."""
        if self.words[0] in ENGLISH.links:
            return False  # "on Monday the crane broke"
        return any(
            self.words[number] in ENGLISH.openers and self._is_content(number - 1, ENGLISH) for number in range(1, at)
        )

    def _is_german(self, at: int) -> bool:
        word, after = self.words[at], self.words[at + 1 : at + 2]
        ends = word.endswith(("t", "te", "ten")) and len(word) > 3
        closes = not after or after[0] in GERMAN.closed
        small = self._is_small(at)
        second = self.words[0] in GERMAN.articles and self._is_content(at - 1, GERMAN) and bool(after)
        inverted = at + 2 < len(self.words) and self.words[0] in GERMAN.links | GERMAN.adverbs
        if inverted and ends and self._is_content(at + 1, GERMAN) and self.words[at + 2] in GERMAN.openers:
            return True  # "ab sofort betreut Henrik den Laden"
        separated = self.words[-1] in _SEPARABLE and at + 1 < len(self.words) and ends
        return (ends and closes and (small or second)) or separated

    def _is_small(self, at: int) -> bool:
        """Whether a word is written small after a word with a capital letter: in German no noun after a noun."""
        return not self.raw[at][0].isupper() and self.raw[at - 1][0].isupper()

    def _is_french(self, at: int) -> bool:
        """Whether "a" and a participle stand here, an elided particle, or a verb before a time."""
        if _CLITIC.match(self.raw[at]):
            return True
        after = self.words[at + 1 : at + 2]
        if not after:
            return False
        if self.words[at] == "a":
            return bool(_PARTICIPLE.search(after[0])) and not self.raw[at + 1][0].isupper()
        definite = self.words[0] in FRENCH.articles or bool(_ELIDED_ARTICLE.match(self.raw[0]))
        is_time = after[0] in _TIMES or (after[0] == "à" and _is_number(self.words[at + 2 : at + 3]))
        participle = after[0] != "demain" and _FRENCH_PARTICIPLE.search(self.words[at])
        return definite and is_time and not participle and self._is_content(at - 1, FRENCH)


def _is_number(words: Words) -> bool:
    return bool(words) and (words[0][0].isdigit() or words[0] in _NUMERALS)
