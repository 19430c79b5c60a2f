"""Languages by their tags and names; hostile values mean none."""

from __future__ import annotations

import pytest

from bot.i18n import match_language, match_locale

HOSTILE = ["../../x", "de/../../etc", "de\0", "d" * 100_000, "de" * 50, "<@U1>", "日本語" * 40, "-de", "de--é"]


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("de", "de"),
        ("de-DE", "de"),
        ("pt_BR", "pt"),
        ("es-419", "es"),
        ("de_DE.UTF-8", "de"),
        ("de_DE@euro", "de"),
        ("en-US", "en"),
        ("German", "de"),
        ("deutsch", "de"),
        ("Français", "fr"),
        ("日本語", "ja"),
        ("Brazilian Portuguese", "pt"),
        (" Spanish ", "es"),
        ("Dutch", ""),
        ("nl", ""),
        ("C", ""),
        ("short and friendly", ""),
        ("", ""),
    ],
)
def test_a_tag_or_a_name_means_a_language(words: str, language: str) -> None:
    assert match_language(words) == language


@pytest.mark.parametrize("words", HOSTILE)
def test_a_hostile_value_means_none(words: str) -> None:
    assert match_language(words) == ""
    assert match_locale(words) == "en"


def test_a_locale_without_a_catalog_means_english_and_a_missing_one_nothing() -> None:
    assert [match_locale(text) for text in ("nl-NL", "de-AT", "")] == ["en", "de", ""]
