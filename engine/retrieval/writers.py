"""Restrict a question to messages of the people it names, by their author names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import InvalidQuestion
from engine.text.author_request import matching, names_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models import Question
    from engine.storage.ledger.api import LedgerStore

LISTED = 5  # candidates listed in the message about an ambiguous name


async def narrowed_to_writers(ledger: LedgerStore, question: Question) -> Question:
    """Restrict the question to messages of its `writers`. Raises InvalidQuestion for an unknown or ambiguous name.

    Only authors of messages within the scope are considered.
    """
    if not question.writers:
        return question
    found = [author for name in question.writers for author in await _authors(ledger, name, question)]
    return replace(question, filters=replace(question.filters, authors=question.filters.authors | set(found)))


async def _authors(ledger: LedgerStore, name: str, question: Question) -> list[str]:
    """The authors that a name refers to: one person, or several listed one by one ("Ada and Bob")."""
    if found := await _called(ledger, name, question):
        return [_only(name, found)]
    parts = [(part, await _called(ledger, part, question)) for part in names_in(name)]
    return [_only(part, found) for part, found in parts or [(name, found)]]


async def _called(ledger: LedgerStore, name: str, question: Question) -> list[str]:
    async with ledger.snapshot() as view:
        alike = matching(name, await view.search.list_authors())
        there = await view.search.filter_authors(alike, await view.search.resolve_scope(question.scope))
    return matching(name, there)


def _only(name: str, found: Sequence[str]) -> str:
    shown = name.strip().removeprefix("@")
    if not found:
        raise InvalidQuestion(
            f"I can't find any messages by “{shown}” here.", hint="Use the name shown above their messages."
        )
    if len(found) > 1:
        listed = ", ".join(f"“{each}”" for each in found[:LISTED]) + (", …" if len(found) > LISTED else "")
        raise InvalidQuestion(f"“{shown}” matches several people: {listed}.", hint="Ask again with the full name.")
    return found[0]
