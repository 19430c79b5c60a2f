"""People are told of what is new in sources of documents: once, cited, and only who reads the source."""

from __future__ import annotations

import random
from dataclasses import replace
from hashlib import sha256

import pytest

from bot.ingest.documents import ConversationDocuments
from bot.ingest.sources.removal import SourceRemoval
from bot.permissions.audience import workspace_space
from bot.platform.models import Location
from bot.store.schedules.sources import SourceRecord
from tests.bot.answers.watches.test_notifier import notifier, run, told, watch
from tests.support.bot_fixture import BotFixture, run_before
from tests.support.memory_source import MemorySource, synchronize

OPEN = SourceRecord("s1", "notes", "memory", "memory:", (), workspace_space("slack", "T1"), "source:s1:notes")
FORMER = {"former.md": "The kettle is old."}


def in_channel(place: Location) -> SourceRecord:
    return replace(OPEN, space=place.room, room=place.room)


async def begin(bot: BotFixture, record: SourceRecord = OPEN) -> MemorySource:
    """A source that was read once, while Ada waited for the kettle and a decision about the fence."""
    await watch(bot, "ada", "mentioned", "kettle")
    await watch(bot, "ada", "decided", "orchard fence")
    source = MemorySource(dict(FORMER))
    await synchronize(bot, source, configured=record)
    return source


async def change(bot: BotFixture, source: MemorySource, **texts: str) -> None:
    source.texts |= {f"{name}.md": text for name, text in texts.items()}
    await synchronize(bot, source)
    await run(bot)


async def list_rows(bot: BotFixture) -> list[str]:
    rows = [
        await bot.store.files._database.fetch_all(f"SELECT message FROM {table}")
        for table in ("watch_candidate", "watch_notice")
    ]
    return [message for found in rows for (message,) in found]


async def test_what_a_source_has_at_first_is_no_news_and_what_comes_later_is_told_once(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    source = await begin(bot)
    await run(bot)
    assert told(bot, "ada") == []
    for _ in range(2):
        await change(bot, source, minutes="Present: Bob.\n\nThe kettle leaks.")
    [reply] = told(bot, "ada")
    assert "The kettle leaks." in reply.text
    assert "minutes.md" in reply.text
    assert "is old" not in reply.text
    assert reply.closing is not None
    assert [source.title.partition(" ")[0] for source in reply.closing.sources] == ["minutes.md"]


async def test_of_a_changed_document_only_what_is_new_is_told(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    source = await begin(bot)
    await change(bot, source, former="The kettle is old.\n\nWe decided to paint the orchard fence green.")
    [reply] = told(bot, "ada")
    assert "Decided" in reply.text
    assert "paint the orchard fence green" in reply.text
    assert "kettle" not in reply.text
    await change(bot, source, former="The kettle is old.\n\nThe kettle has a new lid.")
    assert "new lid" in told(bot, "ada")[-1].text
    assert "is old" not in told(bot, "ada")[-1].text
    assert not any("fence" in message for message in await list_rows(bot))
    assert len([message for message in await list_rows(bot) if "former" in message]) == 1


async def test_a_value_that_a_source_replaces_is_told(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    source = await begin(bot, in_channel(yard))
    await bot.post_indexed(yard, "bob", "The rent of the barn is 600 euros.")
    await watch(bot, "ada", "changed", "rent of the barn")
    await change(bot, source, letter="The rent of the barn is raised to 640 euros.")
    assert "640" in told(bot, "ada")[0].text


async def test_only_who_reads_the_channel_of_a_source_is_told(bot: BotFixture) -> None:
    vault = await bot.join("VAULT", "bob", "cleo", kind="closed")
    await bot.join("YARD", "ada", "bob", "cleo")
    await watch(bot, "cleo", "mentioned", "kettle")
    source = await begin(bot, in_channel(vault))
    await change(bot, source, minutes="The kettle leaks.")
    assert told(bot, "ada") == []
    assert "The kettle leaks." in told(bot, "cleo")[0].text


async def test_a_source_of_another_workspace_or_of_the_terminal_is_for_nobody(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    for number, space in enumerate((workspace_space("slack", "T2"), "console:local")):
        record = replace(OPEN, id=f"x{number}", space=space, room=f"source:x{number}:notes")
        source = MemorySource(dict(FORMER))
        await watch(bot, "ada", "mentioned", "kettle")
        await synchronize(bot, source, configured=record)
        source.texts["minutes.md"] = "The kettle leaks."
        await synchronize(bot, source, configured=record)
        await run(bot)
        assert told(bot, "ada") == []
        assert space != "console:local" or await list_rows(bot) == []


async def test_guests_are_told_of_no_source_of_the_workspace(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    bot.platform.add_guest("ada")
    source = await begin(bot)
    await change(bot, source, minutes="The kettle leaks.")
    assert told(bot, "ada") == []


async def test_a_document_that_is_gone_leaves_no_trace_and_takes_back_what_was_told(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    source = await begin(bot)
    await change(bot, source, minutes="The kettle leaks.")
    del source.texts["minutes.md"]
    await change(bot, source)
    await bot.correct_answers()
    [reply] = told(bot, "ada")
    assert "kettle leaks" not in reply.text
    assert await list_rows(bot) == []


async def test_a_source_that_is_removed_while_it_is_compared_leaves_no_trace(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    source = await begin(bot)
    source.texts["minutes.md"] = "The kettle leaks."
    await synchronize(bot, source)
    record = await bot.store.sources.get(OPEN.id)
    assert record is not None
    removal = SourceRemoval(bot.context, ConversationDocuments(bot.context))
    run_before(bot.store.watches, "finish_candidate", lambda: removal.remove(record))
    await run(bot)
    assert told(bot, "ada") == []
    assert await list_rows(bot) == []


async def test_nothing_is_compared_before_it_is_stored(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    source = await begin(bot)
    source.texts["minutes.md"] = "The kettle leaks."
    run_before(bot.engine.documents, "add", notifier(bot, 0.0).compare)
    await synchronize(bot, source)
    await run(bot)
    assert "The kettle leaks." in told(bot, "ada")[0].text


async def test_what_a_process_noted_before_it_ended_is_told_by_the_next(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    source = await begin(bot)
    source.texts["minutes.md"] = "The kettle leaks."

    async def end() -> None:
        raise RuntimeError("killed")

    run_before(bot.store.answers, "redact", end)
    with pytest.raises(RuntimeError):
        await synchronize(bot, source)
    assert await bot.store.watches.list_candidates(9) == []
    await synchronize(bot, source)
    await run(bot)
    assert "The kettle leaks." in told(bot, "ada")[0].text


async def test_no_document_is_read_again_where_nobody_waits(bot: BotFixture) -> None:
    source = MemorySource(dict(FORMER))
    await synchronize(bot, source, configured=OPEN)
    source.texts["former.md"] = "The kettle leaks."
    await synchronize(bot, source)
    assert await list_rows(bot) == []


@pytest.mark.parametrize("seed", range(3))
async def test_in_random_sources_people_are_told_exactly_what_they_can_read(bot: BotFixture, seed: int) -> None:
    chance = random.Random(seed)
    people = ("ada", "bob", "cleo", "dan")
    bot.platform.add_channel("HALL", *people)
    records, sources, readers = [OPEN], [MemorySource(dict(FORMER))], [set(people)]
    for number in range(3):
        members = chance.sample(people, chance.randint(1, 3))
        place = await bot.join(f"R{number}", *members, kind=chance.choice(("open", "closed")))
        records.append(replace(in_channel(place), id=f"c{number}"))
        sources.append(MemorySource(dict(FORMER)))
        readers.append(set(people) if bot.platform.channels[place.channel].kind == "open" else set(members))
    for person in people:
        await watch(bot, person, "mentioned", "kettle")
    for record, source in zip(records, sources, strict=True):
        await synchronize(bot, source, configured=record)
    wanted = {person: set[str]() for person in people}
    for number in range(8):
        at = chance.randrange(len(records))
        name = chance.choice(("former.md", f"n{number}.md"))
        sources[at].texts[name] = f"{sources[at].texts.get(name, '')}\n\nThe kettle has the number K{number}."
        await synchronize(bot, sources[at], configured=records[at])
        for person in readers[at]:
            wanted[person].add(f"K{number}")
        await run(bot)
        for person in people:
            text = " ".join(state for each in told(bot, person) for state in each.states)
            assert {f"K{one}" for one in range(8) if f"number K{one}." in text} == wanted[person]


async def test_the_id_of_a_notice_tells_nothing_of_the_sentence(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    source = await begin(bot)
    await change(bot, source, former="The kettle is old.\n\nThe kettle has a dent.")
    [[kept, room, message, id_]] = await bot.store.files._database.fetch_all(
        "SELECT watch, room, message, answer FROM watch_notice"
    )
    assert id_
    assert sha256(f"watch\0{kept}\0{room}\0{message}".encode()).hexdigest()[:20] != id_
