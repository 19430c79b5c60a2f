"""Each catalog translates every sentence of the code, with its placeholders and marks."""

from __future__ import annotations

import pytest

from bot.i18n import CATALOGS, TRANSLATIONS
from tests.support.catalogs import extract_messages, list_flaws, read_catalog


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_every_sentence_is_translated_with_its_placeholders(language: str) -> None:
    flaws = list(list_flaws(read_catalog(language), extract_messages()))
    assert not flaws, "make catalogs adds new sentences to the catalogs; then translate them"


def test_there_is_a_catalog_for_each_language_and_no_other() -> None:
    assert {path.name for path in CATALOGS.iterdir() if path.is_dir()} == set(TRANSLATIONS)
    assert all(read_catalog(language).locale_identifier == language for language in TRANSLATIONS)
