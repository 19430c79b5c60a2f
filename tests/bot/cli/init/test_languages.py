from __future__ import annotations

import pytest

from bot.cli.init.languages import find_problem, propose_languages


@pytest.mark.parametrize(
    ("environment", "proposed"),
    [
        ({}, ""),
        ({"LANG": "C.UTF-8"}, ""),
        ({"LANG": "en_GB.UTF-8"}, ""),
        ({"LANG": "de_AT.UTF-8"}, "de,en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "ja_JP.UTF-8"}, "ja,en"),
        ({"LANG": "pt"}, "pt,en"),
    ],
)
def test_the_language_of_the_system_is_proposed(environment: dict[str, str], proposed: str) -> None:
    assert propose_languages(environment) == proposed


def test_an_unknown_language_is_asked_for_again() -> None:
    assert find_problem("de,en") == ""
    assert "Known are" in find_problem("deutsch")
