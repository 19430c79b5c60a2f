"""Clean what somebody pasted, and say in a sentence what it is if it is not what was asked for. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.model_setup.key_kinds import find_key_provider, is_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.plugins import Credential, PlatformSetup, RecognizedText

_INVISIBLE = re.compile(r"[\u200b-\u200f\u2060\ufeff\u00ad]")
_WORD = r"[A-Za-z_][A-Za-z0-9_]{3,}"
# Of one case and with "_", as no key is that has a "=" in it: BOT_TOKEN, api_key.
_VARIABLE = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|(?i:token|key|secret|password|model)"
_KIND, _BLANK = re.compile(r"[a-z]{2,5}[-_]"), re.compile(r"\s")
_ASSIGNMENT = re.compile(rf"^(?:(?:export\s+|set\s+|-e\s+){_WORD}|{_VARIABLE})(?:\s*=\s*|:\s+)(?=[^\s=])")
_SCHEME = re.compile(r"^(?:Authorization:\s*)?(?:Bot|Bearer)\s+(?=\S)", re.IGNORECASE)
_QUOTES = "\"'`“”‘’«»<>,;"
_MASK = re.compile(r"[•●*…]{3,}|\.{3,}")
MAX_WORD = 12  # characters of an answer that is no secret
_CUT_SECRET, MIN_SECRET = 24, 16  # characters; shorter ones are not shown, or cut off


def clean_paste(text: str) -> str:
    """The value in a pasted text: without blanks and quotes around it, "Bot ", or the name of a variable before it."""
    cleaned = _INVISIBLE.sub("", text).strip()
    for pattern in (_ASSIGNMENT, _SCHEME):
        cleaned = pattern.sub("", cleaned.strip(_QUOTES).strip())
    return cleaned.strip(_QUOTES).strip()


def mask(value: str) -> str:
    """What may be shown of a secret: its kind and its last characters."""
    if len(value) < _CUT_SECRET // 2:
        return "…" if value else ""
    start = _KIND.match(value)
    return f"{start[0] if start else ''}…{value[-4:]}"


def mask_word(word: str) -> str:
    """What may be shown of an answer that was not understood: it may be a secret in the wrong place."""
    return mask(word) if len(word) > MAX_WORD or is_key(word) else word


def find_mistake(value: str, wanted: Credential, setups: Iterable[PlatformSetup]) -> str:
    """What is wrong with a cleaned value, in a sentence that says where the right one is; empty if nothing is."""
    if common := _find_common_mistake(value):
        return f"{common} {_locate(wanted)}"
    setups = tuple(setups)
    if found := find_misplaced(value, wanted, setups):
        return found
    return "" if _recognize(value, setups) else f"This is no {wanted.name}. {_locate(wanted)}"


def find_misplaced(value: str, wanted: Credential, setups: Iterable[PlatformSetup]) -> str:
    """What a cleaned value is, in such a sentence, if it is known to be something else; empty if it is not."""
    setups = tuple(setups)
    found = _recognize(value, setups)
    if found is None:
        what = f"This is an API key of a model ({find_key_provider(value)})."
        return f"{what} {_locate(wanted)}" if is_key(value) else ""
    kind, title = found
    if kind.setting == wanted.setting:
        return ""
    own = next((setup.title for setup in setups if wanted in setup.credentials), title)
    right = wanted.name if own == title else f"{wanted.name} of {own}"
    hint = "" if kind.setting else f" {kind.hint}"
    return f"This is the {kind.name} of {title}, not the {right}.{hint} {_locate(wanted)}"


def find_setting(value: str, setups: Iterable[PlatformSetup]) -> str:
    """The setting that a value is for; empty if it is for none."""
    found = _recognize(value, setups)
    return found[0].setting if found else ""


def describe_secret(value: str, setups: Iterable[PlatformSetup]) -> str:
    """What a value is to a platform, with its name; empty if it is known to none."""
    found = _recognize(value, setups)
    return f"the {found[0].name} of {found[1]}" if found else ""


def _find_common_mistake(value: str) -> str:
    if _MASK.search(value):
        return "This is hidden or cut off by dots: use the button that copies it."
    if _BLANK.search(value):
        return "There is a blank in it: copy it in one piece."
    if not value.isascii() or not value.isprintable():
        return "There are characters in it that no token has: copy it again."
    if len(value) < MIN_SECRET:
        return "This is too short: copy it again."
    return ""


def _recognize(value: str, setups: Iterable[PlatformSetup]) -> tuple[RecognizedText, str] | None:
    """What a value is to the first platform that knows it, and the name of the platform."""
    return next(((kind, setup.title) for setup in setups if (kind := setup.recognize(value)) is not None), None)


def _locate(wanted: Credential) -> str:
    return f"The {wanted.name} ({wanted.shape}) is here: {wanted.place}."
