"""Extract the keywords of a question, and complete follow-up questions from the conversation, by rules. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.llm.offline.entities import ExcerptFacts, find_entities
from engine.llm.offline.questions.follow_ups import Exchange, complete_question, find_returned, list_exchanges
from engine.llm.offline.words import content_words, is_generic, split_words, stem
from engine.models import SearchQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models import ChatTurn

_RARE_WORD_LENGTH = 8


def rewrite_query(text: str, history: Sequence[ChatTurn]) -> SearchQuery:
    """The question, completed from the conversation if it is a follow-up.

    Earlier follow-ups are completed first, so that a chain of them keeps its subject.
    """
    question = " ".join(text.split())
    former, completed = None, list[Exchange]()
    for exchange in list_exchanges(history):
        former = exchange.complete(former)
        completed.append(former)
    if returned := find_returned(question, completed):
        question, former = returned
    if former is not None:
        question = complete_question(question, former)
    return SearchQuery(question, *extract_keywords(question))


def extract_keywords(question: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """High: words for themes. Low: names, ids, and words so long that they are rare. Both are empty or neither."""
    named = [name.name for name in find_entities(question, ExcerptFacts())]
    inside = {stem(word) for name in named for word in split_words(name)}
    rest = [word for word in content_words(question) if stem(word) not in inside]
    telling = [word for word in rest if not is_generic(word)] or rest
    rare = [word for word in telling if len(word) >= _RARE_WORD_LENGTH or any(map(str.isdigit, word))]
    low = tuple(dict.fromkeys([*named, *rare]))
    high = tuple(word for word in telling if word not in rare)
    return high or low, low or high
