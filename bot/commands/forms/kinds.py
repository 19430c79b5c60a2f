"""A kind of form of the table: what builds it, checks its answers and handles them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.commands.context import CommandContext
    from bot.platform.forms import Form
    from bot.platform.models import Card


def find_no_errors(_answers: Mapping[str, str]) -> Mapping[str, str]:
    """Accept all answers."""
    return {}


@dataclass(frozen=True, slots=True)
class FormKind:
    """A kind of form.

    `build`: from the command, button or menu that opens it, whose value is in `arguments`; None: no form fits, and the
    event is handled without one, as it is if `build` raises EngineError. It must be fast: the platform waits.
    `submit`: from the answers by field; it checks all rights again, since minutes have passed and a submission can be
    forged. With several parts, the answers are those of one part. The card is for the person alone; None: the answer
    was sent already. `find_errors`: what is wrong with the answers, by field.
    """

    build: Callable[[CommandContext], Awaitable[Form | None]]
    submit: Callable[[CommandContext, Mapping[str, str]], Awaitable[Card | None]]
    find_errors: Callable[[Mapping[str, str]], Mapping[str, str]] = find_no_errors
