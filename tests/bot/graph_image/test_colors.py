from __future__ import annotations

from bot.graph_image.colors import KNOWN, OTHER, PAPER, colours, tinted


def test_a_well_known_type_always_has_its_own_colour() -> None:
    assert colours(["person", "location"]) == {"person": KNOWN["person"], "location": KNOWN["location"]}
    assert len(set(KNOWN.values())) == len(KNOWN)


def test_types_of_a_models_invention_get_colours_of_their_own() -> None:
    made = colours(["vessel", "permit", "vessel"])
    assert len({*made.values(), *KNOWN.values()}) == len(KNOWN) + 2


def test_no_type_and_rare_types_share_the_quiet_colour() -> None:
    made = colours(["", *(f"type{n}" for n in range(20))])
    assert made[""] == OTHER
    assert sum(colour == OTHER for colour in made.values()) >= 10


def test_a_tint_lies_between_the_colour_and_paper() -> None:
    assert tinted("#3767d6", 1) == "#3767d6"
    assert tinted("#3767d6", 0) == PAPER
