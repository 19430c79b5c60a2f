"""The page of decisions and tasks shows what the visitor can read, filtered, and as a spreadsheet."""

from __future__ import annotations

import pytest

from tests.adapters.web.pages.asking.conftest import Visitors
from tests.support.builders import ROOF


@pytest.fixture
async def town(visitors: Visitors) -> Visitors:
    """A decision and a task in the open channel, and a decision in the closed one, which Dan reads."""
    await visitors.bot.post_indexed(ROOF, "cleo", "We decided to paint the orchard fence green.")
    await visitors.bot.post_indexed(ROOF, "bob", "Cleo will order the <b>paint</b> by Friday.")
    await visitors.bot.post_indexed(visitors.attic, "dan", "We decided to sell the Zander.")
    visitors.become("bob")
    return visitors


async def show(visitors: Visitors, query: str = "") -> str:
    response = await visitors.client.get(f"/decisions?{query}")
    assert response.status_code == 200
    return response.text


async def test_a_visitor_sees_what_was_decided_where_they_read(town: Visitors) -> None:
    page = await show(town)
    assert "paint the orchard fence green" in page
    assert "&lt;b&gt;paint&lt;/b&gt; by Friday" in page
    assert "Zander" not in page
    town.become("dan")
    assert "Zander" in await show(town)


@pytest.mark.parametrize(
    ("query", "decision", "task"),
    [("kind=task", False, True), ("kind=decision", True, False), ("state=replaced", False, False)],
)
async def test_it_is_filtered(town: Visitors, query: str, *, decision: bool, task: bool) -> None:
    page = await show(town, query)
    assert [words in page for words in ("orchard fence", "by Friday")] == [decision, task]


async def test_an_unknown_day_is_a_sentence_on_the_page(town: Visitors) -> None:
    assert "“soonish” is no time." in await show(town, "since=soonish")


async def test_it_is_downloaded_as_a_spreadsheet(town: Visitors) -> None:
    response = await town.client.get("/decisions.csv?kind=decision")
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    head, row = response.text.splitlines()
    assert (head.split(",")[0], "orchard fence" in row) == ("kind", True)
