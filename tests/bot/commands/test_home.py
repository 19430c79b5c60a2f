from __future__ import annotations

import re

import pytest

from bot.commands.home import build_home_card
from bot.platform.models import Button, Card
from tests.bot.commands.conftest import ATTIC, NOW, Workspace


async def home_card(workspace: Workspace, person: str) -> Card:
    return await build_home_card(workspace.context, "slack", "T1", person, NOW)


@pytest.mark.parametrize(
    ("person", "shown", "hidden"),
    [
        ("bob", ["1 document, 1 message or page", "- **#roof**, last message 1 day ago"], ["attic"]),
        ("ada", ["2 documents, 2 messages and pages", "- **#roof**", "- **#attic**"], ["yard"]),
        ("gus", ["#yard"], ["#roof", "#attic"]),
        ("gil", ["I don't read any channel that you can read"], ["**#"]),
    ],
    ids=["member of the open channel", "member of both", "guest in another one", "guest in none"],
)
async def test_the_page_lists_what_the_person_may_read(
    workspace: Workspace, person: str, shown: list[str], hidden: list[str]
) -> None:
    await workspace.post("ada", "Mina sells tickets.")
    await workspace.post("ada", "Otto hides the treasure.", ATTIC)
    workspace.platform.add_guest("gil")
    yard = workspace.platform.add_channel("YARD", "gus", kind="closed")
    await workspace.context.store.channels.upsert(yard, "yard")
    text = (await home_card(workspace, person)).text
    assert [each for each in shown if each not in text] == [each for each in hidden if each in text] == []
    assert person != "bob" or re.search(r"; \d+ names?, \d+ relations?\.", text)


async def test_a_channel_that_cannot_be_looked_up_is_left_out(workspace: Workspace) -> None:
    workspace.platform.channels.pop("ATTIC")
    assert "#attic" not in (await home_card(workspace, "ada")).text


async def test_a_person_can_be_forgotten_from_the_page(workspace: Workspace) -> None:
    own = Button("My data", "my-data", "")
    assert (await home_card(workspace, "bob")).buttons == (own, Button("Forget me", "forget", "me"))
    await workspace.command("bob", "forget-me")
    card = await home_card(workspace, "bob")
    assert card.buttons == (own,)
    assert "`/threadlore remember-me`" in card.text
