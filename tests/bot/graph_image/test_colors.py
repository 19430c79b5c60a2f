from __future__ import annotations

from bot.graph_image.canvas import BACKGROUND_COLOR, OTHER_COLOR, TYPE_COLORS, assign_colors, tint_color


def test_a_well_known_type_always_has_its_own_colour() -> None:
    assert assign_colors(["person", "location"]) == {
        "person": TYPE_COLORS["person"],
        "location": TYPE_COLORS["location"],
    }
    assert len(set(TYPE_COLORS.values())) == len(TYPE_COLORS)


def test_types_of_a_models_invention_get_colours_of_their_own() -> None:
    made = assign_colors(["vessel", "permit", "vessel"])
    assert len({*made.values(), *TYPE_COLORS.values()}) == len(TYPE_COLORS) + 2


def test_no_type_and_rare_types_share_the_quiet_colour() -> None:
    made = assign_colors(["", *(f"type{n}" for n in range(20))])
    assert made[""] == OTHER_COLOR
    assert sum(colour == OTHER_COLOR for colour in made.values()) >= 10


def test_a_tint_lies_between_the_colour_and_paper() -> None:
    assert tint_color("#3767d6", 1) == "#3767d6"
    assert tint_color("#3767d6", 0) == BACKGROUND_COLOR
