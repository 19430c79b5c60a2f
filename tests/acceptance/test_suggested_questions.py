"""A suggested question: inert, within what its readers may read, and asked by a press that outlives a restart."""

from __future__ import annotations

from typing import Any

import pytest

from bot.platform.events import ButtonPressed
from bot.texts.suggestions import ALREADY_ASKED
from tests.support.town.live_bot import LiveBot
from tests.support.town.protocol import BotPost, TownFile

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECTIONS = {
    "Fees": "A night at the pontoon costs fourteen euros for a boat of up to eight metres, and more for a longer one.",
    "<!channel> @everyone": "What is left on the pontoon is named by whoever calls everybody to the pontoon at once.",
    "[Lost](https://evil.example/?q=1)": "What is left on the pontoon goes to the office, says this part about a link.",
    "Visit www.evil.example": "What is left on the pontoon can be fetched at the address in the heading of this part.",
    "Lost things": "What is left on the pontoon goes to the office, where it is kept for thirty days at most.",
}
ASKED = "What are the fees for a night at the pontoon?"
SUGGESTION = "What about “Lost things” in “Harbour Rules”?"


def _rules(**more: str) -> TownFile:
    parts = [f"## {heading}\n\n{text}" for heading, text in {**SECTIONS, **more}.items()]
    return TownFile("rules.md", "\n\n".join(["# Harbour Rules", *parts]), "text/markdown")


def _suggested(posts: list[BotPost]) -> list[str]:
    return [button for button in posts[-1].buttons if button.startswith("What ")]


@pytest.mark.long
async def test_a_suggestion_is_asked_once_after_a_restart_by_those_who_may(live: LiveBot[Any]) -> None:
    town = live.town
    town.add_channel("square", "ada bob")
    town.add_channel("cellar", "ada", "private")
    await live.read("square", "cellar")
    await town.say("ada", "square", files=[_rules()])
    secret = {"Nightingale plan": "What is left on the pontoon is carried away at night, and nobody but Ada knows it."}
    await town.say("ada", "cellar", files=[_rules(**secret)])
    live.script_answer("the fees", "A night at the pontoon costs fourteen euros [1].").set()
    live.script_answer("Lost things", "What is left goes to the office [1].").set()
    await live.wait_until_idle()
    [shown] = posts = await live.posts(asked := await town.ask("ada", "square", ASKED))
    assert _suggested(posts) == [SUGGESTION]
    hidden = await live.posts(await town.ask("ada", "cellar", ASKED))
    await live.restart()
    await live.click("bob", shown, SUGGESTION)
    [_, answer] = town.posts(asked)
    assert SUGGESTION in answer.text
    assert "goes to the office" in answer.text
    assert ALREADY_ASKED in await live.click("bob", shown, SUGGESTION)
    assert len(town.posts(asked)) == 2
    # Bob presses what he cannot see.
    stored = await live.bot.store.answers.get_latest(town.location("cellar").room, "")
    assert stored is not None
    assert stored.suggestions == tuple(_suggested(hidden))
    bob, before = town.person("bob").id, town.bot_text("ada")
    await live.bot.receive(ButtonPressed("k1", stored.location, str(bob), "suggestion", f"{stored.id}:0:0"), "k1")
    await live.wait_until_idle()
    assert town.bot_text("ada") == before
    assert "Nightingale" not in town.bot_text("bob")
    assert list(town.pings) == []
