"""Ask about a message from its menu: a form shows its text as the question. Only the asker sees the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.answers.question import AnswerRequest, answer_id
from bot.i18n import N_, gettext
from bot.platform.forms import Form, FormField
from bot.platform.forms import find_errors as find_field_errors
from bot.platform.models import Card
from bot.text.speech.mentions import strip_mention

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import CommandContext

MAX_LENGTH = 3000  # characters of a question
TITLE, FIELD, HINT, ASK_BUTTON = (
    N_("Ask about this"),
    N_("Your question"),
    N_("Only you see the answer. It can use everything that you can read."),
    N_("Ask"),
)
NO_TEXT = N_("There is no text in that message that I could search for.")


async def build_form(call: CommandContext) -> Form:
    """Build the form with the text of the message. Raises PlatformError."""
    text = await _read_message(call)
    field = FormField(
        "question",
        gettext(FIELD),
        "long_text",
        text[:MAX_LENGTH],
        hint=gettext(HINT),
        required=True,
        max_length=MAX_LENGTH,
    )
    return Form("question", gettext(TITLE), (field,), submit=gettext(ASK_BUTTON))


def find_errors(answers: Mapping[str, str]) -> Mapping[str, str]:
    """What is wrong with the question."""
    field = FormField("question", FIELD, "long_text", required=True, max_length=MAX_LENGTH)
    return find_field_errors((field,), {"question": "", **answers})


async def submit_form(call: CommandContext, answers: Mapping[str, str]) -> None:
    """Answer the question for its asker alone, from what they may read now."""
    await _ask(call, answers["question"].strip())


async def ask_about_message(call: CommandContext) -> Card | None:
    """Take the text of the message as the question, without a form."""
    text = await _read_message(call)
    if not text:
        return Card(gettext(NO_TEXT))
    await _ask(call, text)
    return None


async def _read_message(call: CommandContext) -> str:
    message, location = call.invocation.message, call.location
    if message is None:
        return ""
    platform = call.services.context.platform_for(location)
    return (await platform.to_plain_text(location.workspace, strip_mention(message.posted))).strip()


async def _ask(call: CommandContext, text: str) -> None:
    invoked, location = call.invocation, call.location
    request = AnswerRequest(
        answer_id(location, invoked.id), location, invoked.person, text, call.now, private=True, handle=invoked.handle
    )
    await call.services.answer_service.answer(request)
