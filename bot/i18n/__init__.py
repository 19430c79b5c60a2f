"""The bot's sentences in the language of their readers: gettext catalogs, and the names of languages."""

from bot.i18n.catalogs import (
    LANGUAGES,
    N_,
    SOURCE_LANGUAGE,
    get_language,
    gettext,
    list_translations,
    ngettext,
    use_language,
)
from bot.i18n.languages import match_language, match_locale

__all__ = [
    "LANGUAGES",
    "N_",
    "SOURCE_LANGUAGE",
    "get_language",
    "gettext",
    "list_translations",
    "match_language",
    "match_locale",
    "ngettext",
    "use_language",
]
