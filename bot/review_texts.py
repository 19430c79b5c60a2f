"""Sentences about verified answers and experts. Pure.

Text by others goes through `sanitize_inline` first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.text.format import format_day
from bot.text.markdown import sanitize_inline

if TYPE_CHECKING:
    from datetime import datetime

SOMEBODY = "somebody"
WITHDRAWN_TITLE = "an answer whose source changed"
VERIFY_BUTTON, ASK_EXPERT_BUTTON = "Verify", "Ask an expert"
VERIFIED_ELSEWHERE = "Verified. I show this answer first when somebody asks its question."
VERIFIED_HINT = "If that is not what you meant, ask in other words."
VERIFY_IN_CHANNEL = "Answers can be verified in channels, not in direct messages."
CANNOT_VERIFY = "Only managers, and experts of this channel, can verify answers."
NOT_A_REPLY = "That message is from a bot. Name the message of a person, or an answer of mine."
REPLY_NOT_USABLE = "I can't use that message: it was forgotten, or its author asked me not to read their messages."
NO_QUESTION_FOR_REPLY = "I found no question that this message answers."
UNCLEAR_QUESTION = "I wouldn't recognize this question if somebody asked it again: it is too short, long or general."
UNUSABLE_ANSWER = "A verified answer needs a text of at most {length} characters."
NO_EXPERT = "Nobody is named as an expert here."
EXPERT_ASKED = "I've asked {name}."
CHOOSE_EXPERT = "Who should I ask? I'll mention them below the question."
EXPERT_REQUEST_REFUSED = {
    "repeated": "They have already been asked.",
    "asker": "You've asked experts too often in the last hour. Try again later.",
    "expert": "They have been asked too often today. Ask somebody else, or try again tomorrow.",
}


def format_verified(name: str, time: datetime, question: str) -> str:
    """The line above a verified answer: by whom, when, and to which question."""
    return f"✅ **Verified by {sanitize_inline(name)} on {format_day(time)}:** {sanitize_inline(question)}"


def format_withdrawal(time: datetime, link: str) -> str:
    """The notice to the person who verified an answer on that day."""
    which = f"[an answer]({link})" if link else "an answer"
    return (
        f"A source of {which} that you verified on {format_day(time)} was changed or removed. I don't show the answer "
        "anymore: ask the question again, and verify what is right now."
    )


def format_verification(question: str) -> str:
    """The confirmation for the person who verified an answer."""
    return f"Verified. I show this answer first when somebody asks: “{sanitize_inline(question)}”"


def format_expert_request(name: str, question: str) -> str:
    """The message that mentions an expert."""
    return f"{sanitize_inline(name)} asks you as an expert:\n> {sanitize_inline(question)}"
