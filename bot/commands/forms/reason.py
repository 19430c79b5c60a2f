"""Ask why an answer did not help; the vote counts without it. Managers see the reasons in `/unanswered`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import texts
from bot.commands.forms.correction import find_answer, format_value
from bot.i18n import gettext
from bot.permissions.provenance import can_read, provenance_of_answer
from bot.platform.forms import Form, FormField, FormOption
from bot.platform.forms import find_errors as find_field_errors
from bot.platform.models import Card
from bot.texts import review as review_texts
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import CommandContext
    from bot.store import StoredAnswer

MAX_COMMENT_LENGTH = 500  # characters


async def build_form(call: CommandContext) -> Form | None:
    """Build the form for a public answer that the person can read; nobody would see the reason of a private one."""
    stored = await _find_readable(call)
    text, submit = gettext(review_texts.REASON_TEXT), gettext(review_texts.SEND_BUTTON)
    title = gettext(review_texts.REASON_TITLE)
    return Form("reason", title, _build_fields(), format_value(stored), text, submit, handles_event=True)


def find_errors(answers: Mapping[str, str]) -> Mapping[str, str]:
    """What is wrong with the reason or the comment."""
    return find_field_errors(_build_fields(), answers)


async def submit_form(call: CommandContext, answers: Mapping[str, str]) -> Card:
    """Store the reason with the vote. Raises NotFound if the person cannot read the answer anymore."""
    stored, comment = await _find_readable(call), " ".join(answers.get("comment", "").split())
    reason, person = answers.get("reason", ""), call.person
    if not await call.store.feedback.record_reason(stored.id, person, reason, comment):
        raise NotFound(gettext(texts.NO_ANSWER))
    return Card(gettext(review_texts.REASON_RECORDED))


async def _find_readable(call: CommandContext) -> StoredAnswer:
    stored = await find_answer(call)
    audience, person = call.services.context.audience, call.person
    is_public = stored.state == "done" and not stored.private
    if not (is_public and await call.can_read(stored.location.room)):
        raise NotFound(gettext(texts.NO_ANSWER))
    if not await can_read(audience, provenance_of_answer(stored), stored.location, person):
        raise NotFound(gettext(texts.NO_ANSWER))
    return stored


def _build_fields() -> tuple[FormField, ...]:
    options = tuple(FormOption(name, gettext(label)) for name, label in review_texts.REASONS.items())
    hint = gettext(review_texts.COMMENT_HINT)
    return (
        FormField("reason", gettext(review_texts.REASON_FIELD), "choice", options=options),
        FormField(
            "comment", gettext(review_texts.COMMENT_FIELD), "long_text", hint=hint, max_length=MAX_COMMENT_LENGTH
        ),
    )
