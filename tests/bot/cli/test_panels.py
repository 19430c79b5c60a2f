"""`threadlore --help` lists each command once, under what it is about."""

from __future__ import annotations

from typer.testing import CliRunner

from bot.__main__ import app
from bot.cli.panels import PANELS


def test_each_command_is_in_one_panel() -> None:
    listed = [name for names in PANELS.values() for name in names]
    commands = [info.name for info in app.registered_commands] + [info.name for info in app.registered_groups]
    assert sorted(listed) == sorted(map(str, commands))


def test_help_begins_with_how_to_start_and_names_each_panel() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "100"}).stdout
    places = [shown.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)
    assert shown.index("│ init ") < shown.index("│ chat ") < shown.index("│ backup ")
