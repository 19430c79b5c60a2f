"""Words that people share in other ways than by typing them are found, where they were posted and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.slack_server import File
from tests.support.slack_server.shapes import CANVAS
from tests.support.town.live_bot import LiveBot

pytestmark = pytest.mark.asyncio(loop_scope="module")
PAGE = "https://tides.example/table"


@pytest.mark.platforms("slack")
async def test_forwarded_messages_canvases_and_previews_are_read(live: LiveBot[Any]) -> None:
    town = live.town
    square, cellar = town.add_channel("square", "ada bob cleo"), town.add_channel("cellar", "ada bob", "private")
    await live.read("square", "cellar")
    ada = town.person("ada")
    secret = await ada.says(cellar, "The pilot boat moves to pier seven on Monday.")
    await live.wait_until_idle()
    assert "pier seven" not in await live.ask("cleo", "square", "Where does the pilot boat move?")

    await ada.forwards(secret, square)
    canvas = b'<div class="quip-canvas-content"><h1>Onboarding</h1><p>The badge lies at the front desk.</p></div>'
    await ada.says(square, "", files=[File("Onboarding", canvas, CANVAS), File("Rota", b"", external_url=PAGE)])
    linked = await ada.says(square, PAGE)
    found = {"from_url": PAGE, "title": "Tide table of Westhaven", "text": "High water on Friday is at 14:20."}
    town.slack.changes.add_previews(square.channel, linked.message, [found])
    await live.wait_until_idle()

    for question, answer in (
        ("Where does the pilot boat move?", "pier seven"),
        ("Where does the badge lie?", "front desk"),
        ("When is high water on Friday in Westhaven?", "14:20"),
        ("Where is the file Rota?", PAGE),
    ):
        assert answer in await live.ask("cleo", "square", question)
    assert [each.message.reactions for each in (linked,)] == [{}]
    private = [entry.text for entry in town.slack.sees(ada, square).entries if "needs" in entry.text]
    assert private == []


@pytest.mark.long
@pytest.mark.platforms("discord")
async def test_titles_of_posts_polls_forwards_and_embeds_are_read(live: LiveBot[Any]) -> None:
    town = live.town
    square, cellar = town.add_channel("square", "ada bob cleo"), town.add_channel("cellar", "ada bob", "private")
    forum = town.add_channel("forum", "ada bob cleo", kind="forum")
    await live.read("square", "cellar", "forum")
    ada = town.person("ada")
    secret = await ada.says(cellar, "The pilot boat moves to pier seven on Monday.")
    secret.embeds = [{"type": "rich", "title": "Tug", "fields": [{"name": "Captain", "value": "Ludmilla"}]}]
    await live.wait_until_idle()
    assert "pier seven" not in await live.ask("cleo", "square", "Where does the pilot boat move?")

    await ada.forwards(secret, square)
    await ada.starts_poll(square, "Where shall the harvest supper be?", ["In the old granary", "At the mill"])
    await ada.posts(forum, "Who repairs the pump of the lock?", "Ask Kowalski on Monday.")
    await live.wait_until_idle()
    for question, answer in (
        ("Where does the pilot boat move?", "pier seven"),
        ("Who is the captain of the tug?", "Ludmilla"),
        ("Where shall the harvest supper be?", "old granary"),
        ("Who repairs the pump of the lock?", "Kowalski"),
    ):
        assert answer in await live.ask("cleo", "square", question)
