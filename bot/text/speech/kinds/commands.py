"""Tell the words that stop or mute the bot, and commands that are typed into a message. Pure."""

from __future__ import annotations

import re

MUTE_WORDS = frozenset({"stop", "be quiet", "quiet"})
STOP_WORDS = MUTE_WORDS | {
    *("stop it", "cancel", "abort", "enough", "stopp", "halt", "aufhören", "ruhe"),
    *("arrête", "arrêtez", "alto", "para", "basta", "pare", "pára", "止めて", "やめて", "ストップ"),
}

_COMMAND = re.compile(r"[/!][a-z][a-z-]*(?=\s|\Z)", re.IGNORECASE)


def single_word(text: str) -> str:
    """A message as it is compared with words: lower-case, without a mark at its end."""
    return text.strip().casefold().rstrip(".!。！ ")


def is_command(text: str) -> bool:
    """Whether a text without mentions stops the bot, or begins like a command: "/help"."""
    return single_word(text) in STOP_WORDS or bool(_COMMAND.match(text))
