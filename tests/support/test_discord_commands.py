"""What the fake takes as application commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.discord_server import FakeDiscord
from tests.support.discord_server.api_caller import open_caller

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server.api_caller import ApiCaller


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as fake:
        fake.rates.overall = type(fake.rates.overall)(10_000, 1.0)
        yield fake


@pytest.fixture
async def call(fake: FakeDiscord) -> AsyncIterator[ApiCaller]:
    async with open_caller(fake) as caller:
        yield caller


def command(**parts: Any) -> dict[str, Any]:
    return {"name": "ask", "description": "Ask"} | parts


def option(**parts: Any) -> dict[str, Any]:
    return {"type": 3, "name": "question", "description": "What"} | parts


def choices(count: int, name: str = "x") -> list[dict[str, str]]:
    return [{"name": f"{name}{at}", "value": f"{at}"} for at in range(count)]


def with_options(*options: dict[str, Any]) -> dict[str, Any]:
    return command(options=list(options))


BAD = [
    (command(name="Ask"), "0.name", "APPLICATION_COMMAND_INVALID_NAME"),
    (command(name="a b"), "0.name", "STRING_TYPE_REGEX"),
    (command(name="x" * 33), "0.name", "STRING_TYPE_REGEX"),
    (command(description=""), "0.description", "BASE_TYPE_BAD_LENGTH"),
    (command(description="x" * 101), "0.description", "BASE_TYPE_BAD_LENGTH"),
    (with_options(*[option(name=f"o{at}") for at in range(26)]), "0.options", "BASE_TYPE_MAX_LENGTH"),
    (with_options(option(choices=choices(26))), "0.options.0.choices", "BASE_TYPE_MAX_LENGTH"),
    (with_options(option(choices=choices(1, "x" * 100))), "0.options.0.choices.0.name", "BASE_TYPE_BAD_LENGTH"),
    (
        with_options(option(), option(name="b", required=True)),
        "0.options.1",
        "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
    ),
    (with_options(option(), option()), "0.options.1.name", "APPLICATION_COMMAND_OPTIONS_NAME_INVALID"),
    (
        with_options(option(choices=choices(1), autocomplete=True)),
        "0.options.0",
        "APPLICATION_COMMAND_AUTOCOMPLETE_CHOICES",
    ),
    (command(type=3, name="Add"), "0.description", "APPLICATION_COMMAND_DESCRIPTION_NOT_ALLOWED"),
    (
        with_options(*[option(name=f"o{at}", choices=choices(25, "x" * 90)) for at in range(4)]),
        "0",
        "APPLICATION_COMMAND_TOO_LARGE",
    ),
]


@pytest.mark.parametrize(("body", "path", "error"), BAD, ids=[f"{path} {error}" for _, path, error in BAD])
async def test_a_limit_of_commands_is_enforced(
    fake: FakeDiscord, call: ApiCaller, body: dict[str, Any], path: str, error: str
) -> None:
    where = f"/applications/{fake.world.app.id}/commands"
    assert await call.invalid_field("PUT", where, [body]) == (path, error)
    assert await call("GET", where) == []


async def test_names_are_unique_and_only_so_many(fake: FakeDiscord, call: ApiCaller) -> None:
    where = f"/applications/{fake.world.app.id}/commands"
    twice = await call.invalid_field("PUT", where, [command(), command()])
    assert twice == ("1.name", "APPLICATION_COMMANDS_DUPLICATE_NAME")
    assert await call.code("PUT", where, [command(name=f"c{at}") for at in range(101)]) == 30032


async def test_only_new_commands_count_against_the_200_of_a_day(fake: FakeDiscord, call: ApiCaller) -> None:
    club = fake.guild("Maker Club")
    where = f"/applications/{fake.world.app.id}/guilds/{club.id}/commands"
    first = await call("PUT", where, [command(), command(name="status")])
    for words in ("a", "b", "c"):
        again = await call("PUT", where, [command(description=words), command(name="status")])
    assert [one["id"] for one in again] == [one["id"] for one in first]
    assert again[0]["version"] != first[0]["version"]
    assert len(fake.world.creates[club.id]) == 2
    for at in range(198):
        await call("PUT", where, [command(name=f"c{at}")])
    assert await call.code("PUT", where, [command(name="one-more")]) == 30034
    fake.clock.advance(24 * 3600 + 1)
    assert await call.code("PUT", where, [command(name="one-more")]) == 0


async def test_commands_are_listed_edited_and_deleted_one_by_one(fake: FakeDiscord, call: ApiCaller) -> None:
    where = f"/applications/{fake.world.app.id}/commands"
    made = await call("POST", where, command())
    assert call.status == 201
    edited = await call("PATCH", f"{where}/{made['id']}", {"description": "Ask me"})
    assert (edited["id"], edited["description"]) == (made["id"], "Ask me")
    await call("DELETE", f"{where}/{made['id']}")
    assert await call.code("GET", f"{where}/{made['id']}") == 10063
