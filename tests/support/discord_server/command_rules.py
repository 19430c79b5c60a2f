"""What the platform takes as application commands."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from tests.support.discord_server.errors import ApiError, bad_length, invalid_form, missing_field

if TYPE_CHECKING:
    from tests.support.discord_server.model import Json

CHAT, USER, MESSAGE = 1, 2, 3
SUBCOMMAND, GROUP, STRING, INTEGER, NUMBER = 1, 2, 3, 4, 10
MOST_OPTIONS = 25
MOST_CHOICES = 25
MOST_TOGETHER = 8000
MOST_OF_KIND = {CHAT: 100, USER: 15, MESSAGE: 15}
OTHER_LETTERS = re.compile(r"[-_'\w]{1,32}")


def check_all(commands: list[Json]) -> None:
    """A whole set: each command, their numbers, and that no two have the same name."""
    for kind, most in MOST_OF_KIND.items():
        if sum(command.get("type", CHAT) == kind for command in commands) > most:
            raise ApiError(30032)
    names = [(command.get("type", CHAT), command.get("name")) for command in commands]
    for index, command in enumerate(commands):
        check_command(command, str(index))
        if names.index(names[index]) != index:
            raise invalid_form(
                f"{index}.name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique"
            )


def check_command(command: Json, path: str) -> None:
    """One command."""
    kind = command.get("type", CHAT)
    if kind not in MOST_OF_KIND:
        raise invalid_form(f"{path}.type", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3}.")
    if kind == CHAT:
        _check_name(command, path)
        _check_length(command.get("description"), f"{path}.description", 1, 100)
        _check_options(command.get("options") or [], f"{path}.options", 0)
        if command_length(command) > MOST_TOGETHER:
            raise invalid_form(path, "APPLICATION_COMMAND_TOO_LARGE", f"Command exceeds maximum size ({MOST_TOGETHER})")
        return
    _check_length(command.get("name"), f"{path}.name", 1, 32)
    if command.get("description"):
        raise invalid_form(
            f"{path}.description", "APPLICATION_COMMAND_DESCRIPTION_NOT_ALLOWED", "Context menu commands have none"
        )
    if command.get("options"):
        raise invalid_form(
            f"{path}.options", "APPLICATION_COMMAND_OPTIONS_NOT_ALLOWED", "Context menu commands have none"
        )


def command_length(command: Json) -> int:
    """The characters that count towards the 8,000."""
    total = len(command.get("name") or "") + len(command.get("description") or "")
    for choice in command.get("choices") or []:
        total += len(choice["name"]) + len(str(choice["value"]))
    return total + sum(command_length(option) for option in command.get("options") or [])


def _check_options(options: list[Json], path: str, depth: int) -> None:
    if len(options) > MOST_OPTIONS:
        raise invalid_form(path, "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_OPTIONS} or fewer in length.")
    optional = False
    names = [option.get("name") for option in options]
    nested = [option.get("type") in {SUBCOMMAND, GROUP} for option in options]
    if any(nested) and not all(nested):
        raise invalid_form(path, "APPLICATION_COMMAND_OPTIONS_MIXED", "Sub-command and option types cannot be mixed")
    for index, option in enumerate(options):
        here = f"{path}.{index}"
        _check_option(option, here, depth)
        if names.index(option["name"]) != index:
            raise invalid_form(
                f"{here}.name", "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option names must be unique"
            )
        if option.get("required") and optional:
            raise invalid_form(
                here,
                "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
                "Required options must be placed before non-required options",
            )
        optional = optional or not option.get("required", False)


def _check_option(option: Json, path: str, depth: int) -> None:
    kind = option.get("type")
    if kind not in range(1, 12):
        raise invalid_form(f"{path}.type", "BASE_TYPE_CHOICES", "Value must be one of {1, …, 11}.")
    _check_name(option, path)
    _check_length(option.get("description"), f"{path}.description", 1, 100)
    if kind in {SUBCOMMAND, GROUP}:
        if depth > 1 or (kind == GROUP and depth > 0):
            raise invalid_form(path, "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-commands are nested too deeply")
        _check_options(option.get("options") or [], f"{path}.options", depth + 1)
    choices = option.get("choices") or []
    if choices and option.get("autocomplete"):
        raise invalid_form(
            path, "APPLICATION_COMMAND_AUTOCOMPLETE_CHOICES", "Choices and autocomplete exclude each other"
        )
    if option.get("autocomplete") and kind not in {STRING, INTEGER, NUMBER}:
        raise invalid_form(path, "APPLICATION_COMMAND_AUTOCOMPLETE_TYPE", "Autocomplete is for strings and numbers")
    check_choices(choices, f"{path}.choices")


def check_choices(choices: Any, path: str) -> None:
    """Choices of an option, or suggestions while somebody types."""
    if not isinstance(choices, list):
        raise missing_field(path)
    if len(choices) > MOST_CHOICES:
        raise invalid_form(path, "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_CHOICES} or fewer in length.")
    for index, choice in enumerate(choices):
        _check_length(choice.get("name"), f"{path}.{index}.name", 1, 100)
        if isinstance(choice.get("value"), str):
            _check_length(choice["value"], f"{path}.{index}.value", 0, 100)


def _check_name(thing: Json, path: str) -> None:
    name = thing.get("name")
    if not isinstance(name, str) or not OTHER_LETTERS.fullmatch(unicodedata.normalize("NFC", name)):
        raise invalid_form(f"{path}.name", "STRING_TYPE_REGEX", "String value did not match validation regex.")
    if name != name.lower():
        raise invalid_form(f"{path}.name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")


def _check_length(value: Any, path: str, least: int, most: int) -> None:
    if value is None:
        raise missing_field(path)
    if not isinstance(value, str) or not least <= len(value) <= most:
        raise bad_length(path, least, most)
