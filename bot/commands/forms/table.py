"""The kinds of forms, the table of forms by name, and which action or command opens which of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.commands.context import CommandContext
from bot.commands.forms import correction, question, reason, settings
from bot.i18n import N_, gettext, use_language
from bot.platform.events import ButtonPressed, CommandInvoked
from bot.platform.models import Button, Card
from engine.errors import EngineError, InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.commands.context import BotServices
    from bot.platform.events import FormSubmitted
    from bot.platform.forms import Form


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


BUILD_TIMEOUT = 1.0  # seconds, of the three for which platforms let a form be opened
CONTINUE_BUTTON = N_("Continue")
PART_ACTION = "form"  # the button that opens the next part of a form
OPEN_AGAIN = N_("Open the form again.")
UNKNOWN_FORM = N_("This form is no longer available.")

FORMS: Mapping[str, FormKind] = {
    "question": FormKind(question.build_form, question.submit_form, question.find_errors),
    "reason": FormKind(reason.build_form, reason.submit_form, reason.find_errors),
    "settings": FormKind(settings.build_form, settings.submit_form, settings.find_errors),
    "correction": FormKind(correction.build_form, correction.submit_form, correction.find_errors),
}
OPENED_BY: Mapping[str, str] = {
    "down": "reason",
    "ask-about": "question",
    "correct-answer": "correction",
    "settings": "settings",
}  # forms by action of a button, or command


async def build_form(services: BotServices, event: CommandInvoked | ButtonPressed) -> Form | None:
    """Build the form that an interaction opens; None if it opens none, or if that is unknown in time."""
    name, value, part = _parse_request(event)
    limit = services.context.traits_of(event.location.platform).max_form_fields
    if name not in FORMS or not limit:
        return None
    call = CommandContext.of(services, _to_command(event, name, value), services.context.clock.now())
    try:
        async with asyncio.timeout(BUILD_TIMEOUT):
            language = await services.context.find_person_language(event.location, event.person, event.locale)
            with use_language(language):
                form = await FORMS[name].build(call)
    except (EngineError, TimeoutError):
        return None
    return form.get_part(part, limit) if form is not None else None


def check_form(submitted: FormSubmitted) -> Mapping[str, str]:
    """What is wrong with the answers, by field, for platforms that show it in the form."""
    kind = FORMS.get(submitted.form)
    return kind.find_errors(dict(submitted.answers)) if kind else {}


async def submit_form(services: BotServices, submitted: FormSubmitted) -> Card | None:
    """Handle a submitted form. Raises EngineError."""
    kind = FORMS.get(submitted.form)
    if kind is None:
        raise NotFound(gettext(UNKNOWN_FORM))
    if errors := check_form(submitted):
        raise InvalidQuestion(" ".join(errors.values()), hint=gettext(OPEN_AGAIN))
    invoked = CommandInvoked(
        submitted.id,
        submitted.location,
        submitted.person,
        submitted.form,
        submitted.value,
        handle=submitted.handle,
        time=submitted.time,
    )
    card = await kind.submit(CommandContext.of(services, invoked, submitted.time), dict(submitted.answers))
    return _with_next_part(card, submitted) if card is not None else None


def _parse_request(event: CommandInvoked | ButtonPressed) -> tuple[str, str, int]:
    """The form that an event asks for, what it is about, and the number of its part."""
    if isinstance(event, CommandInvoked):
        return OPENED_BY.get(event.command, ""), event.words, 1
    if event.action != PART_ACTION:
        return OPENED_BY.get(event.action, ""), event.value, 1
    name, _, rest = event.value.partition(":")
    part, _, value = rest.partition(":")
    return name, value, int(part) if part.isdecimal() and part.isascii() else 1


def _to_command(event: CommandInvoked | ButtonPressed, name: str, value: str) -> CommandInvoked:
    if isinstance(event, CommandInvoked):
        return event
    return CommandInvoked(event.id, event.location, event.person, name, value, handle=event.handle, locale=event.locale)


def _with_next_part(card: Card, submitted: FormSubmitted) -> Card:
    if submitted.part >= submitted.parts:
        return card
    value = f"{submitted.form}:{submitted.part + 1}:{submitted.value}"
    label = f"{gettext(CONTINUE_BUTTON)} ({submitted.part + 1}/{submitted.parts})"
    return replace(card, buttons=(*card.buttons, Button(label, PART_ACTION, value)))
