from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.commands.help import NARROWING, OTHER_WORDS, format_command_help, format_found, format_overview
from bot.commands.table import COMMANDS, list_commands
from bot.errors import PlatformError
from bot.i18n import LANGUAGES, gettext, use_language
from bot.platform.traits import PlatformTraits
from bot.text.times.as_of import find_as_of
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
    ("words", "name"),
    [
        ("verified answers", "verify"),
        ("what did I miss", "catch-up"),
        ("duplicate names", "duplicates"),
        ("forgetting a file", "forget"),
        ("experts", "expert"),
        ("/decision", "decisions"),
        ("delete a file", "forget"),
        ("conflicting statements", "contradictions"),
        ("who can see this", "readers"),
        ("notify me", "watch"),
        ("import old messages", "backfill"),
        ("wie lösche ich etwas", "forget"),
        ("language", "settings"),
        ("who knows about the pump", "expert"),
        ("open tasks", "decisions"),
        ("avísame", "watch"),
        ("Datei löschen", "forget"),
    ],
)
async def test_help_about_words_lists_the_commands_that_do_it_first(
    workspace: Workspace, words: str, name: str
) -> None:
    text = await workspace.text("ada", f"help {words}")
    assert text.startswith(f"These commands are about that:\n- `/threadlore {name}")
    assert text.count("\n") <= 5


@pytest.mark.parametrize(
    ("language", "words", "name"),
    [("de", "Datei löschen", "forget"), ("fr", "me prévenir", "watch"), ("ja", "通知", "watch")],
)
def test_help_is_found_by_the_words_of_each_language(language: str, words: str, name: str) -> None:
    with use_language(language):
        text = format_found(SLACK, words, list_commands(SLACK), manager=False)
    assert text.splitlines()[1].startswith(f"- `/threadlore {name}")


def test_other_words_belong_to_commands() -> None:
    assert set(COMMANDS) > set(OTHER_WORDS)


async def test_help_about_words_names_no_commands_of_managers_to_others(workspace: Workspace) -> None:
    assert "/threadlore unanswered" in await workspace.text("ada", "help questions voted down")
    assert "/threadlore unanswered" not in await workspace.text("bob", "help questions voted down")


@pytest.mark.parametrize(
    ("traits", "manager", "shown"),
    [
        (DISCORD, False, "`/status`"),
        (DISCORD, False, "`/learn` – "),
        (DISCORD, False, "or:\n- `/ask` – "),
        (DISCORD, True, "`/settings` – "),
        (SLACK, False, "`/threadlore status`"),
        (SLACK, False, "or:\n- `/threadlore ask QUESTION` – "),
    ],
)
def test_commands_are_shown_as_each_platform_types_them(traits: PlatformTraits, shown: str, *, manager: bool) -> None:
    assert shown in format_overview(traits, list_commands(traits), manager=manager)


@pytest.mark.parametrize("traits", [SLACK, DISCORD], ids=["slack", "discord"])
def test_a_shortened_usage_closes_its_brackets(traits: PlatformTraits) -> None:
    text = format_overview(traits, list_commands(traits), manager=True)
    usages = [line.split("`")[1] for line in text.splitlines() if line.startswith("- `")]
    assert [usage for usage in usages if usage.count("[") != usage.count("]") or " | …" in usage] == []


@pytest.mark.parametrize("traits", [SLACK, DISCORD], ids=["slack", "discord"])
@pytest.mark.parametrize(
    "words",
    [
        *("in:#channel", "as of 3 May", "forget a file, a message", "what you missed", "hear about new messages"),
        *("correct what I know", "verify an answer", "what I know about you, also as a file", "what I could not read"),
        *("who could find what is shared here, or a document", "websites that I read"),
    ],
)
def test_what_people_look_for_is_in_the_overview(traits: PlatformTraits, words: str) -> None:
    assert words in format_overview(traits, list_commands(traits), manager=True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_of_a_past_day_is_understood_in_each_language(language: str) -> None:
    with use_language(language):
        words = gettext(NARROWING).split("`")[7]
    assert find_as_of(f"Ada {words}?", datetime(2026, 11, 20, tzinfo=UTC))[0] is not None, words


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
