"""What a platform says about its own setup: the steps on its pages, its secrets, and a check of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret that a platform gives out.

    `setting`: its name without THREADLORE_, in lower case. `name` and `shape`: how the platform calls and writes it.
    `place`: where a person finds it.
    """

    setting: str
    name: str
    shape: str
    place: str


@dataclass(frozen=True, slots=True)
class AppVariant:
    """One of the apps that can be created: the word that chooses it, and for whom it is."""

    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class SetupStep:
    """What a person does on the pages of the platform. `link` leads there."""

    text: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class RecognizedText:
    """What a pasted text is. `setting`: that of the credential, if it is one; `hint`: what to do instead."""

    name: str
    setting: str = ""
    hint: str = ""


def recognize_text(text: str, kinds: Iterable[tuple[str, RecognizedText]]) -> RecognizedText | None:
    """What the first pattern that fits says of a text."""
    return next((kind for pattern, kind in kinds if re.fullmatch(pattern, text)), None)


@dataclass(frozen=True, slots=True)
class AccessCheck:
    """What the platform says about the credentials. `hint` says what to do unless the state is "ok".

    "failed": the platform refuses them. "unknown": it could not be asked.
    """

    state: Literal["ok", "warning", "failed", "unknown"]
    text: str
    hint: str = ""
