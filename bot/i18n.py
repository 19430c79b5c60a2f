"""Translate sentences by gettext catalogs into the language that is active, and recognize languages by tag or name.

A sentence is rendered where it is sent: the code there activates the language of the people who will read it. The
language holds for the code within `use_language` and for tasks that are started there, so a task that outlives the
event activates its own. Without one, sentences are English. Text that code compares or stores must not be translated.
"""

from __future__ import annotations

import gettext as standard_gettext
import re
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SOURCE_LANGUAGE = "en"  # that of the sentences in the code
TRANSLATIONS = ("de", "es", "fr", "ja", "pt")  # each has a catalog
LANGUAGES = (SOURCE_LANGUAGE, *TRANSLATIONS)
CATALOGS = Path(__file__).parent / "locale"
MAX_LENGTH = 40  # characters of a tag or a name

_TAG = re.compile(r"([a-z]{2,3})(?:[-_.@][a-z0-9-]+)*")
_language: ContextVar[str] = ContextVar("language", default=SOURCE_LANGUAGE)


@contextmanager
def use_language(language: str) -> Iterator[None]:
    """Translate into a language within the context; one without a catalog means English."""
    token = _language.set(language if language in TRANSLATIONS else SOURCE_LANGUAGE)
    try:
        yield
    finally:
        _language.reset(token)


def get_language() -> str:
    """The active language."""
    return _language.get()


def N_(message: str) -> str:  # noqa: N802 - gettext's name, by which catalogs are extracted
    """Mark a sentence that is translated later, where it is shown."""
    return message


def gettext(message: str) -> str:
    """A sentence in the active language; an untranslated one in English."""
    language = _language.get()
    return message if language == SOURCE_LANGUAGE or not message else load_catalog(language).gettext(message)


def ngettext(singular: str, plural: str, number: int) -> str:
    """One of two sentences, as the number needs it in the active language."""
    language = _language.get()
    if language == SOURCE_LANGUAGE:
        return singular if number == 1 else plural
    return load_catalog(language).ngettext(singular, plural, number)


def list_translations(message: str) -> frozenset[str]:
    """A sentence in all languages, to recognize it in a stored text."""
    return frozenset({message, *(load_catalog(translation).gettext(message) for translation in TRANSLATIONS)})


@cache
def load_catalog(language: str) -> standard_gettext.NullTranslations:
    """The catalog of a language, compiled when it is first needed."""
    compiled = BytesIO()
    with find_catalog(language).open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return standard_gettext.GNUTranslations(compiled)


def find_catalog(language: str) -> Path:
    """The file with the translations of a language."""
    return CATALOGS / language / "LC_MESSAGES" / "threadlore.po"


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
