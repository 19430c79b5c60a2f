"""Decide whether a message without a mention asks the bot where nobody else has written, or comments on it. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.text.speech import phrases
from bot.text.speech.addressed import classify_addressed, is_request, name_evidence
from bot.text.speech.addressee import is_for_others, split_names
from bot.text.speech.chat_sentences import split_sentences
from bot.text.speech.kinds.commands import is_command
from bot.text.speech.kinds.weights import asks_behind_call, estimate
from bot.text.speech.question_rules import classify_message
from bot.text.speech.unspaced_questions import is_unspaced_thanks

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.text.speech.chat_sentences import Sentence

# Says what its author does or did, and may go on with two words: "mach ich", "told her", "vou ver com ela".
_NOTES = re.compile(
    r"(?:(?:ill|i will|will) (?:do|check|look|ask|try|see|tell|pass)|(?:i )?(?:told|asked|informed) (?!about)\w+"
    r"|(?:that )?(?:sounds|looks|seems|makes) \w+|let me (?:see|check)|(?:hang|hold) on"
    r"|(?:das )?(?:mach|sag|schau|frag|prüf|guck|schick|versuch|klär|probier)e? ich"
    r"|ich (?:mach|sag|schau|frag|prüf|guck|schick|versuch|klär|probier)e?|(?:das )?klingt \w+"
    r"|je (?:regarde|vérifie|demande|reviens|note|passe|fais|transmets|lui|men)|jy vais|ça (?:marche|semble)"
    r"|me encargo|(?:tiene|faz) sentido|ahora (?:vuelvo|voy)|(?:ya )?lo (?:miro|reviso|hago|paso|pregunto)|voy"
    r"|já (?:volto|vou)|vou (?:ver|verificar|olhar|perguntar|avisar)|deixa comigo)(?: \w+){0,2}"
    r"|(?:あとで|後で)?(?:見|確認し|聞い|やっ)て?(?:みます|おきます|ます)"
)
# Asks for patience, says that its author is away, or regrets: all of a sentence, whatever its form.
_REMARKS = re.compile(
    r"(?:(?:just )?wait|brb|lunch|done|on it|too bad|(?:one|a|just a) (?:moment|sec|second|minute)"
    r"|(?:ein(?:en)? )?(?:moment|augenblick)(?: mal)?|un (?:momento|segundo|moment|instant)|um (?:momento|segundo))"
    r"(?: (?:please|bitte|sil (?:te|vous) plaît|svp|por favor))?"
    r"|please wait|(?:(?:quel|what a|qué|que) )?(?:schade|dommage|shame|pity|pena|lástima)"
    r"|残念(?:です)?(?:ね)?"
)
_WE = phrases.parse_words("we wir nous nosotros nosotras nós")
MIN_UNMARKED = 0.8  # probability, of question and statement, of a question without a question mark


def asks_bot(text: str) -> bool:
    """Whether a text is a question to the bot if nobody else can be meant; without a mark it must be a clear one."""
    if is_command(text) or classify_addressed(text, is_direct=True) != "question":
        return False
    sentences = split_sentences(text)
    if any(sentence.is_question for sentence in sentences) or asks_behind_call(text, name_evidence):
        return True
    asks, states, *_ = estimate(text, name_evidence(text, sentences))
    return not all(map(_asks_nothing, sentences)) and asks >= MIN_UNMARKED * (asks + states)


def is_remark(text: str, people: Collection[str] = ()) -> bool:
    """Whether a message asks nothing, calls none of the people, and is more than thanks or chatter.

    Unlike in a question, a word before a comma is no name unless it is one of theirs ("Friday, not Monday"), and what
    is said of "us" is for everybody.
    """
    sentences, names = split_sentences(text), split_names(people)
    if any(sentence.is_question for sentence in sentences) or classify_addressed(text) == "thanks":
        return False
    verdict = classify_message(text, people, interrupted=True)
    if verdict != "others" or any(is_for_others(sentence, names, known_only=True) for sentence in sentences):
        return verdict == "unclear"
    return any(is_for_others(sentence, names) or not _WE.isdisjoint(sentence.words) for sentence in sentences)


def _asks_nothing(sentence: Sentence) -> bool:
    """Whether a sentence is consent or a short remark."""
    return phrases.INTERJECTIONS.issuperset(sentence.words) or _agrees(sentence) or _takes_note(sentence)


def _agrees(sentence: Sentence) -> bool:
    """Whether a sentence begins with consent, and asks for nothing: "ok, I pass it on"."""
    first, *others = sentence.clauses
    consents = first[0] in phrases.INTERJECTIONS or is_unspaced_thanks("".join(first))
    return consents and (bool(others) or len(first) > 1) and not is_request(sentence)


def _takes_note(sentence: Sentence) -> bool:
    """Whether a sentence is a short remark of one who is busy with the matter, and asks for nothing."""
    text = " ".join(sentence.words)
    if _REMARKS.fullmatch(text):
        return True
    tells = phrases.QUESTION_WORDS.isdisjoint(sentence.words)
    return tells and bool(_NOTES.fullmatch(text)) and not is_request(sentence)
