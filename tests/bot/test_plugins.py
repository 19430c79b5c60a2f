"""What is not installed is named together with what is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.plugins import load_adapter, load_door, load_setup
from engine.errors import NotFound


@pytest.mark.parametrize("load", [load_adapter, load_setup])
def test_an_unknown_platform_is_told_those_that_are_installed(load: Callable[[str], object]) -> None:
    with pytest.raises(NotFound, match="There is no adapter “slakc”") as refused:
        load("slakc")
    assert "discord" in refused.value.hint
    assert "slack" in refused.value.hint


def test_an_unknown_door_is_told_the_doors() -> None:
    with pytest.raises(NotFound) as refused:
        load_door("wbe")
    assert "web" in refused.value.hint
