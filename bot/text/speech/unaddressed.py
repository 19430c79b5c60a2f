"""Decide whether a message without a mention asks the bot, where nobody else has written. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.text.speech import phrases
from bot.text.speech.addressed import classify_addressed, is_request, name_evidence
from bot.text.speech.chat_sentences import split_sentences
from bot.text.speech.kinds.commands import is_command
from bot.text.speech.kinds.weights import estimate
from bot.text.speech.unspaced_questions import is_unspaced_thanks

if TYPE_CHECKING:
    from bot.text.speech.chat_sentences import Sentence

MIN_UNMARKED = 0.8  # probability, of question and statement, of a question without a question mark


def asks_bot(text: str) -> bool:
    """Whether a text is a question to the bot if nobody else can be meant; without a mark it must be a clear one."""
    if is_command(text) or classify_addressed(text, is_direct=True) != "question":
        return False
    sentences = split_sentences(text)
    if any(sentence.is_question for sentence in sentences):
        return True
    asks, states, *_ = estimate(text, name_evidence(text, sentences))
    return not any(map(_agrees, sentences)) and asks >= MIN_UNMARKED * (asks + states)


def _agrees(sentence: Sentence) -> bool:
    """Whether a sentence begins with consent, and asks for nothing: "ok, I pass it on"."""
    first, *others = sentence.clauses
    consents = first[0] in phrases.INTERJECTIONS or is_unspaced_thanks("".join(first))
    return consents and (bool(others) or len(first) > 1) and not is_request(sentence)
