"""Show what one person may do to improve an answer: a card that only they see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.answers.review.rights import is_manager, list_experts
from bot.answers.review.verification import AnswerVerifier, source_keys_of
from bot.i18n import gettext
from bot.platform.models import Button, Card
from bot.store.models import VERIFIED_PREFIX
from bot.texts import control as control_texts
from bot.texts import review as review_texts
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.context import BotContext
    from bot.store import StoredAnswer


IMPROVE_ACTION = "improve"
ONCE = "once"  # ends the value of the button below an answer whose question cannot be asked again


def build_improve_button(answer: str, attempt: int = 0, *, can_repeat: bool) -> Button:
    """The button below an answer; everybody who sees the answer sees the same one."""
    value = f"{answer}:{attempt}" if can_repeat else f"{answer}:{attempt}:{ONCE}"
    return Button(gettext(review_texts.IMPROVE_BUTTON), IMPROVE_ACTION, value)


class Improvements:
    """Lists what a person may do with an answer, by their rights and its state. Raises PlatformError."""

    def __init__(self, context: BotContext) -> None:
        self._context = context

    async def offer(self, stored: StoredAnswer, person: str, *, can_repeat: bool) -> Card:
        """The card of a person who can read the answer; `can_repeat`: its question can be asked again."""
        is_done = stored.state == "done"
        buttons = await self._list_corrections(stored, person) if is_done else []
        channel = await self._context.audience.get_channel(stored.location)
        if is_done and channel.kind != "direct" and not stored.private:
            buttons += await self._list_reports(stored, person)
        if can_repeat and person == stored.asker and not is_verified(stored):
            buttons.append(_button(control_texts.AGAIN_BUTTON, "again", stored))
        if stored.private and stored.sources:
            buttons.append(_button(review_texts.SOURCES_BUTTON, "sources", stored))
        if not stored.private and (person == stored.asker or await is_manager(self._context, stored.location, person)):
            buttons.append(_button(control_texts.DELETE_BUTTON, "delete", stored))
        text = review_texts.IMPROVE_CHOICE if buttons else review_texts.NOTHING_TO_IMPROVE
        return Card(gettext(text), buttons=tuple(buttons))

    async def _list_corrections(self, stored: StoredAnswer, person: str) -> list[Button]:
        """Verify, correct or write the answer, for those who may; of a verified one in the channel of that."""
        verifier = AnswerVerifier(self._context, self._context.clock.now())
        try:
            await verifier.check(stored, person)
        except EngineError:
            return []
        is_based = bool(stored.sources or source_keys_of(stored))
        buttons = [_button(review_texts.VERIFY_BUTTON, "verify", stored)] if is_based else []
        if self._context.traits_of(stored.location.platform).max_form_fields > 0:
            label = review_texts.CORRECT_BUTTON if is_based else review_texts.WRITE_BUTTON
            buttons.append(_button(label, "correct-answer", stored))
        return buttons

    async def _list_reports(self, stored: StoredAnswer, person: str) -> list[Button]:
        """Ask an expert, say what was wrong."""
        experts = await list_experts(self._context, stored.location)
        asks = any(expert.person != person for expert in experts)
        ask = [_button(review_texts.ASK_EXPERT_BUTTON, "expert", stored)] if asks else []
        return [*ask, _button(review_texts.SAY_WRONG_BUTTON, "down", stored)]


def _button(label: str, action: str, stored: StoredAnswer) -> Button:
    """A button for this one of several answers to the question."""
    return Button(gettext(label), action, f"{stored.id}:{stored.attempt}")


def is_verified(stored: StoredAnswer) -> bool:
    """Whether an answer repeats a verified one."""
    return any(key.startswith(VERIFIED_PREFIX) for key in stored.documents)
