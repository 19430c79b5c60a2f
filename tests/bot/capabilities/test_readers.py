"""Who can find something is said to those who may know of it; names and numbers are for managers."""

from __future__ import annotations

import pytest

from bot.capabilities.caller import Caller
from bot.capabilities.readers.requests import FindReaders, ReadersFound
from bot.capabilities.requests import AtSpace
from bot.capabilities.run import run
from bot.platform.models import Location, Person
from bot.store import Subject
from engine import Document, Passage, Question
from engine.errors import InvalidQuestion, NotFound
from tests.bot.capabilities.conftest import last, run_as
from tests.support.bot_fixture import BotFixture

PEOPLE = ("ada", "bob", "cleo", "gus")


@pytest.fixture
async def places(bot: BotFixture) -> dict[str, Location]:
    """An open channel with a guest, and a closed one; Ada manages the workspace, and is in both."""
    bot.platform.people |= {"ada": Person("ada", "Ada", is_manager=True), "cleo": Person("cleo", "Cleo")}
    bot.platform.people["dora"] = Person("dora", "Dora", is_manager=True)
    bot.platform.add_guest("gus")
    return {
        "hall": await bot.join("HALL", "ada", "bob", "gus"),
        "vault": await bot.join("VAULT", "ada", "bob", kind="closed"),
    }


async def find(bot: BotFixture, person: str, request: FindReaders, place: Location | None = None) -> ReadersFound:
    here = place or Location("slack", "T1", "")
    scope = await bot.context.audience.scope_for_person(here, person)
    caller = Caller("person", Subject("slack", "T1", person), scope, place)
    return last(await run_as(bot.deps, caller, request), ReadersFound)


async def test_a_member_gets_one_sentence_and_a_manager_numbers_and_names(
    bot: BotFixture, places: dict[str, Location]
) -> None:
    vault = FindReaders(channel=places["vault"].room)
    assert await find(bot, "bob", vault) == ReadersFound("Only people who can read #vault can find this.")
    told = await find(bot, "ada", vault)
    assert told.text == "Only people who can read #vault can find this. 2 people: Ada, Bob."
    assert (told.rule, told.count, told.names) == ("", 2, ("Ada", "Bob"))
    hall = await find(bot, "ada", FindReaders(), places["hall"])
    assert hall.text.startswith("Every full member of this workspace and the guests in #hall can find this. 1 guest")
    assert (hall.rule, hall.names) == ("workspace", ("Gus",))
    assert (await find(bot, "cleo", FindReaders(channel="open"))).text.startswith("Every full member of this")
    assert (await find(bot, "cleo", FindReaders())).text.startswith("Only you can find this")


async def test_what_somebody_may_not_know_of_does_not_exist_for_them(
    bot: BotFixture, places: dict[str, Location]
) -> None:
    await bot.post_indexed(places["vault"], "ada", "The key is below the third tile.")
    [secret] = await bot.list_documents(places["vault"])
    unknown = []
    for asker in ("cleo", "gus", "dora"):
        for request in (FindReaders(channel=places["vault"].room), FindReaders(secret.key)):
            with pytest.raises(NotFound) as raised:
                await find(bot, asker, request)
            unknown.append(str(raised.value))
    for request in (FindReaders(channel="slack:T1:NONE"), FindReaders("slack:T1:NONE:window:m1")):
        with pytest.raises(NotFound) as raised:
            await find(bot, "cleo", request)
    assert not any("vault" in text or "Bob" in text for text in unknown)
    with pytest.raises(InvalidQuestion, match="Name one thing"):
        await find(bot, "ada", FindReaders(secret.key, source="none"))


async def test_whoever_is_named_gets_the_answer_and_nobody_else(bot: BotFixture, places: dict[str, Location]) -> None:
    for name, place in places.items():
        await bot.post_indexed(place, "ada", f"The lantern of the {name} is green.")
    for info in [info for place in places.values() for info in await bot.list_documents(place)]:
        told = await find(bot, "ada", FindReaders(info.key))
        named = {name.lower() for name in told.names} | ({"ada", "bob", "cleo"} if told.rule else set())
        found = set()
        for person in PEOPLE:
            scope = await bot.context.audience.scope_for_person(places["hall"], person)
            sources = (await bot.engine.retrieve(Question("Which lantern is green?", scope, mode="naive"))).sources
            found |= {person} if info.key in {source.document for source in sources} else set()
        assert named == found, info.key


async def test_a_space_of_the_terminal_is_for_whoever_uses_it(bot: BotFixture) -> None:
    passage = Passage("1", "The kettle leaks.")
    await bot.engine.documents.add(Document("file:k", "console:local", "files", "kettle.md", (passage,)))
    [said] = [each async for each in run(bot.deps, AtSpace("console:local", FindReaders("kettle.md")))]
    assert said == ReadersFound("Whoever uses the space console:local can find this.")
