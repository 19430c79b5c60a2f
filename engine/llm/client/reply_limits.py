"""How long a reply may be, by the purpose of its call: a stuck or hostile model never ends by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from engine.llm.formats.thinking import strip_thinking
from engine.llm.wire.turn_marks import cut_turn

if TYPE_CHECKING:
    from engine.usage import Purpose

log = structlog.get_logger(__name__)

MAX_RECEIVED_CHARACTERS = 400_000  # of any reply, with its thoughts
# Of a reply without its thoughts; several times what a call of that purpose needs.
MAX_REPLY_CHARACTERS: dict[Purpose, int] = {
    "answer": 100_000,
    "condense": 8_000,
    "describe": 20_000,
    "extract": 40_000,
    "summarize": 20_000,
}
MAX_SCORES_PER_TEXT = 2  # rows of a reranker


def limit_reply(text: str, purpose: Purpose, model: str) -> tuple[str, bool]:
    """A whole reply without its thoughts and marks of turns, and whether it was cut off because it is too long."""
    reply = cut_turn(strip_thinking(text[:MAX_RECEIVED_CHARACTERS]))
    limit = MAX_REPLY_CHARACTERS[purpose]
    is_cut = len(text) > MAX_RECEIVED_CHARACTERS or len(reply) > limit
    if is_cut:
        log_cut_off(purpose, model, len(text))
    return reply[:limit], is_cut


def log_cut_off(purpose: Purpose, model: str, characters: int) -> None:
    """Name a reply that was cut off."""
    log.warning("llm.reply_cut_off", purpose=purpose, model=model, characters=characters)
