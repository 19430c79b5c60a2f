"""Tell the name of a street or firm that contains a word of praise from praise: "Vale Street", "Bravo GmbH". Pure.

All words of such a message begin with a capital. Since praise may be typed so as well, and all German nouns are, only a
word that nobody praises or thanks tells a name: a kind of street, or a legal form.
"""

from __future__ import annotations

from bot.text.speech import phrases
from bot.text.speech.chat_sentences import split_sentences

MAX_WORDS = 5
_LINKING = phrases.parse_words("of the and & de del da do y e et und am im zum zur")
_LAST = phrases.parse_words("street avenue boulevard straße strasse gasse allee gmbh ltd inc llc corp sarl lda ltda")
_FIRST = phrases.parse_words("calle avenida plaza rue boulevard rua avenue")
# By these somebody is called, answered or thanked.
_CALLS = phrases.GREETINGS | phrases.YES_NO | phrases.THANKS | phrases.WISHES | phrases.TIMES_OF_DAY


def is_name(text: str) -> bool:
    """Whether a text without mentions is no more than a street or firm in whose name a word of praise stands."""
    sentences = split_sentences(text)
    if len(sentences) != 1 or sentences[0].is_question or len(sentences[0].clauses) != 1 or text.isupper():
        return False
    words, tokens = sentences[0].words, [token for token in sentences[0].tokens if token[0].isalnum()]
    is_written = len(tokens) == len(words) and all(map(_may_belong, tokens, words)) and tokens[0][0].isupper()
    if not is_written or not 1 < len(words) <= MAX_WORDS or phrases.INTERJECTIONS.isdisjoint(words):
        return False
    return _CALLS.isdisjoint(words) and (words[-1] in _LAST or words[0] in _FIRST)


def _may_belong(token: str, word: str) -> bool:
    return not token[0].islower() or word in _LINKING
