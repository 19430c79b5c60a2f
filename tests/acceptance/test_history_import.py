"""The past of a workspace is imported by the command, killed in the middle, and imported again."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.__main__ import app
from tests.support.exports import (
    MattermostExportFiles,
    SlackExportFiles,
    discord_file,
    discord_message,
    mattermost_post,
    mattermost_reply,
    ms_at,
    slack_message,
    write_files,
)
from tests.support.patience import PATIENCE

ROOT = Path(__file__).parents[2]
OPEN_SPACE = "slack:T1:open"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def start(home: Path, *words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    command = [sys.executable, "-m", "bot", "--data-dir", str(home), *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(home: Path, *words: str) -> Result:
    """A command in this process: a process of its own takes seconds to import what it needs."""
    return CliRunner().invoke(app, ["--data-dir", str(home), *words], env={"COLUMNS": "200"})


def read(home: Path, *words: str) -> str:
    """What a command prints that succeeds."""
    result = run(home, *words)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def town(path: Path) -> Path:
    files = SlackExportFiles()
    for number in range(3):
        rows = [slack_message(f"U{1 + n % 2}", n * 9, f"Beam {n} of house {number} is oak.") for n in range(40)]
        files.add_channel("channels", f"C{number}", f"house-{number}", rows)
    return files.write_zip(path)


def wait_for_message(file: Path) -> None:
    """Wait until a process has stored the first message that it imports."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
            if db.execute("SELECT 1 FROM message LIMIT 1").fetchone():
                return
        time.sleep(0.01)
    raise TimeoutError(file)


@pytest.mark.long
def test_killed_and_started_again_it_ends_like_an_undisturbed_import(home: Path, tmp_path: Path) -> None:
    export = str(town(tmp_path / "export.zip"))
    undisturbed = tmp_path / "undisturbed"
    read(undisturbed, "import", "slack", export)
    killed = start(home, "import", "slack", export)
    wait_for_message(home / "bot.db")
    killed.kill()
    killed.communicate()
    result: dict[str, Any] = json.loads(read(home, "import", "slack", export, "--json"))
    assert result["channels"] == 3
    assert result["messages"] == 120
    exported = [read(place, "export", "--space", OPEN_SPACE) for place in (undisturbed, home)]
    assert exported[0] == exported[1]
    assert exported[0].count("\n") > 20
    assert "match the ledger" in read(home, "verify")


@pytest.mark.long
def test_a_folder_of_discord_channels_is_imported_and_searched(home: Path, tmp_path: Path) -> None:
    rows = [discord_message("1", 0, "The kiln Vesta fires stoneware at 1240 degrees.")]
    folder = write_files(tmp_path / "export", {"kiln.json": discord_file({"id": "500", "name": "kiln"}, rows)})
    assert "1 channel, 1 message (1 new, 0 edited)" in read(home, "import", "discord", str(folder))
    answer = read(home, "ask", "--space", "discord:77:500", "At how many degrees does Vesta fire stoneware?")
    assert "1240" in answer
    assert f"https://discord.com/channels/77/500/{rows[0]['id']}" in answer


@pytest.mark.long
def test_a_mattermost_export_is_imported_once_with_what_is_new_and_searched_in_the_terminal(
    home: Path, tmp_path: Path
) -> None:
    plan = "20260302/teams/noteam/channels/c1/users/u1/f1/plan.txt"
    files = MattermostExportFiles(
        [
            mattermost_post("ada", 0, "The kiln Vesta fires stoneware.", attachments=[{"path": plan}]),
            mattermost_post("bela", 5, "The key of Vesta is under the mat.", channel="vault"),
        ],
        files={plan: b"Vesta reaches 1240 degrees."},
    )
    export, words = tmp_path / "export.zip", ("import", "mattermost", str(tmp_path / "export.zip"))
    files.write_zip(export)
    assert "2 messages (2 new, 0 edited), 1 new file" in read(home, *words, "--url", "https://chat.example.org")
    assert "2 messages (0 new, 0 edited), 0 new files" in read(home, *words)
    files.posts[0] |= {"message": "The kiln Vesta fires bricks.", "edit_at": ms_at(9)}
    files.posts[0]["replies"] = [mattermost_reply("bela", 8, "And tiles?")]
    files.write_zip(export)
    assert "3 messages (1 new, 1 edited), 0 new files" in read(home, *words, "--url", "https://chat.example.org")
    answer = read(home, "ask", "--space", "mattermost:town:open", "What does the kiln Vesta fire?")
    assert "bricks" in answer
    assert "stoneware" not in answer
    assert "https://chat.example.org/town/channels/roof" in answer
    assert "mat" not in read(home, "ask", "--space", "mattermost:town:open", "Where is the key of Vesta?").split()
    assert "mat" in read(home, "ask", "--space", "mattermost:town:~vault", "Where is the key of Vesta?")
    assert run(home, *words, "--into", "slack:T1", "--channel-map", "cave=C1").stderr.startswith("The export has no ch")
    assert "says itself who reads" in run(home, "import", "slack", str(export), "--into", "discord:7").stderr
    moved: dict[str, Any] = json.loads(read(home, *words, "--into", "slack:T1", "--json"))
    assert moved["omissions"] == [["closed channels that --channel-map does not name", 1]]
    assert moved["readers"].startswith("Every full member of slack:T1 can find what is in 1 open channel. Whoever")
    assert "bricks" in read(home, "ask", "--space", "slack:T1:open", "What does the kiln Vesta fire?")
    assert "Vesta" not in read(home, "ask", "--space", "slack:T1:open", "Where is the key?").replace("bricks", "")


@pytest.mark.long
def test_what_is_no_export_is_refused_in_one_sentence(home: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.zip").write_bytes(b"PK nothing")
    result = run(home, "import", "slack", str(tmp_path / "notes.zip"))
    assert result.exit_code == 1
    assert result.stderr.split("\n") == ["notes.zip is not a readable ZIP archive.", "Export the workspace again.", ""]
    result = run(home, "import", "minutes", str(tmp_path))
    assert result.exit_code == 1
    assert result.stderr.startswith("Exports of “minutes” cannot be imported.\n")
