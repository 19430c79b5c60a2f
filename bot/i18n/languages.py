"""Recognize a language by its tag (pt-BR, de_DE.UTF-8) or its name in one of the languages with a catalog. Pure."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from babel import Locale

from bot.i18n.catalogs import LANGUAGES, SOURCE_LANGUAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_LENGTH = 40  # characters of a tag or a name

_TAG = re.compile(r"([a-z]{2,3})(?:[-_.@][a-z0-9-]+)*")


def match_locale(tag: str) -> str:
    """The language of a locale such as pt-BR, English if there is no catalog; empty without a locale."""
    return (_match_tag(tag) or SOURCE_LANGUAGE) if tag else ""


def match_language(words: str) -> str:
    """The language that a tag or a name means; empty if it is none with a catalog."""
    return _match_tag(words) or _list_names().get(words.strip().casefold(), "")


def _match_tag(words: str) -> str:
    found = _TAG.fullmatch(words.strip().casefold()) if len(words) <= MAX_LENGTH else None
    return found[1] if found and found[1] in LANGUAGES else ""


@cache
def _list_names() -> Mapping[str, str]:
    """The names of the languages in each of them, such as “german”, “deutsch” and “allemand”."""
    names = {Locale(shown).languages.get(language, ""): language for shown in LANGUAGES for language in LANGUAGES}
    names |= {Locale(shown).languages.get("pt_BR", ""): "pt" for shown in LANGUAGES}
    return {name.casefold(): language for name, language in names.items() if name}
