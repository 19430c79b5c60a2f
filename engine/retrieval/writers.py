"""Restrict a question to messages of the people it names, by their author names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import InvalidQuestion
from engine.knowledge.people import is_listed
from engine.text.author_request import match_authors, split_names

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.models import Question, Scope
    from engine.storage.ledger import LedgerStore

NO_AUTHORS = "Messages are not searched or summarized by who wrote them here."
NO_AUTHORS_HINT = "Ask about the subject instead."
NO_AUTHOR = "\n"  # of no message, if the people that a question names are none of those it is restricted to
MAX_LISTED = 5  # candidates listed in the message about an ambiguous name


def hides_authors(scope: Scope, hidden: Collection[str]) -> bool:
    """Whether a scope has spaces or rooms in which nothing is searched by who wrote it; `hidden`: their prefixes."""
    return any(is_listed(space, hidden) for space in (*scope.spaces, *scope.rooms))


async def restrict_to_writers(ledger: LedgerStore, question: Question, hidden: Collection[str] = ()) -> Question:
    """Restrict the question to messages of its `writers`. Raises InvalidQuestion for an unknown or ambiguous name.

    Only authors of messages within the scope are considered; where authors are hidden, nobody's messages can be asked
    for.
    """
    if not (question.writers or question.filters.authors):
        return question
    if hides_authors(question.scope, hidden):
        raise InvalidQuestion(NO_AUTHORS, hint=NO_AUTHORS_HINT)
    if not question.writers:
        return question
    authors = await list_authors(ledger, question.scope)
    found = frozenset(author for name in question.writers for author in _resolve_name(name, authors))
    within = question.filters.authors
    both = found & within or frozenset({NO_AUTHOR}) if within else found
    return replace(question, filters=replace(question.filters, authors=both))


async def list_authors(ledger: LedgerStore, scope: Scope) -> Sequence[str]:
    """Who wrote something within a scope."""
    return await ledger.snapshot(lambda view: view.search.list_authors(view.search.resolve_scope(scope)))


def _resolve_name(name: str, authors: Sequence[str]) -> list[str]:
    """The authors that a name refers to: one person, or several listed one by one ("Ada and Bob")."""
    if found := match_authors(name, authors):
        return [_single_author(name, found)]
    return [_single_author(part, match_authors(part, authors)) for part in split_names(name) or [name]]


def _single_author(name: str, found: Sequence[str]) -> str:
    shown = name.strip().removeprefix("@")
    if not found:
        raise InvalidQuestion(
            f"I can't find any messages by “{shown}” here.", hint="Use the name shown above their messages."
        )
    if len(found) > 1:
        listed = ", ".join(f"“{text}”" for text in found[:MAX_LISTED]) + (", …" if len(found) > MAX_LISTED else "")
        raise InvalidQuestion(f"“{shown}” matches several people: {listed}.", hint="Ask again with the full name.")
    return found[0]
