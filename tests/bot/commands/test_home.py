from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.commands.home import build_home_card
from bot.platform.models import Button
from tests.bot.commands.conftest import NOW, store, workspace

if TYPE_CHECKING:
    from bot.platform.models import Card
    from tests.bot.commands.conftest import Workspace

__all__ = ["store", "workspace"]


async def page(workspace: Workspace, person: str) -> Card:
    return await build_home_card(workspace.context, "slack", "T1", person, NOW)


async def test_the_page_lists_what_this_person_may_read(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina sells tickets.")
    await workspace.say("ada", "Otto hides the treasure.", workspace.attic)
    bob, ada = await page(workspace, "bob"), await page(workspace, "ada")
    assert "1 document, 1 passage" in bob.text
    assert re.search(r"; \d+ entit(y|ies), \d+ relations?\.", bob.text)
    assert not re.search(r"\d+ (name|link)", bob.text)
    assert "- **#square**, last message 1 day ago" in bob.text
    assert "attic" not in bob.text
    assert "2 documents, 2 passages" in ada.text
    assert "- **#attic**" in ada.text


async def test_a_guest_sees_only_channels_that_he_is_in(workspace: Workspace) -> None:
    assert "I don't read any channel that you can read" in (await page(workspace, "gus")).text
    workspace.platform.add_channel("YARD", "ada", "gus")
    await workspace.context.store.channels.upsert(workspace.platform.place("YARD"), "yard")
    text = (await page(workspace, "gus")).text
    assert "#yard" in text
    assert "#square" not in text


async def test_a_channel_that_nobody_answers_for_is_left_out(workspace: Workspace) -> None:
    workspace.platform.channels.pop("ATTIC")
    assert "#attic" not in (await page(workspace, "ada")).text


async def test_one_can_be_forgotten_from_the_page(workspace: Workspace) -> None:
    assert (await page(workspace, "bob")).buttons == (Button("Forget me", "forget", "me"),)
    await workspace.command("bob", "forget-me")
    after = await page(workspace, "bob")
    assert after.buttons == ()
    assert "`/threadlore remember-me`" in after.text
