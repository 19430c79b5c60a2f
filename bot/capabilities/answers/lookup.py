"""Find a kept answer for whoever asked its question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import texts
from bot.capabilities.access.control import locate_subject
from bot.i18n import gettext
from engine.errors import NotFound

if TYPE_CHECKING:
    from bot.store import BotStore, StoredAnswer, Subject


def is_own(stored: StoredAnswer, subject: Subject) -> bool:
    """Whether somebody asked the question of an answer outside of the chat."""
    place = locate_subject(subject)
    return stored.location.without_thread == place and stored.asker == subject.person


async def find_own_answer(store: BotStore, subject: Subject, id_: str) -> StoredAnswer:
    """An answer that somebody was given outside of the chat. Raises NotFound with one message for all others."""
    stored = await store.answers.get(id_)
    if stored is None or not is_own(stored, subject):
        raise NotFound(gettext(texts.NO_ANSWER))
    return stored
