"""Decide whether a message that mentions the bot speaks of it to others, by weights that were learned from examples.

`passing.tsv` lists what was learned (`python -m scripts.speech.train`), as `weights.tsv` does. Pure, but for reading
that file once.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bot.text.speech import phrases
from bot.text.speech.chat_sentences import split_sentences
from bot.text.speech.kinds.features import MAX_LENGTH, MENTIONED, name_features, name_words_near
from bot.text.speech.kinds.weights import read_table, weigh
from bot.text.speech.mentions import MENTION
from bot.text.speech.unspaced_questions import is_unspaced

if TYPE_CHECKING:
    from collections.abc import Mapping

Manner = Literal["direct", "passing"]
MANNERS: tuple[Manner, ...] = ("direct", "passing")
MIN_PASSING = 0.8  # probability from which a message is for others: a question to the bot would be lost by it

FILE = Path(__file__).with_name("passing.tsv")
_MARK = "◎"  # stands for a mention in a text without blanks
_AROUND = re.compile(rf" ?{_MARK} ?")
_ASKS_NOTHING = re.compile(r"[^?？]*\Z")
# Before and after the first mention of a text that asks nothing: "what @bot posted is old", "@bot gave me a date".
_NAMED = re.compile(
    r"(?<!est-)(?<!ets-)\b(?:what|whatever|the (?:thing|stuff)|was|ce que|lo que|frag(?:t"
    r"|en wir)?(?: doch| mal| einfach)"
    r"|(?<!je )demandez? (?:donc )?à|preg[uú]nt(?:ad|al|el|e|en|enl)(?:e|es)? a) (?:o |el |le )?\Z",
    re.IGNORECASE,
)
_TRUSTED = re.compile(
    r"\b(?:trust|believe|rely on|fiar[ií]a(?:is)? de|me fío de|confiaria (?:no|em|na)|confio (?:no|em"
    r"|na)|confiance à|trauen?"
    r"|würde? ich|würd ich) \Z",
    re.IGNORECASE,
)
_DID = re.compile(
    r"\A(?: just| here)? ?(?:(?:gave|told|sent|answered) (?:me|us|them|people|a|the|wrong) "
    r"|(?:m|nous )['’]?a (?:dit|donné|envoyé|sorti|répondu) |(?:me|nos) (?:dio|dijo|mandó|passou|deu|disse|mandou) "
    r"|hat (?:mir|uns) |が間違|を(?:あまり)?信用|の(?:投稿|回答|返事|答え)(?:は|が))",
    re.IGNORECASE,
)


def mentions_in_passing(text: str) -> bool:
    """Whether a text that mentions the bot is for others, and speaks of it."""
    return not _begins_with_request(text) and (_speaks_of_bot(text) or estimate_passing(text) > MIN_PASSING)


def _speaks_of_bot(text: str) -> bool:
    """Whether words around the first mention, which does not begin the text, show that it is told of the bot."""
    found = MENTION.search(text[:MAX_LENGTH])
    if found is None or not text[: found.start()].strip() or not _ASKS_NOTHING.match(text):
        return False
    before, after = text[: found.start()], text[found.end() : found.end() + 40]
    named = _NAMED.search(before[-40:]) and after[:2].strip()
    return bool(named or _TRUSTED.search(before[-40:]) or _DID.match(after))


def _begins_with_request(text: str) -> bool:
    """Whether a request follows a mention that begins the text: "@bot summarise what @Ada wrote"."""
    found = MENTION.match(text)
    first = split_sentences(text[found.end() :])[:1] if found else []
    return any(sentence.words[: len(request)] == request for sentence in first for request in phrases.REQUESTS)


def estimate_passing(text: str) -> float:
    """The probability that a text speaks of the bot that it mentions."""
    return weigh(name_passing_features(text), read_passing(), len(MANNERS))[1]


@cache
def read_passing() -> Mapping[str, str]:
    """The weights of each feature as the file writes them, read once."""
    return read_table(FILE)


def name_passing_features(text: str) -> set[str]:
    """The features of a text, with one word for each mention, and those of the words near the first mention."""
    bare = " ".join(MENTION.sub("", text[:MAX_LENGTH]).split())
    if is_unspaced(bare):
        return name_features(_AROUND.sub(_MARK, MENTION.sub(_MARK, text)))
    marked = MENTION.sub(f" {MENTIONED} ", text)
    return name_features(marked) | name_words_near(marked, MENTIONED)
