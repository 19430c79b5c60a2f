from __future__ import annotations

import pytest

from bot.graph_image.fonts import DEFAULT_FONT, drawable_text, font_families, truncate_name, wrap_label
from bot.text.terminal import display_width


def test_a_long_name_is_shortened_to_its_columns() -> None:
    assert truncate_name("Ada") == "Ada"
    made = truncate_name("The Honourable Company of Harbour Pilots of Ploverness")
    assert display_width(made) <= 34
    assert made.endswith("…")


def test_wide_letters_count_twice() -> None:
    assert display_width(truncate_name("東" * 40)) <= 34


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("Kiosk", "Kiosk"),
        ("Harbour Cooperative of Ploverness", "Harbour Cooperative\nof Ploverness"),
        ("Donaudampfschifffahrt", "Donaudampfschifffahrt"),
    ],
)
def test_a_label_is_broken_where_its_halves_are_even(label: str, lines: str) -> None:
    assert wrap_label(label) == lines


@pytest.mark.parametrize("name", ["Ada Lovelace", "Анна Каренина", "Παναγιώτης", "مدينة", "Łódź"])
def test_usual_scripts_need_only_the_font_that_is_always_there(name: str) -> None:
    assert drawable_text(name, "№ 1") == name
    assert font_families(name) == [DEFAULT_FONT]


def test_letters_that_nobody_can_draw_are_left_out_and_a_name_of_them_gets_a_number() -> None:
    unknown = "\U0001e900\U0001e901\U0001e902"  # Adlam: no font of usual machines has it
    if font_families(unknown) != [DEFAULT_FONT, ""]:
        pytest.skip("this machine has even these letters")
    assert drawable_text(unknown, "№ 4") == "№ 4"
    assert drawable_text(f"Rocket {unknown[0]}", "№ 4") == "Rocket"


def test_invisible_letters_are_left_out() -> None:
    assert drawable_text("A\u200bd\u202ea", "№ 1") == "Ada"
