"""Commands in the words of a message to the bot: "verify this", "correct: On Friday." Pure."""

from __future__ import annotations

import re

from bot.text.document_match import is_message_link

_VERIFY = re.compile(r"(?:verify|verified|approved?)(?: (?:it|this|that)(?: answer| reply)?)?[.! ]*+", re.IGNORECASE)
_VERIFY_LINK = re.compile(r"(?:verify|approve|take) (?P<link>\S++)(?: as (?:the|an) answer)?[.! ]*+", re.IGNORECASE)
_CORRECT = re.compile(
    r"(?:correct|correction|correct answer|the correct answer is):\s*+(?P<text>.++)", re.IGNORECASE | re.DOTALL
)


def parse_review_command(text: str) -> tuple[str, str] | None:
    """The command that a message without its leading mention stands for, with its arguments; None if it is none."""
    text = text.strip()
    if _VERIFY.fullmatch(text):
        return "verify", ""
    if (found := _VERIFY_LINK.fullmatch(text)) and is_message_link(found["link"]):
        return "verify", found["link"]
    if found := _CORRECT.fullmatch(text):
        return "correct", f"answer {found['text'].strip()}"
    return None
