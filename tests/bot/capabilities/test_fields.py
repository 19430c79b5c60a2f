"""The fields of a request as doors ask for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import pytest
from pydantic import AfterValidator, Field

from adapters.web.derive import _build_body
from bot.capabilities.fields import REQUIRED, build_request, describe_usage, list_fields, match_words
from bot.capabilities.row import Capability, Surface
from engine.errors import InvalidQuestion


@dataclass(frozen=True, slots=True)
class Paint:
    """Paint something."""

    what: str
    colors: tuple[str, ...] = field(default_factory=lambda: ("red", "blue"))
    coats: Annotated[int, Field(ge=1, le=3)] = 2


def check_color(given: str) -> str:
    raise ValueError(f"“{given}” is no color.")


@dataclass(frozen=True, slots=True)
class Dye:
    """Dye something."""

    color: Annotated[str, AfterValidator(check_color)]


ROW = Capability("paint", Paint, "nowhere:paint", Surface.HTTP)


def test_a_field_is_required_or_has_the_default_of_its_factory() -> None:
    defaults = {each.name: each.default for each in list_fields(ROW)}
    assert defaults == {"what": REQUIRED, "colors": ("red", "blue"), "coats": 2}
    assert describe_usage(ROW) == "paint WHAT [COLORS] [COATS]"


def test_a_request_is_built_of_what_was_given() -> None:
    assert build_request(ROW, {"what": "door"}) == Paint("door")
    assert build_request(ROW, {"what": "door", "colors": ["green"], "coats": "1"}) == Paint("door", ("green",), 1)
    assert match_words(ROW, ["door", "green"]) == {"what": "door", "colors": "green"}


@pytest.mark.parametrize("values", [{}, {"what": "door", "coats": 9}, {"what": "door", "brush": "x"}, {"what": 1}])
def test_what_is_missing_unknown_or_wrong_is_refused_with_the_usage(values: dict[str, object]) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        build_request(ROW, values)
    assert caught.value.hint == "paint WHAT [COLORS] [COATS]"


def test_a_value_is_refused_in_the_words_of_its_check() -> None:
    with pytest.raises(InvalidQuestion, match=r"\A“color”: “loud” is no color\.\Z"):
        build_request(Capability("dye", Dye, "nowhere:dye", Surface.HTTP), {"color": "loud"})


def test_the_body_of_a_route_may_leave_out_what_has_a_default() -> None:
    body = _build_body(ROW)
    assert build_request(ROW, body.model_validate({"what": "door"}).model_dump()) == Paint("door")
    assert body.model_json_schema()["required"] == ["what"]
