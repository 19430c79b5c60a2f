from __future__ import annotations

import pytest

from bot.commands.help import format_command_help, format_overview
from bot.commands.table import COMMANDS, list_commands
from bot.errors import PlatformError
from bot.platform.traits import PlatformTraits
from tests.bot.commands.conftest import Workspace
from tests.support.fake_platform import TRAITS

SLACK, DISCORD = TRAITS["slack"], TRAITS["discord"]


@pytest.mark.parametrize("line", ["help", "nonsense and more", "help nonsense", "learn", "HELP"])
async def test_help_and_unknown_commands_list_the_commands(workspace: Workspace, line: str) -> None:
    text = await workspace.text("bob", line)
    assert "`/threadlore catch-up [since]` – " in text
    assert "forget-me" in text
    assert "`/threadlore learn" not in text
    assert "share a file in a channel that I'm in" in text


async def test_commands_of_managers_are_listed_for_managers_if_the_platform_tells_them(workspace: Workspace) -> None:
    assert "/threadlore settings" in await workspace.text("ada", "help")
    assert "/threadlore settings" not in await workspace.text("bob", "help")
    workspace.platform.failing["person"] = PlatformError("No answer.")
    assert "/threadlore catch-up" in await workspace.text("eve", "help")


async def test_a_command_is_explained_with_examples(workspace: Workspace) -> None:
    assert "- `/threadlore forget minutes.pdf`" in await workspace.text("bob", "help forget")


@pytest.mark.parametrize(
    ("traits", "manager", "shown"),
    [
        (DISCORD, False, "`/status`"),
        (DISCORD, False, "`/learn file:… private:…`"),
        (DISCORD, False, "or:\n- `/ask` – "),
        (DISCORD, True, "`/settings setting:… value:…`"),
        (SLACK, False, "`/threadlore status`"),
        (SLACK, False, "or:\n- `/threadlore ask QUESTION` – "),
    ],
)
def test_commands_are_shown_as_each_platform_types_them(traits: PlatformTraits, shown: str, *, manager: bool) -> None:
    assert shown in format_overview(traits, list_commands(traits), manager=manager)


def test_examples_are_shown_as_the_platform_types_them() -> None:
    text = format_command_help(DISCORD, "settings", list_commands(DISCORD)["settings"])
    assert "`/settings setting:ingest value:off`" in text


@pytest.mark.parametrize(("traits", "limit"), [(SLACK, 3000), (DISCORD, 2000)], ids=["slack", "discord"])
def test_help_fits_into_one_message(traits: PlatformTraits, limit: int) -> None:
    assert len(format_overview(traits, list_commands(traits), manager=True)) < limit
    assert all(len(format_command_help(traits, name, each)) < 1000 for name, each in list_commands(traits).items())


def test_names_and_summaries_keep_to_the_limits_of_platforms() -> None:
    assert all(name.replace("-", "").isalpha() and name.islower() and len(name) <= 32 for name in COMMANDS)
    assert all(len(command.summary) <= 100 for command in COMMANDS.values())
