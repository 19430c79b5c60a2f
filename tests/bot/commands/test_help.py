from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.commands.help import format_command_help, format_overview
from bot.commands.table import COMMANDS, list_commands
from bot.errors import PlatformError
from tests.support.fake_platform import TRAITS

if TYPE_CHECKING:
    from bot.platform.traits import PlatformTraits
    from tests.bot.commands.conftest import Workspace


SLACK, DISCORD = TRAITS["slack"], TRAITS["discord"]


@pytest.mark.parametrize("line", ["help", "nonsense and more", "help nonsense"])
async def test_help_and_unknown_words_list_the_commands(workspace: Workspace, line: str) -> None:
    text = (await workspace.command("bob", line)).text
    assert "`/threadlore catch-up [since]` – " in text
    assert "forget-me" in text


async def test_what_only_managers_may_is_listed_for_managers(workspace: Workspace) -> None:
    assert "/threadlore settings" in (await workspace.command("ada", "help")).text
    assert "/threadlore settings" not in (await workspace.command("bob", "help")).text


async def test_help_is_there_even_if_the_platform_is_not(workspace: Workspace) -> None:
    workspace.platform.failing["person"] = PlatformError("No answer.")
    assert "/threadlore catch-up" in (await workspace.command("eve", "help")).text


async def test_a_command_is_explained_with_examples(workspace: Workspace) -> None:
    text = (await workspace.command("bob", "help forget")).text
    assert "- `/threadlore forget minutes.pdf`" in text


def test_commands_are_shown_as_each_platform_has_them() -> None:
    assert "`/status`" in format_overview(DISCORD, list_commands(DISCORD), manager=False)
    assert "`/settings setting:… value:…`" in format_overview(DISCORD, list_commands(DISCORD), manager=True)
    assert "`/settings setting:ingest value:off`" in format_command_help(
        DISCORD, "settings", list_commands(DISCORD)["settings"]
    )
    assert "`/threadlore status`" in format_overview(SLACK, list_commands(SLACK), manager=False)


async def test_where_no_file_can_come_with_a_command_there_is_no_command_for_it(workspace: Workspace) -> None:
    text = (await workspace.command("bob", "help")).text
    assert "`/threadlore learn" not in text
    assert "share a file in a channel that I'm in" in text
    assert (await workspace.command("bob", "learn")).text == text
    assert "`/learn file:…`" in format_overview(DISCORD, list_commands(DISCORD), manager=False)


def test_how_to_ask_in_private_is_told_first() -> None:
    assert "or:\n- `/threadlore ask QUESTION` – " in format_overview(SLACK, list_commands(SLACK), manager=False)
    assert "or:\n- `/ask` – " in format_overview(DISCORD, list_commands(DISCORD), manager=False)


@pytest.mark.parametrize("traits", [SLACK, DISCORD], ids=["slack", "discord"])
def test_help_fits_into_one_message_everywhere(traits: PlatformTraits) -> None:
    assert len(format_overview(traits, list_commands(traits), manager=True)) < 2000
    assert all(len(format_command_help(traits, name, each)) < 1000 for name, each in list_commands(traits).items())


def test_names_are_such_as_platforms_allow_for_commands() -> None:
    assert all(name.replace("-", "").isalpha() and name.islower() and len(name) <= 32 for name in COMMANDS)
    assert all(len(each.summary) <= 100 for each in COMMANDS.values())


async def test_capitals_do_not_matter(workspace: Workspace) -> None:
    lower, upper = await workspace.command("bob", "status"), await workspace.command("bob", "STATUS")
    assert replace(lower) == upper
