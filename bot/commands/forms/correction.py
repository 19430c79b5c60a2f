"""Correct or write the answer to a question: it becomes the verified answer, also to the question in other words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.review.verification import MAX_QUESTION_LENGTH, MAX_TEXT_LENGTH, AnswerVerifier, source_keys_of
from bot.capabilities.management.requests import VerifyAnswer
from bot.i18n import gettext
from bot.platform.forms import Form, FormField
from bot.platform.forms import find_errors as find_field_errors
from bot.platform.models import Card
from bot.text.excerpts import truncate_line
from bot.text.speech.mentions import strip_mention
from bot.texts import control as control_texts
from bot.texts import review as review_texts
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import CommandContext
    from bot.store import StoredAnswer

FIELDS = (
    FormField("question", review_texts.QUESTION_FIELD, max_length=MAX_QUESTION_LENGTH),
    FormField("text", review_texts.CORRECTION_FIELD, "long_text", required=True, max_length=MAX_TEXT_LENGTH),
)


async def build_form(call: CommandContext) -> Form:
    """Build the form with question and answer, for those who may verify it. Raises EngineError for others."""
    stored = await find_answer(call)
    await _verifier(call).check(stored, call.person)
    question, text = FIELDS
    is_based = bool(stored.sources or source_keys_of(stored))
    fits = len(stored.text) <= min(MAX_TEXT_LENGTH, call.traits.max_field_length)
    shown = review_texts.CORRECTION_HINT if fits else review_texts.CORRECTION_TOO_LONG
    hint = shown if is_based else review_texts.WRITE_HINT
    fields = (
        replace(
            question,
            label=gettext(question.label),
            value=await _find_question(call, stored),
            hint=gettext(review_texts.QUESTION_HINT),
        ),
        replace(text, label=gettext(text.label), value=stored.text if fits and is_based else "", hint=gettext(hint)),
    )
    title = gettext(review_texts.CORRECTION_TITLE if is_based else review_texts.WRITE_BUTTON)
    return Form("correction", title, fields, format_value(stored), submit=gettext(review_texts.APPROVE_BUTTON))


def find_errors(answers: Mapping[str, str]) -> Mapping[str, str]:
    """What is wrong with the question or the text."""
    return find_field_errors(FIELDS, {"text": "", **answers})


async def submit_form(call: CommandContext, answers: Mapping[str, str]) -> Card:
    """Verify the answer, in the words of the form where those were changed. Raises EngineError."""
    stored, text = await find_answer(call), answers["text"].strip()
    question = " ".join(answers.get("question", "").split())
    async with call.recording(VerifyAnswer(stored.id)):
        return Card(
            await _verifier(call).verify(
                stored,
                call.person,
                "" if text == stored.text.strip() else text,
                "" if question == await _find_question(call, stored) else question,
            )
        )


async def _find_question(call: CommandContext, stored: StoredAnswer) -> str:
    """The question of an answer, or of the verified one that it repeats, in one line that fits the form."""
    if (repeated := await _verifier(call).find_repeated(stored)) is not None:
        return truncate_line(repeated.question, min(MAX_QUESTION_LENGTH, call.traits.max_field_length))
    location, platform = stored.location, call.services.context.platform_for(stored.location)
    asked = await platform.to_plain_text(location.workspace, strip_mention(stored.question))
    return truncate_line(asked, min(MAX_QUESTION_LENGTH, call.traits.max_field_length))


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
