"""The papers and the help list what the table has."""

from __future__ import annotations

from typer.main import get_command

from bot.__main__ import app
from bot.capabilities.row import Surface
from bot.capabilities.table import ROWS
from bot.commands.table import COMMANDS
from scripts.capabilities import PAPER, render_paper
from tests.surfaces.samples import ARGV, WORDS


def test_the_paper_has_the_rows_of_the_table() -> None:
    text = PAPER.read_text()
    assert text == render_paper(text), "run: python -m scripts.capabilities"


def test_the_help_of_the_chat_has_a_command_for_each_row_and_a_row_for_each_command() -> None:
    typed = {words.split()[0] for words in WORDS.values()}
    assert typed <= COMMANDS.keys()
    # What belongs to messages of the chat alone, and what is given as a file.
    assert COMMANDS.keys() - typed == {"help", "sources", "learn"}


def test_the_help_of_the_program_has_a_command_for_each_row() -> None:
    assert {words[0] for words in ARGV.values()} <= get_command(app).commands.keys()  # type: ignore[attr-defined]


def test_what_not_every_door_has_says_why() -> None:
    everywhere = Surface.CHAT | Surface.HTTP
    missing = [row.name for row in ROWS if everywhere not in row.surfaces and not row.kept]
    assert missing == []
