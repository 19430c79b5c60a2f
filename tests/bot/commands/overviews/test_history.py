"""The life of a fact in the chat: in order, with what replaced what, and only from what the asker may read."""

from __future__ import annotations

import random
import re

import pytest

from bot.capabilities.history.queries import renumber
from bot.capabilities.history.requests import GetHistory, HistoryResult
from bot.commands.context import CommandContext
from bot.platform.events import CommandInvoked
from bot.texts.overviews.history import describe_step
from engine.errors import InvalidQuestion
from engine.llm.offline.supersession.history import Step
from tests.bot.commands.conftest import ATTIC, NOW, Workspace
from tests.support.builders import ROOF

pytestmark = pytest.mark.usefixtures("announced")


async def test_steps_come_in_order_each_with_its_message(workspace: Workspace) -> None:
    await workspace.post("ada", "The regatta starts on 3 May.")
    await workspace.post("bob", "The kiosk sells ice.")
    await workspace.post("bob", "The regatta now starts on 10 May instead of 3 May.")
    heading, first, second = (await workspace.text("bob", "history of the regatta")).splitlines()
    assert heading == "**What was said about “the regatta”, the oldest first:**"
    assert re.fullmatch(r"1\. \[.+\]\(https://.+\) Ada: “The regatta starts on 3 May\.” _\(replaced by 2\)_", first)
    assert re.fullmatch(r"2\. \[.+\]\(https://.+\) Bob: “The regatta now .+” _\(replaces 1\)_", second)
    assert await workspace.text("bob", "history zeppelins") == (
        "I found no statements about “zeppelins” that you can read."
    )
    with pytest.raises(InvalidQuestion, match="There is nothing to look for"):
        await workspace.text("bob", "history")


def test_steps_name_only_places_in_the_list_that_is_shown() -> None:
    step = Step("replaced", 7, "The regatta starts on 10 May.", earlier=(4, 12), later=(15,))
    cut = renumber(step, 10)
    assert (cut.earlier, cut.later) == ((2,), (5,))
    assert describe_step(cut) == "replaces 3, replaced by 6"
    assert describe_step(renumber(step, 13)) == "replaced by 3"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
async def test_it_is_the_life_that_those_know_who_never_heard_the_rest(workspace: Workspace, seed: int) -> None:
    chance = random.Random(seed)
    said = {ROOF: list[str](), ATTIC: list[str]()}
    for number in range(8):
        place = chance.choice((ROOF, ATTIC))
        text = chance.choice(
            (f"The regatta starts on {chance.randrange(1, 28)} May.", f"The regatta now costs {number + 20} euros.")
        )
        said[place].append(text)
        await workspace.post("ada", text, place)
    await workspace.engine.wait_until_indexed()
    guest, member = [await _ask(workspace, person) for person in ("bob", "ada")]
    assert {source.room for source in guest.sources} == {ROOF.room}
    assert {step.text for step in guest.steps} == set(said[ROOF])
    assert {step.text for step in member.steps} == {*said[ROOF], *said[ATTIC]}
    places = range(len(guest.steps))
    assert all(at in places for step in guest.steps for at in (*step.earlier, *step.later))


async def _ask(workspace: Workspace, person: str) -> HistoryResult:
    invoked = CommandInvoked("c1", ROOF, person, "history", "regatta", handle="h", time=NOW)
    return await CommandContext.of(workspace, invoked, NOW).get_result(GetHistory("regatta"), HistoryResult)  # type: ignore[arg-type]
