from __future__ import annotations

import pytest

from bot.cli.init.languages import find_problem, propose_languages


@pytest.mark.parametrize(
    ("locale", "proposed"),
    [("", ""), ("C", ""), ("en_GB", ""), ("de_AT", "de,en"), ("ja_JP.UTF-8", "ja,en"), ("pt", "pt,en")],
)
def test_the_language_of_the_system_is_proposed(locale: str, proposed: str) -> None:
    assert propose_languages(locale) == proposed


def test_an_unknown_language_is_asked_for_again() -> None:
    assert find_problem("de,en") == ""
    assert "Known are" in find_problem("deutsch")
