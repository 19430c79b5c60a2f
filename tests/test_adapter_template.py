"""Installs the adapter of examples/adapter_template as a plug-in and chats with the bot through it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TEMPLATE = Path(__file__).parents[1] / "examples" / "adapter_template"
TIMEOUT_SECONDS = 120
CHAT: list[dict[str, object]] = [
    {"type": "channel", "id": "harbor", "kind": "open", "members": ["ada", "ben"]},
    {"type": "channel", "id": "crew", "kind": "closed", "members": ["ada"]},
    {"type": "message", "id": "1", "channel": "harbor", "author": "ada", "text": "A plan.", "files": ["plan.md"]},
    {"type": "message", "id": "2", "channel": "harbor", "author": "ada", "text": "More.", "files": ["../secret.md"]},
    {"type": "message", "id": "3", "channel": "crew", "author": "ada", "text": "The code of the safe is agate."},
    {"type": "message", "id": "4", "channel": "harbor", "author": "ada", "text": "The ferry leaves at nine."},
    {"type": "edit", "id": "4", "channel": "harbor", "author": "ada", "text": "The ferry leaves at ten."},
]
QUESTIONS = {
    "file": ("harbor", "ben", "Who repairs the quay?"),
    "edited": ("harbor", "ben", "When does the ferry leave?"),
    "outsider": ("harbor", "ben", "What is the code of the safe?"),
    "member": ("crew", "ada", "What is the code of the safe?"),
    "other folder": ("harbor", "ben", "Who hides the treasure?"),
}


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the bot wrote during one chat."""
    home = tmp_path_factory.mktemp("home")
    install = ["uv", "pip", "install", "--quiet", "--offline", "--no-deps", "--no-build-isolation", "--target"]
    uv = str(Path(sys.executable).with_name(install[0]))
    python = ["--python", sys.executable, str(TEMPLATE)]
    subprocess.run([uv, *install[1:], str(home / "plugins"), *python], check=True, timeout=TIMEOUT_SECONDS)
    (home / "files").mkdir()
    (home / "files" / "plan.md").write_text("Odo Finch repairs the quay.\n")
    (home / "secret.md").write_text("Captain Rudd hides the treasure.\n")
    asked = [
        {"type": "message", "id": id_, "channel": channel, "author": author, "text": text, "mention": True}
        for id_, (channel, author, text) in QUESTIONS.items()
    ]
    help_command = {"type": "command", "id": "help", "channel": "harbor", "author": "ben", "text": "help"}
    done = subprocess.run(
        [sys.executable, "-m", "bot", "serve", "--platform", "jsonl"],
        input="\n".join([*map(json.dumps, [*CHAT, *asked, help_command]), "nonsense", ""]),
        env={
            **os.environ,
            "PYTHONPATH": str(home / "plugins"),
            "THREADLORE_DATA_DIR": str(home / "data"),
            "THREADLORE_JSONL_FILES": str(home / "files"),
        },
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def answer_states(output: list[dict[str, Any]], question: str) -> dict[str, dict[str, Any]]:
    """The last line of each state of an answer; a question's thread has its id."""
    return {line["state"]: line for line in output if line["type"] == "answer" and line["thread"] == question}


@pytest.mark.parametrize(
    ("question", "words"),
    [("file", "Odo Finch repairs the quay."), ("edited", "The ferry leaves at ten."), ("member", "agate")],
)
def test_an_answer_is_streamed_and_cites_a_message(output: list[dict[str, Any]], question: str, words: str) -> None:
    states = answer_states(output, question)
    assert set(states) >= {"status", "partial", "done"}
    assert words in states["done"]["text"]
    assert states["done"]["sources"][0]["link"].startswith("https://chat.example/")


@pytest.mark.parametrize("question", ["outsider", "other folder"])
def test_what_the_channel_may_not_read_is_not_found(output: list[dict[str, Any]], question: str) -> None:
    done = answer_states(output, question)["done"]
    assert "found nothing" in done["text"]
    assert not done["sources"]


def test_files_are_marked_as_read_or_failed(output: list[dict[str, Any]]) -> None:
    reactions = {line["message"]: line["reaction"] for line in output if line["type"] == "reaction"}
    assert reactions == {"1": "done", "2": "failed"}


def test_commands_answer_privately_and_bad_lines_are_named(output: list[dict[str, Any]]) -> None:
    assert any(line["type"] == "private" and line["to"] == "ben" and "/forget" in line["text"] for line in output)
    assert output[-1]["type"] == "error"
