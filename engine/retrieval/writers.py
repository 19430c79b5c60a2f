"""Narrows a question to what the people whom it names have written, by the names that their messages bear."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import InvalidQuestion
from engine.text.author_request import matching, names_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models import Question
    from engine.storage.ledger import Ledger

LISTED = 5  # names of those who may be meant


async def narrowed_to_writers(ledger: Ledger, question: Question) -> Question:
    """Narrow the question to what its writers wrote. Raises InvalidQuestion for a name of nobody, or of several.

    Only people who wrote something within the scope count.
    """
    if not question.writers:
        return question
    found = [author for name in question.writers for author in await _authors(ledger, name, question)]
    return replace(question, filters=replace(question.filters, authors=question.filters.authors | set(found)))


async def _authors(ledger: Ledger, name: str, question: Question) -> list[str]:
    """The authors whom a name means: one person, or several that are named one by one."""
    if found := await _called(ledger, name, question):
        return [_only(name, found)]
    parts = [(part, await _called(ledger, part, question)) for part in names_in(name)]
    return [_only(part, found) for part, found in parts or [(name, found)]]


async def _called(ledger: Ledger, name: str, question: Question) -> list[str]:
    async with ledger.snapshot() as view:
        alike = matching(name, await view.search.list_authors())
        there = await view.search.filter_authors(alike, await view.search.resolve_scope(question.scope))
    return matching(name, there)


def _only(name: str, found: Sequence[str]) -> str:
    shown = name.strip().removeprefix("@")
    if not found:
        raise InvalidQuestion(
            f"I know of no message by “{shown}” here.", hint="Use the name that stands above the messages."
        )
    if len(found) > 1:
        listed = ", ".join(f"“{each}”" for each in found[:LISTED]) + (", …" if len(found) > LISTED else "")
        raise InvalidQuestion(f"“{shown}” may be any of these people: {listed}.", hint="Ask again with the whole name.")
    return found[0]
