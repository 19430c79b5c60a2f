"""The languages of texts and questions, as they are set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import BadSetting
from engine.llm.e5.languages import LANGUAGES

if TYPE_CHECKING:
    from bot.settings import Settings

VARIABLE = "THREADLORE_LANGUAGES"
OTHER_CODES = {"nb": "no", "nn": "no"}


def read_languages(settings: Settings) -> tuple[str, ...]:
    """The ISO 639-1 codes that are set, in their order; empty if none is. Raises BadSetting."""
    return split_languages(settings.languages)


def split_languages(text: str) -> tuple[str, ...]:
    """The codes of a list such as "de, en"; "de-AT" means "de". Raises BadSetting for one that is not known."""
    listed = [code.strip().casefold().replace("_", "-").partition("-")[0] for code in text.split(",")]
    codes = [OTHER_CODES.get(code, code) for code in listed]
    unknown = [code for code in codes if code and code not in LANGUAGES]
    if unknown:
        raise BadSetting(
            f"{VARIABLE} cannot be “{', '.join(unknown)}”: it is a list of ISO 639-1 codes, such as de,en.",
            hint=f"Known are {' '.join(sorted(LANGUAGES))}.",
        )
    return tuple(dict.fromkeys(code for code in codes if code))
