from __future__ import annotations

import io

import matplotlib as mpl
import pytest
from PIL import Image

from bot.graph_image.canvas import render_png
from bot.graph_image.model import GraphModel, build_graph_model
from tests.bot.graph_image.town import around

MEGABYTE = 1_000_000


def drawn(first: int, behind: int = 0, tail: str = "") -> GraphModel:
    names = [f"Name {n:02}{tail}" for n in range(first)]
    return build_graph_model(
        around("Middle", names), [around(name, [f"{name} b", f"{name} c"]) for name in names[:behind]]
    )


def picture(of: GraphModel) -> bytes:
    return render_png(of, {node.key: node.name for node in of.nodes})


@pytest.mark.long
@pytest.mark.parametrize(("first", "behind"), [(1, 0), (24, 8)])
def test_a_picture_is_a_png_under_a_megabyte(first: int, behind: int) -> None:
    data = picture(drawn(first, behind))
    assert len(data) < MEGABYTE
    with Image.open(io.BytesIO(data)) as image:
        assert image.format == "PNG"
        assert 1000 < image.width < 4000


@pytest.mark.long
def test_the_fullest_picture_is_under_a_megabyte_too() -> None:
    assert len(picture(drawn(39, tail=" of the Harbour Cooperative"))) < MEGABYTE


def test_the_libraries_own_settings_are_left_alone() -> None:
    before = dict(mpl.rcParams)
    picture(drawn(5))
    assert dict(mpl.rcParams) == before


def test_signs_of_formulas_are_only_signs() -> None:
    made = build_graph_model(around("Price $\\frac{1", ["$x$", "a_b^c", "100%"]))
    assert picture(made).startswith(b"\x89PNG")
