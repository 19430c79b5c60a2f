from __future__ import annotations

from typing import Any

import pytest

from tests.support.discord_rules.club import Api, Club, buttons

LONG, BAD, CHOICE, REGEX = "BASE_TYPE_MAX_LENGTH", "BASE_TYPE_BAD_LENGTH", "BASE_TYPE_CHOICES", "STRING_TYPE_REGEX"
BUTTON = "components.0.components.0"


@pytest.mark.parametrize(
    ("body", "field", "error"),
    [
        ({"content": "x" * 2001}, "content", LONG),
        ({"nonce": "x" * 26}, "nonce", LONG),
        ({"embeds": [{"title": "x"}]}, "embeds", LONG),
        ({"attachments": [{"id": 0, "description": "x" * 1025}]}, "attachments.0.description", LONG),
        (buttons({}, rows=6), "components", LONG),
        (buttons(*[{}] * 6), "components.0.components", LONG),
        (buttons(), "components.0.components", BAD),
        (buttons({"type": 3}), f"{BUTTON}.type", CHOICE),
        (buttons({"label": "x" * 81}), f"{BUTTON}.label", LONG),
        (buttons({"label": ""}), BUTTON, "BUTTON_COMPONENT_EMPTY"),
        (buttons({"custom_id": "x" * 101}), f"{BUTTON}.custom_id", LONG),
        (buttons({"custom_id": ""}), f"{BUTTON}.custom_id", BAD),
        (buttons({}, {}), "components", "COMPONENT_CUSTOM_ID_DUPLICATED"),
        ({"allowed_mentions": {"parse": ["all"]}}, "allowed_mentions.parse.0", CHOICE),
        ({"message_reference": {"message_id": "1"}}, "message_reference", "REPLIES_UNKNOWN_MESSAGE"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_message_beyond_a_limit_is_refused(club: Club, body: dict[str, Any], field: str, error: str) -> None:
    assert await club.api.invalid_field("POST", club.path, {"content": "x"} | body) == (field, error)
    assert club.shop.messages == {}


def command(**parts: Any) -> dict[str, Any]:
    return {"name": "ask", "description": "Ask"} | parts


def option(**parts: Any) -> dict[str, Any]:
    return {"type": 3, "name": "question", "description": "What"} | parts


def choices(count: int, length: int = 1) -> list[dict[str, str]]:
    return [{"name": f"{at}".ljust(length, "x"), "value": f"{at}"} for at in range(count)]


def numbered(count: int, **parts: Any) -> dict[str, Any]:
    return command(options=[option(name=f"o{at}", **parts) for at in range(count)])


FIRST_OPTION = "commands.0.options.0"


@pytest.mark.parametrize(
    ("bodies", "field", "error"),
    [
        ([command(name="Ask")], "commands.0", "APPLICATION_COMMAND_INVALID_NAME"),
        ([command(name="x" * 33)], "commands.0.name", LONG),
        ([command(description="")], "commands.0", "APPLICATION_COMMAND_INVALID_NAME"),
        ([command(description="x" * 101)], "commands.0.description", LONG),
        ([command(type=3, name="Add")], "commands.0", "APPLICATION_COMMAND_DESCRIPTION_NOT_ALLOWED"),
        ([command(), command()], "commands", "APPLICATION_COMMANDS_DUPLICATE_NAME"),
        ([command(name=f"c{at}") for at in range(101)], "commands", LONG),
        ([numbered(26)], "commands.0.options", LONG),
        ([numbered(4, choices=choices(25, 90))], "commands.0", "APPLICATION_COMMAND_TOO_LARGE"),
        ([numbered(1, type=1)], f"{FIRST_OPTION}.type", CHOICE),
        ([numbered(1, description="x" * 101)], f"{FIRST_OPTION}.description", LONG),
        ([numbered(1, choices=choices(26))], f"{FIRST_OPTION}.choices", LONG),
        ([numbered(1, choices=choices(1, 101))], f"{FIRST_OPTION}.choices.0.name", LONG),
        (
            [numbered(1, choices=choices(1), autocomplete=True)],
            FIRST_OPTION,
            "APPLICATION_COMMAND_AUTOCOMPLETE_CHOICES",
        ),
        ([command(options=[option(name="a b")])], f"{FIRST_OPTION}.name", REGEX),
        ([command(options=[option(), option()])], "commands.0.options", "APPLICATION_COMMAND_OPTIONS_NAME_INVALID"),
        (
            [command(options=[option(), option(name="b", required=True)])],
            "commands.0.options",
            "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_command_beyond_a_limit_is_refused(api: Api, bodies: list[Any], field: str, error: str) -> None:
    path = f"/applications/{api.fake.world.app.id}/commands"
    assert await api.invalid_field("PUT", path, bodies) == (field, error)
    assert api.fake.world.commands == {}


async def test_what_is_within_the_limits_is_stored_trimmed(club: Club) -> None:
    five = buttons(*[{"custom_id": f"{at}".ljust(100, "x")} for at in range(5)])
    sent = await club.post(f" {'x' * 2000}\n", **five)
    assert (club.api.status, sent["content"], sent["components"]) == (200, "x" * 2000, five["components"])
