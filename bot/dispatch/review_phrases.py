"""Commands in the words of a message to the bot: "verify this", "tell me when the date changes". Pure."""

from __future__ import annotations

import re

from bot.text.document_match import is_message_link
from bot.text.speech.watch_phrases import parse_end_message, parse_watch_message

_VERIFY = re.compile(r"(?:verify|verified|approved?)(?: (?:it|this|that)(?: answer| reply)?)?[.! ]*+", re.IGNORECASE)
_VERIFY_LINK = re.compile(r"(?:verify|approve|take) (?P<link>\S++)(?: as (?:the|an) answer)?[.! ]*+", re.IGNORECASE)
_CORRECT = re.compile(
    r"(?:correct|correction|correct answer|the correct answer is):\s*+(?P<text>.++)", re.IGNORECASE | re.DOTALL
)

_NAMED = re.compile(r"[/!](?P<name>[a-z][a-z-]{1,30})(?:\s++(?P<rest>\S++).*+)?", re.IGNORECASE | re.DOTALL)


def parse_command_name(text: str, prefix: str) -> str:
    """The command that a message to the bot names as people type commands; empty if it names none.

    `prefix`: of commands on the platform, such as "/threadlore ".
    """
    found = _NAMED.fullmatch(text.strip())
    if found is None:
        return ""
    is_prefix = found["name"].casefold() == prefix.strip(" /").casefold()
    return (found["rest"] or "help" if is_prefix else found["name"]).casefold()


def parse_review_command(text: str) -> tuple[str, str] | None:
    """The command that a message without its leading mention stands for, with its arguments; None if it is none."""
    text = text.strip()
    if _VERIFY.fullmatch(text):
        return "verify", ""
    if (found := _VERIFY_LINK.fullmatch(text)) and is_message_link(found["link"]):
        return "verify", found["link"]
    if found := _CORRECT.fullmatch(text):
        return "correct", f"answer {found['text'].strip()}"
    if event := parse_watch_message(text):
        return "watch", event
    if subject := parse_end_message(text):
        return "unwatch", subject
    return None
