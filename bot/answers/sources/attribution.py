"""Which of the recalled sources an answer used: those it cites, and those whose words it bears. Pure.

What an answer used decides whether the posted answer is replaced when a source is edited or removed. A model may also
paraphrase or translate what it was shown: text of its own that no citation follows may come from any of that. What is
stored of such an answer loses its words with anything that the model was shown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.store.models import source_keys
from bot.text.excerpts import strip_speaker
from engine import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine import Context, Source

    KeyedText = tuple[str, frozenset[str]]  # the text of an earlier turn, and the keys of what it rests on

UNEXPLAINED_WORDS = (
    3  # words of a model's answer that nothing explains, from which on it may tell anything that it was shown
)
MIN_WORD_LENGTH = 3  # letters of a word that tells texts apart; with a digit in it, one less

_CITATION = re.compile(r"\[\d+\]")
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")  # scripts that put no blanks between words


def find_used_keys(
    answer: str, question: str, cited: Sequence[Source], recalled: Iterable[Source], told: Iterable[KeyedText] = ()
) -> frozenset[str]:
    """The keys of the documents and messages that an answer used; `told` is what was said before the question.

    Words of the question tell nothing beside a source that is cited; where none is, they may come from any.
    """
    named = {(each.document, each.passage) for each in cited}
    own = content_words(answer)
    if cited:
        own -= content_words(question) | content_words(" ".join(f"{each.title} {each.text}" for each in cited))
    found: set[str] = set()
    for each in cited:
        found |= source_keys(each.document, each.room, each.passage)
    for each in recalled:
        if (each.document, each.passage) not in named and has_any_word(
            own, f"{each.author} {strip_speaker(each.text)}"
        ):
            found |= source_keys(each.document, each.room, each.passage)
    for text, keys in told:
        if has_any_word(own, text):
            found |= keys
    return frozenset(found)


def is_fully_cited(answer: str, question: str, cited: Sequence[Source]) -> bool:
    """Whether a model's answer says next to nothing but what stands before a citation, in a cited source, or was asked.

    A citation covers the part of its line that it follows.
    """
    if not cited:
        return False
    loose = " ".join(_CITATION.split(line)[-1] for line in answer.splitlines())
    known = content_words(question) | content_words(" ".join(f"{each.title} {each.text}" for each in cited))
    return len(content_words(loose) - known) < UNEXPLAINED_WORDS


def graph_fact_words(answer: str, question: str, cited: Sequence[Source], context: Context) -> set[str]:
    """The words of an answer that neither the question nor a cited source has, but a fact of the graph."""
    own = (
        content_words(answer)
        - content_words(question)
        - content_words(" ".join(f"{each.title} {each.text}" for each in cited))
    )
    facts = [f"{each.name} {each.description}" for each in context.entities]
    facts += [f"{each.source} {each.target} {each.keywords} {each.description}" for each in context.relations]
    return own & content_words(" ".join(facts)) if own and facts else set()


def content_words(text: str) -> set[str]:
    """The words that tell a text from others, case-folded; of unspaced scripts, pairs of letters."""
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _UNSPACED.search(word):
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif word not in STOP_WORDS and len(word) >= MIN_WORD_LENGTH - any(map(str.isdigit, word)):
            found.add(word)
    return found


def has_any_word(wanted: set[str], text: str) -> bool:
    """Whether a text has any of these words."""
    return bool(wanted) and not wanted.isdisjoint(content_words(text))
