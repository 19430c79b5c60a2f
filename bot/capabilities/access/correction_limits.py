"""Limit corrections to the spaces in which the subject of an access token may make them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bot.capabilities.requests import AddFact, Merge, Separate, UndoCorrection
from bot.errors import NotPermitted
from bot.permissions.managers import room_of
from engine import Scope
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from bot.capabilities.requests import OperationRequest
    from bot.store import Subject
    from engine import Engine

REFUSED = "You can't correct what is known there."
MANAGERS_ONLY = "Managers of a workspace can."


def limit_to_own_space(inner: OperationRequest, space: str) -> OperationRequest:
    """The correction in a space of the terminal, with names that occur there."""
    is_joining = isinstance(inner, Merge | Separate | UndoCorrection)
    fields: dict[str, Any] = {"allow_unknown": False} if is_joining else {}
    fields["space"] = space
    return replace(inner, **fields)


async def limit_correction(
    engine: Engine, inner: OperationRequest, subject: Subject, spaces: frozenset[str]
) -> OperationRequest:
    """The correction in the space of a token, or in one of the `spaces` that a person may correct.

    Tokens merge and separate only names that both occur there. Raises NotPermitted, and InvalidQuestion if the space is
    unclear.
    """
    if subject.space:
        return limit_to_own_space(inner, subject.space)
    if isinstance(inner, AddFact):
        raise NotPermitted("The token of a person cannot add facts; use the command in the chat.")
    request: Any = inner
    space = request.space or await _find_space(engine, request.name, spaces)
    if space not in spaces:
        raise NotPermitted(REFUSED, hint=MANAGERS_ONLY)
    fields: dict[str, Any] = {"room": room_of(space)}
    return replace(limit_to_own_space(inner, space), **fields)


async def _find_space(engine: Engine, name: str, spaces: frozenset[str]) -> str:
    """The only one of the spaces in which a name occurs; "" if it occurs in none. Raises InvalidQuestion."""
    if len(spaces) == 1:
        return next(iter(spaces))
    found = (await engine.get_provenance(name, Scope(spaces, frozenset()), limit=1)).spaces
    if len(found) > 1:
        raise InvalidQuestion(f"“{name}” occurs in several spaces.", hint=f"Name one of them: {', '.join(found)}.")
    return found[0] if found else ""
