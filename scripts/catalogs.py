"""Renew the template of the bot's sentences and merge it into the catalogs.

python -m scripts.catalogs prints the sentences that a catalog lacks.
"""

from __future__ import annotations

from bot.i18n import CATALOGS, TRANSLATIONS, find_catalog
from tests.support.catalogs import extract_messages, list_flaws, read_catalog, write_catalog

TEMPLATE = CATALOGS / "threadlore.pot"


def main() -> None:
    """Write the template and the catalogs."""
    template = extract_messages()
    write_catalog(TEMPLATE, template)
    for language in TRANSLATIONS:
        catalog = read_catalog(language)
        catalog.update(template, no_fuzzy_matching=True)
        write_catalog(find_catalog(language), catalog)
        for flaw in list_flaws(catalog, template):
            print(f"{language}: {flaw}")


if __name__ == "__main__":
    main()
