"""Correct an answer: change its text and approve it, so that it becomes the verified answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import review_texts, texts
from bot.answers.review.verification import MAX_TEXT_LENGTH, AnswerVerifier
from bot.i18n import gettext
from bot.platform.forms import Form, FormField
from bot.platform.forms import find_errors as find_field_errors
from bot.platform.models import Card
from bot.text.excerpts import truncate_line
from bot.text.speech.mentions import strip_mention
from bot.texts import control as control_texts
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import CommandContext
    from bot.store import StoredAnswer

MAX_QUESTION_LENGTH = 300  # characters of the question above the text
FIELDS = (FormField("text", review_texts.CORRECTION_FIELD, "long_text", required=True, max_length=MAX_TEXT_LENGTH),)


async def build_form(call: CommandContext) -> Form:
    """Build the form with the text of the answer, for those who may verify it. Raises EngineError for others."""
    stored = await find_answer(call)
    await _verifier(call).check(stored, call.person)
    location, platform = stored.location, call.services.context.platform_for(stored.location)
    question = await platform.to_plain_text(location.workspace, strip_mention(stored.question))
    fits = len(stored.text) <= min(MAX_TEXT_LENGTH, call.traits.max_field_length)
    hint = gettext(review_texts.CORRECTION_HINT) if fits else gettext(review_texts.CORRECTION_TOO_LONG)
    text = FormField(
        "text",
        gettext(review_texts.CORRECTION_FIELD),
        "long_text",
        stored.text if fits else "",
        (),
        hint,
        required=True,
        max_length=MAX_TEXT_LENGTH,
    )
    shown = truncate_line(question, MAX_QUESTION_LENGTH)
    return Form(
        "correction",
        gettext(review_texts.CORRECTION_TITLE),
        (text,),
        format_value(stored),
        shown,
        gettext(review_texts.APPROVE_BUTTON),
    )


def find_errors(answers: Mapping[str, str]) -> Mapping[str, str]:
    """What is wrong with the text."""
    return find_field_errors(FIELDS, {"text": "", **answers})


async def submit_form(call: CommandContext, answers: Mapping[str, str]) -> Card:
    """Verify the answer, in the text of the form if that was changed. Raises EngineError."""
    stored, text = await find_answer(call), answers["text"].strip()
    changed = "" if text == stored.text.strip() else text
    return Card(await _verifier(call).verify(stored, call.person, changed))


def format_value(stored: StoredAnswer) -> str:
    """The value of a form about an answer: its id, and which of several answers to the question it is."""
    return f"{stored.id}:{stored.attempt}"


async def find_answer(call: CommandContext) -> StoredAnswer:
    """The answer that a form is about, of the caller's workspace. Raises NotFound, also if a newer one replaced it."""
    id_, _, attempt = call.arguments.partition(":")
    stored = await call.store.answers.get(id_)
    if stored is None or stored.location.workspace_key != call.location.workspace_key:
        raise NotFound(gettext(texts.NO_ANSWER))
    if (attempt or "0") != str(stored.attempt):
        raise NotFound(gettext(control_texts.REPLACED))
    return stored


def _verifier(call: CommandContext) -> AnswerVerifier:
    return AnswerVerifier(call.services.context, call.now)
