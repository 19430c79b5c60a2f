"""Decide whether a sentence in a thread addresses somebody, by names and punctuation. Pure.

A sentence is for somebody else if one of these holds:
1. It mentions somebody, unless it asks about them: "What did @bob promise?".
2. It starts with the name of somebody in the thread before a mark or a question: "Bob – who pays?", "Bob who pays?".
3. It ends with such a name, unless the name is part of the question: "who pays, Bob?", but "who spoke with Bob?".
4. A clause is or ends with such a name: "Not sure, Bob, who decides?", "Good point Bob, but who pays?".
5. Such a name is asked: "ask Bob", "question for Bob: …", "maybe Bob knows".
6. It starts or ends with what looks like a name, set off by a mark: "Zoe, who pays?", "hey zoe who pays?".
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.text.speech import phrases
from bot.text.speech.chat_sentences import normalize_word

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bot.text.speech.chat_sentences import Sentence

_GREETINGS = phrases.parse_words("hey hi hello hallo hola salut yo dear liebe lieber und et y")
_TITLES = phrases.parse_words(
    "mr mrs ms miss dr prof professor doctor captain coach frau herr señor señora madame monsieur mevrouw meneer"
)
_GROUPS = phrases.parse_words("here channel everyone all team folks guys everybody")
_GROUPS_ELSEWHERE = phrases.parse_words("pessoal gente galera equipo equipe équipe leute zusammen alle todos tous")
_SEPARATORS = frozenset(",:-–—")
_MARKS = _SEPARATORS | frozenset("()[]/;|.")
_JOINING = phrases.parse_words("about than like as between against behind called named") | phrases.CONJUNCTIONS
_ASKING = phrases.parse_words("ask asks asking know knows frag frage weiß")
_QUESTION_STARTS = phrases.QUESTION_WORDS | phrases.AUXILIARIES
_NOT_NAMES = frozenset.union(
    phrases.INTERJECTIONS,
    phrases.FILLERS,
    phrases.PREPOSITIONS,
    phrases.PEOPLE,
    phrases.YOU,
    phrases.BOTS,
    phrases.CONJUNCTIONS,
    _QUESTION_STARTS,
    *phrases.OPENERS,
    phrases.parse_words("if when first second third finally next basically maybe perhaps today tomorrow i it there"),
)

# "田中さん、見積もりを送ってくれますか?"
_CALLED_UNSPACED = re.compile(r"(?!(?:皆|みな)さ)[^\s、，,。]{1,10}(?:さん|くん|君|ちゃん|様|先生)[、，,!！]")


def split_names(people: Collection[str]) -> frozenset[str]:
    """The words of the names of people."""
    return frozenset(normalize_word(part) for name in people for part in name.split())


def is_for_others(sentence: Sentence, names: frozenset[str], *, known_only: bool = False) -> bool:
    """Whether a sentence addresses somebody; `names`: the words of the participants' names.

    `known_only`: any other word at its start is a name only after a greeting.
    """
    if any(map(_is_mention, sentence.tokens)):
        return not _asks_about_mention(sentence.words)
    tokens, greeted = _without_greeting(sentence.tokens)
    words = [normalize_word(token) for token in tokens]
    if not words:
        return False
    group = len(words) > 1 and words[0] in _GROUPS and words[1] in {",", ":"}
    called = (
        _starts_with_name(words, names)
        or any(_is_called(words, at) for at, word in enumerate(words) if word in names)
        or ((greeted or not known_only) and _starts_with_unknown_name(tokens, words, greeted=greeted))
    )
    ends = sentence.is_question and len(tokens) > 3 and tokens[-2] == "," and tokens.count(",") == 1
    return group or called or (ends and words[0] in _QUESTION_STARTS and _can_be_name(tokens[-1]))


def is_for_person(sentence: Sentence) -> bool:
    """Whether a sentence addresses somebody by a name, or as "you"; a group is nobody in particular."""
    words = frozenset(sentence.words)
    yours = phrases.YOU if phrases.FRENCH.isdisjoint(words) else phrases.YOU - phrases.NOT_YOU
    is_called = bool(_CALLED_UNSPACED.match("".join(sentence.tokens)))
    tokens, _ = _without_greeting(sentence.tokens)
    if tokens and normalize_word(tokens[0]) in _GROUPS | _GROUPS_ELSEWHERE:
        sentence = replace(sentence, tokens=tuple(tokens[1:]))
    return is_called or not yours.isdisjoint(words) or is_for_others(sentence, frozenset())


def _is_mention(token: str) -> bool:
    return token.startswith(("<@", "@", "<!"))


def _asks_about_mention(words: Sequence[str]) -> bool:
    """Whether a question is about the mentioned person, and not addressed to them (rule 1)."""
    at = next(at for at, word in enumerate(words) if _is_mention(word))
    inside = 0 < at < len(words) - 1 and words[at - 1] in phrases.AUXILIARIES
    return inside and words[0] in _QUESTION_STARTS and phrases.YOU.isdisjoint(words)


def _without_greeting(raw: Sequence[str]) -> tuple[list[str], bool]:
    """The tokens without leading marks and interjections, and whether there was a greeting."""
    tokens, greeted = [token for token in raw if token not in {"¿", "¡", '"', "*", "_"}], False
    while tokens and (
        not tokens[0][0].isalnum()
        or (len(tokens) > 1 and normalize_word(tokens[0]) in phrases.INTERJECTIONS | _GREETINGS)
    ):
        greeted = greeted or normalize_word(tokens[0]) in _GREETINGS
        tokens = tokens[1:]
    return tokens, greeted


def _starts_with_name(words: Sequence[str], names: frozenset[str]) -> bool:
    """Whether the words start with names before a mark or a question: "Bob and Ada, who pays?" (rule 2)."""
    joined = names | phrases.CONJUNCTIONS | _TITLES | {"/"}
    end = next((at for at, word in enumerate(words) if word not in joined), len(words))
    if not end or words[0] in phrases.CONJUNCTIONS:
        return False
    return end == len(words) or words[end] in _MARKS | _QUESTION_STARTS | phrases.YOU | {"please", "pls", "bitte"}


def _is_called(words: Sequence[str], at: int) -> bool:
    """Whether the name at a position is addressed or asked (rules 3 to 5)."""
    before, after = words[at - 1] if at else ".", words[at + 1] if at + 1 < len(words) else ""
    if not _ASKING.isdisjoint((before, after)):
        return True
    inside = before in phrases.PREPOSITIONS | _JOINING | _QUESTION_STARTS
    if not after:
        return not inside
    if after not in _MARKS - {"/"}:
        return False
    return before in _MARKS or (words[0] not in phrases.QUESTION_WORDS and not (inside and after == ","))


def _starts_with_unknown_name(tokens: Sequence[str], words: Sequence[str], *, greeted: bool) -> bool:
    """Whether the words start with a title, or with a possible name before a mark and a question (rule 6)."""
    if len(words) < 3:
        return False
    if words[0] in _TITLES:
        return words[2] in _MARKS | _QUESTION_STARTS
    if not _can_be_name(tokens[0]):
        return False
    asks_on = words[2] in _QUESTION_STARTS | phrases.CONJUNCTIONS
    capitalized = tokens[0][0].isupper() and words[1] == "," and not {"too", "also", "please"}.issuperset(words[2:])
    return (greeted and words[1] in _QUESTION_STARTS) or (words[1] in _SEPARATORS and asks_on) or capitalized


def _can_be_name(token: str) -> bool:
    """Whether a word may be a name. Common words, adverbs and participles are not names."""
    word = normalize_word(token)
    return token.isalpha() and word not in _NOT_NAMES and not word.endswith(("ly", "ing", "ed", "mente"))
