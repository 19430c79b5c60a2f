"""The languages of texts and questions, as they are set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import BadSetting
from engine.data_dir import DataDir
from engine.llm.e5.languages import LANGUAGES, OTHER
from engine.llm.e5.spoken import load_spoken
from engine.storage.ledger import load_languages

if TYPE_CHECKING:
    from bot.settings import Settings

VARIABLE = "THREADLORE_LANGUAGES"
AUTO = "auto"
OTHER_CODES = {"nb": "no", "nn": "no"}


def read_languages(settings: Settings) -> tuple[str, ...]:
    """The ISO 639-1 codes that are set, in their order; empty if none is. Raises BadSetting.

    "auto": those that were counted last in what is said, or were in force when the data was opened last. Processes with
    one database must agree: there none are taken.
    """
    if not is_auto(settings.languages):
        return split_languages(settings.languages)
    if settings.database.get_secret_value():
        return ()
    spoken = load_spoken(settings.data_path)
    return (spoken.chosen if spoken is not None else ()) or load_languages(DataDir(settings.data_path).ledger_path)


def read_wanted_languages(settings: Settings) -> tuple[str, ...]:
    """As `read_languages`, but those for which the weights are not installed yet. Raises BadSetting."""
    spoken = load_spoken(settings.data_path) if is_auto(settings.languages) else None
    return spoken.wanted if spoken is not None else read_languages(settings)


def is_auto(text: str) -> bool:
    """Whether the choice is left to what is counted."""
    return text.strip().casefold() == AUTO


def split_languages(text: str) -> tuple[str, ...]:
    """The codes of a list such as "de, en"; "de-AT" means "de", "auto" none. Raises BadSetting for an unknown one."""
    if is_auto(text):
        return ()
    listed = [code.strip().casefold().replace("_", "-").partition("-")[0] for code in text.split(",")]
    codes = [OTHER_CODES.get(code, code) for code in listed]
    unknown = [code for code in codes if code and code not in {*LANGUAGES, OTHER}]
    if unknown:
        raise BadSetting(
            f"{VARIABLE} cannot be “{', '.join(unknown)}”: it is a list of ISO 639-1 codes, such as de,en, or {AUTO}.",
            hint=f"Known are {' '.join(sorted(LANGUAGES))}, and {OTHER} for all others.",
        )
    return tuple(dict.fromkeys(code for code in codes if code))
