"""Forms: their parts, and what is wrong with answers."""

from __future__ import annotations

import pytest

from bot.platform.forms import Form, FormField, FormOption, find_errors

MODE = FormField("mode", "Mode", "choice", options=(FormOption("mix", "Mix"),))
FIELDS = (FormField("title", "Title", required=True, max_length=5), MODE, FormField("links", "Links", "switch"))


def test_a_form_with_too_many_fields_is_shown_in_parts() -> None:
    form = Form("settings", "Settings", tuple(FormField(f"f{number}", "F") for number in range(9)), text="Why")
    assert [len(form.get_part(number, 5).fields) for number in (1, 2, 3)] == [4, 4, 1]
    assert form.get_part(3, 5).numbered_title == "Settings (3/3)"
    assert form.get_part(99, 5) == form.get_part(3, 5)
    assert form.get_part(1, 40).numbered_title == "Settings"


@pytest.mark.parametrize(
    ("answers", "wrong"),
    [
        ({"title": "Roof", "mode": "mix", "links": "on"}, set()),
        ({"title": " "}, {"title"}),
        ({"title": "Roof beams"}, {"title"}),
        ({"mode": "rm -rf", "links": "maybe"}, {"mode", "links"}),
        ({"mode": "", "unknown": "x"}, set()),
    ],
)
def test_answers_are_checked_by_field(answers: dict[str, str], wrong: set[str]) -> None:
    assert find_errors(FIELDS, answers).keys() == wrong
