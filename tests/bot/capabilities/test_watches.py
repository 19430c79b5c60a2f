"""The list of standing requests says what was found for each of them."""

from __future__ import annotations

from datetime import timedelta

from bot.capabilities.caller import Caller
from bot.capabilities.results import Listing
from bot.capabilities.watches.operations import watches
from bot.capabilities.watches.requests import ListWatches
from bot.store import Subject
from bot.store.schedules.watches import Watch
from engine import Document, Passage, Scope
from tests.support.bot_fixture import BotFixture


async def test_what_was_found_is_listed_also_among_many_newer_messages(bot: BotFixture) -> None:
    start = bot.platform.current_time() - timedelta(days=100)
    await bot.store.watches.add(Watch("w1", "space", "me", "", "mentioned", "kettle", start), 20)
    for number in range(210):
        time = start + timedelta(days=1, hours=number)
        text = f"Note {number}: the barn wall is dry." if number else "The kettle leaks badly."
        passage = Passage("1", text, author="bob", time=time)
        await bot.engine.documents.add(Document(f"me:{number}", "me", "me:files", f"{number}.md", (passage,), time))
    caller = Caller("owner", Subject(space="me"), Scope.of("me"), door="cli")
    [listed] = [each async for each in watches(bot.deps, caller, ListWatches())]
    assert isinstance(listed, Listing)
    [row] = listed.rows
    assert (row[2], row[4], row[5]) == ("kettle", "1", "bob: The kettle leaks badly.")
