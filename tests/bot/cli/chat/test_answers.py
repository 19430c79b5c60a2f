"""What the first command of a newcomer shows."""

from __future__ import annotations

import pytest
import structlog
from typer.testing import CliRunner

from bot.__main__ import app

ANSWERS = (
    "A return ticket on the ferry costs €8.20",
    "Permit 17-B is held by Odile Marchbank.",
    "On a Saturday you find Odile Marchbank at the oyster hatch",
    "Nothing I can use here says this outright.",
)


@pytest.mark.long
def test_the_demo_answers_three_questions_and_says_that_nothing_answers_the_fourth() -> None:
    logging = structlog.get_config()
    shown = CliRunner().invoke(app, ["demo"], env={"COLUMNS": "2000"}).stdout
    structlog.configure(**logging)
    places = [shown.find(answer) for answer in ANSWERS]
    assert places == sorted(places), shown
    assert places[0] > 0, shown
