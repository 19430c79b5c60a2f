"""What a person uploads outside of the chat is theirs alone, and goes with them."""

from __future__ import annotations

import pytest

from bot.errors import NotAllowed
from bot.permissions.audience import personal_space
from bot.platform.models import Location
from bot.store import Subject
from engine.errors import InvalidDocument
from engine.models import Document, Passage, Scope
from tests.support.bot_fixture import BotFixture

ADA = Subject("slack", "T1", "ada")
OWN = personal_space("slack", "T1", "ada")
OTHERS = Location("slack", "T1", "roof")


async def add(bot: BotFixture, *texts: str, name: str = "tiles.txt") -> list[bool]:
    """Add a file of these parts; returns what changed."""
    file = await bot.ingest_service.open_personal_file(ADA, name)
    keys = [f"{file.key}#{number}" if number else file.key for number, _ in enumerate(texts)]
    found = [
        await file.add(Document(key, file.space, file.room, name, (Passage("1", text),)))
        for key, text in zip(keys, texts, strict=True)
    ]
    return [*found, await file.finish(keys)]


async def titles(bot: BotFixture) -> list[str]:
    return [each.title for each in await bot.engine.documents.list(Scope.of(OWN))]


async def test_an_upload_is_found_by_its_person_and_by_nobody_else(bot: BotFixture, roof: Location) -> None:
    await add(bot, "The tiles come on Monday.")
    scopes = [await bot.context.audience.scope_for_person(roof, name) for name in ("ada", "bob")]
    found = [[each.title for each in await bot.engine.documents.list(scope)] for scope in scopes]
    assert found == [["tiles.txt"], []]


async def test_the_same_name_replaces_and_parts_that_are_gone_are_forgotten(bot: BotFixture) -> None:
    assert await add(bot, "Monday.", "Part two.") == [True, True, False]
    assert await add(bot, "Monday.", "Part two.") == [False, False, False]
    assert await add(bot, "Tuesday.") == [True, True]
    await add(bot, "Wednesday.", name="other.txt")
    assert await titles(bot) == ["other.txt", "tiles.txt"]


async def test_a_forgotten_upload_can_be_uploaded_again(bot: BotFixture) -> None:
    await add(bot, "Monday.")
    late = await bot.ingest_service.open_personal_file(ADA, "tiles.txt")
    await bot.ingest_service.forget_document(late.key)
    for key in (late.key, f"{late.key}#part-2"):
        with pytest.raises(InvalidDocument):  # this one was under way when it was forgotten
            await late.add(Document(key, late.space, late.room, "tiles.txt", (Passage("1", "Monday."),)))
    assert await titles(bot) == []
    assert await add(bot, "Monday.") == [True, False]
    assert await titles(bot) == ["tiles.txt"]


async def test_uploads_go_with_their_person_who_adds_no_more(bot: BotFixture) -> None:
    await add(bot, "Monday.")
    late = await bot.ingest_service.open_personal_file(ADA, "late.txt")
    await bot.forget_person("ada")
    assert await titles(bot) == []
    with pytest.raises(NotAllowed):
        await add(bot, "Monday.")
    with pytest.raises(NotAllowed):
        await late.add(Document(late.key, late.space, late.room, "late.txt", (Passage("1", "Monday."),)))
