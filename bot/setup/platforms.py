"""The platforms that can be connected, and what is said about the choice of them. Pure, but for their entry points."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.plugins import AccessCheck, list_setup_names, load_setup
from bot.setup.pasted import clean_paste, find_mistake, find_setting, mask_word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.plugins import Credential, PlatformSetup

_SEPARATORS = re.compile(r"[\s,;+&]+")
LOCAL = "local"
MARKS = {"ok": "✓", "warning": "!", "failed": "✗", "unknown": "?"}


def load_setups() -> dict[str, PlatformSetup]:
    """The setups of the installed platforms, by name."""
    return {name: load_setup(name) for name in list_setup_names()}


def order_setups(name: str, setups: Mapping[str, PlatformSetup]) -> list[PlatformSetup]:
    """All setups, that of this platform first: a text that two know is taken for one of its own."""
    return [setups[name], *(each for other, each in setups.items() if other != name)]


def parse_choice(answer: str, names: Sequence[str]) -> list[str]:
    """The names in an answer of numbers and names. Raises ValueError with a sentence."""
    words = [part for part in _SEPARATORS.split(answer.casefold()) if part and part != "and"]
    found = list[str]()
    for word in words:
        by_number = [names[int(word) - 1]] if word.isdigit() and 0 < int(word) <= len(names) else []
        matching = by_number or [name for name in names if name.startswith(word)]
        if len(matching) != 1:
            raise ValueError(f"“{mask_word(word)}” is none of 1 to {len(names)} ({', '.join(names)}).")
        found += [name for name in matching if name not in found]
    if not found:
        raise ValueError(f"Name one of 1 to {len(names)} ({', '.join(names)}).")
    return found


def find_other(value: str, wanted: Credential, setups: Sequence[PlatformSetup]) -> Credential | None:
    """The other secret of the same platform that a value is, when it was pasted in the place of `wanted`."""
    setting = find_setting(value, setups)
    own = next((setup for setup in setups if wanted in setup.credentials), None)
    others = own.credentials if own else ()
    return next((other for other in others if other.setting == setting and other != wanted), None)


def describe_check(check: AccessCheck) -> str:
    """What a platform said, with what to do."""
    return f"{check.text} {check.hint}".strip()


def list_refusals(checks: Sequence[AccessCheck]) -> list[str]:
    """What a platform refused, each as a sentence."""
    return [describe_check(check) for check in checks if check.state == "failed"]


def settle_values(
    values: Mapping[str, str], needed: Sequence[Credential], setups: Sequence[PlatformSetup]
) -> tuple[dict[str, str], dict[str, str]]:
    """Pasted secrets by the setting that they are for, and what is wrong with the others, by that of their field.

    One in the field of another one of the same platform is kept as what it is.
    """
    pasted = {
        credential.setting: cleaned
        for credential in needed
        if (cleaned := clean_paste(values.get(credential.setting, "")))
    }
    wanted = {credential.setting: credential for credential in needed if credential.setting in pasted}
    mistakes = {name: find_mistake(pasted[name], each, setups) for name, each in wanted.items()}
    kept = {name: pasted[name] for name, mistake in mistakes.items() if not mistake}
    for name in [name for name, mistake in mistakes.items() if mistake]:
        other = find_other(pasted[name], wanted[name], setups)
        if other is not None and other in needed and other.setting not in kept:
            kept[other.setting] = pasted[name]
            mistakes[name] = ""
    return kept, {name: mistake for name, mistake in mistakes.items() if mistake}
