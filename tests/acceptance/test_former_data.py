"""Data that the code of former commits wrote is opened, migrated, searched and restored by today's code."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.__main__ import app
from bot.store import BotStore
from engine.clock import SYSTEM_CLOCK
from scripts.former_data import (
    CHANNEL_SPACE,
    FILES,
    MESSAGES,
    VERSIONS,
    FormerVersion,
    HistoryMissingError,
    build_former_data,
    require_history,
)

pytestmark = [pytest.mark.long, pytest.mark.files]


@pytest.fixture(scope="module", autouse=True)
def history() -> None:
    """Skip where the former commits cannot be had: in a shallow clone, or in a package of the sources."""
    try:
        require_history()
    except HistoryMissingError as error:
        pytest.skip(f"the history of the repository is not there: {error}")


def read(data_dir: Path, *words: str, database: str = "") -> str:
    """What a command prints that succeeds."""
    settings = {"COLUMNS": "200", "THREADLORE_DATABASE": database}
    result = CliRunner().invoke(app, ["--data-dir", str(data_dir), *words], env=settings)
    assert result.exit_code == 0, result.output + result.stderr
    return result.stdout


async def count_messages(place: Path | str) -> int:
    """Of how many messages of the channel the bot's store knows, which migrates its tables as it opens."""
    async with BotStore.open(place, SYSTEM_CLOCK) as store:
        return len(await store.messages.list_before(SYSTEM_CLOCK.now(), 10))


def require_all_data(data_dir: Path, database: str = "") -> None:
    """All documents are there, the indexes match, and questions about a file and the channel are answered."""
    files = read(data_dir, "documents", database=database)
    channel = read(data_dir, "documents", "--space", CHANNEL_SPACE, database=database)
    assert all(words in files for words in ("Ferry", "bakery.txt", "budget.csv"))
    assert all(words in channel for words in (" slack:T1:C1 ", " indexed "))
    assert files.count(" indexed ") >= len(FILES)
    assert "match the ledger" in read(data_dir, "verify", database=database)
    answer = read(data_dir, "ask", "When does the ferry to Orla Island leave?", database=database)
    assert "7:40.” [1]" in answer
    assert "[1] Ferry\n" in answer
    answer = read(data_dir, "ask", "--space", CHANNEL_SPACE, "Who brings orange buoys?", database=database)
    assert f"“{MESSAGES[-1]}” [" in answer
    assert asyncio.run(count_messages(database or data_dir / "bot.db")) == len(MESSAGES)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_a_former_data_directory_opens_and_its_backup_restores(version: FormerVersion, tmp_path: Path) -> None:
    former, restored, backup = tmp_path / "former", tmp_path / "restored", str(tmp_path / "backup")
    build_former_data(version, former)
    require_all_data(former)
    read(former, "backup", backup)
    read(restored, "restore", backup)
    require_all_data(restored)


def test_a_former_postgres_database_opens_and_its_backup_restores_into_files(tmp_path: Path, postgres_url: str) -> None:
    former, restored, backup = tmp_path / "former", tmp_path / "restored", str(tmp_path / "backup")
    version = next(each for each in VERSIONS if each.name == "first-imports")
    build_former_data(version, former, postgres_url)
    require_all_data(former, postgres_url)
    read(former, "backup", backup, database=postgres_url)
    read(restored, "restore", backup)
    require_all_data(restored)
