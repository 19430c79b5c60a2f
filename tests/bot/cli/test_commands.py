from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from bot.__main__ import app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer.testing import Result

ROOT = Path(__file__).parents[3]
COMMANDS = set(get_command(app).commands)  # type: ignore[attr-defined]
PATIENCE = 60


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The graph of the built-in embedder is built once for all of these tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREADLORE_CACHE_DIR", str(cache))
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "town").mkdir()
    (tmp_path / "town" / "ferry.md").write_text("# Ferry\n\nThe ferry Gudgeon leaves at noon.\n")
    return tmp_path


def threadlore(*words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(app, list(words), input=stdin)


def started(*words: str) -> subprocess.Popen[str]:
    """The real program, in a process of its own."""
    command = [sys.executable, "-m", "bot", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.fixture
def chatting(place: Path) -> Iterator[subprocess.Popen[str]]:
    """A conversation that is open in another process, and has answered once."""
    process = started("chat")
    assert process.stdin
    assert process.stdout
    process.stdin.write("/status\n")
    process.stdin.flush()
    assert process.stdout.readline() == "› /status\n"
    assert "documents" in process.stdout.readline()
    yield process
    process.communicate(timeout=PATIENCE)


def test_help_names_every_command_with_a_sentence() -> None:
    shown = threadlore("--help")
    assert shown.exit_code == 0
    assert all(re.search(rf"\b{name}\b +[A-Z]", shown.output) for name in COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_command_explains_itself(name: str) -> None:
    shown = threadlore(name, "--help")
    assert shown.exit_code == 0
    assert f"Usage: threadlore {name}" in shown.output.replace("root", "threadlore")


def test_help_comes_at_once_and_loads_nothing_heavy() -> None:
    check = (
        "import sys; from typer.testing import CliRunner; from bot.__main__ import app;"
        "CliRunner().invoke(app, ['--help']);"
        "print([name for name in ('litellm', 'lancedb', 'kuzu', 'onnxruntime', 'kreuzberg', 'pydantic', 'numpy',"
        " 'prompt_toolkit', 'aiosqlite') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_without_a_command_the_help_is_shown() -> None:
    assert "threadlore demo" in threadlore().output


@pytest.mark.parametrize(
    "words", [("dance",), ("ask",), ("ask", "Who?", "--mode", "deep"), ("ask", "?", "--since", "x")]
)
def test_wrong_usage_is_exit_code_2(words: tuple[str, ...]) -> None:
    assert threadlore(*words).exit_code == 2


def test_a_folder_is_taken_in_and_asked(place: Path) -> None:
    shown = threadlore("ingest", "town")
    assert shown.exit_code == 0
    assert "1 file → 1 document (1 new or changed" in shown.output
    told = threadlore("ask", "When does the Gudgeon leave?", "--json")
    answer = json.loads(told.stdout)
    assert "noon" in answer["text"]
    assert answer["sources"][0]["document"] == f"file:{place / 'town' / 'ferry.md'}"
    assert "noon" in json.dumps(json.loads(threadlore("retrieve", "Gudgeon", "--json").stdout)["context"]["sources"])
    narrow = ("--max-entity-tokens", "0", "--max-relation-tokens", "0", "--low", "Gudgeon", "--chunk-top-k", "1")
    context = json.loads(threadlore("retrieve", "Gudgeon", "--no-rerank", *narrow, "--json").stdout)["context"]
    assert (context["entities"], len(context["sources"]), context["question"]["low"]) == ([], 1, ["Gudgeon"])
    assert json.loads(threadlore("status", "--json").stdout)["status"]["documents"] == {"indexed": 1}
    assert threadlore("verify").exit_code == 0
    assert threadlore("forget", "town/ferry.md").exit_code == 0
    assert json.loads(threadlore("documents", "--json").stdout) == {"documents": []}


def test_a_file_that_cannot_be_read_makes_the_exit_code_1(place: Path) -> None:
    (place / "town" / "photo.png").write_bytes(b"\x89PNG\r\n")
    shown = threadlore("ingest", "town")
    assert shown.exit_code == 1
    assert "photo.png" in shown.output


def test_an_error_is_a_sentence_and_a_hint_without_a_trace() -> None:
    shown = threadlore("ingest", "nowhere")
    assert shown.exit_code == 1
    assert re.fullmatch(r"There is no file or folder \S+/nowhere\.\nCheck the path\.\n", shown.stderr)
    assert "Traceback" in threadlore("--debug", "ingest", "nowhere").stderr


def test_a_wrong_setting_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADLORE_GRAPH_BACKEND", "neo4j")
    shown = threadlore("status")
    assert shown.exit_code == 1
    assert shown.stderr.startswith("THREADLORE_GRAPH_BACKEND cannot be used")


def test_a_misspelt_setting_is_named_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADLORE_LLM_MODLE", "openai/gpt-4o-mini")
    seen = threadlore("status", "--json")
    assert seen.exit_code == 0
    assert "There is no setting THREADLORE_LLM_MODLE" in seen.stderr
    assert json.loads(seen.stdout)


def test_a_file_of_settings_is_read_where_it_is_named(place: Path) -> None:
    (place / ".env").write_text("THREADLORE_LLM_MAX_CONCURRENCY=0\n")
    assert threadlore("status").exit_code == 0
    refused = threadlore("--env-file", ".env", "status")
    assert refused.exit_code == 1
    assert "THREADLORE_LLM_MAX_CONCURRENCY" in refused.stderr


def test_a_backup_is_restored_elsewhere(place: Path) -> None:
    threadlore("ingest", "town")
    assert threadlore("backup", "b.tar.gz").exit_code == 0
    assert threadlore("--data-dir", "other", "restore", "b.tar.gz").exit_code == 0
    assert threadlore("--data-dir", "other", "restore", "b.tar.gz").exit_code == 1
    assert threadlore("--data-dir", "other", "export").stdout == threadlore("export").stdout
    assert threadlore("--data-dir", "other", "export", "--format", "graphml", "-o", "town.graphml").exit_code == 0
    assert "graphml" in (place / "town.graphml").read_text()


def test_commands_beside_a_running_conversation_are_worked_on_by_it(chatting: subprocess.Popen[str]) -> None:
    assert threadlore("ingest", "town").exit_code == 0
    assert "noon" in threadlore("ask", "When does the Gudgeon leave?").stdout
    chatting.kill()
    chatting.wait()
    assert "noon" in threadlore("ask", "When does the Gudgeon leave?").stdout


def test_ctrl_c_is_quiet(place: Path) -> None:
    process = started("chat")
    assert process.stdin
    assert process.stdout
    process.stdin.write("/status\n")
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.stdin.close()
    assert process.wait(PATIENCE) == 130
    assert process.stderr
    assert process.stderr.read() == ""
    process.stderr.close()
    process.stdout.close()


def test_a_pipe_that_is_closed_early_is_no_error() -> None:
    threadlore("ingest", "town")
    process = started("export")
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    process.wait(PATIENCE)
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.stdin
    process.stdin.close()


def test_every_command_that_the_readme_names_exists() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![/@])\bthreadlore ([a-z]+)", text))
    assert named
    assert named <= COMMANDS
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)(?=\s{2,}#|`|\n)", text)) <= targets
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    settings = set(re.findall(r"^(THREADLORE_[A-Z_]+)=", example, re.MULTILINE))
    assert set(re.findall(r"THREADLORE_[A-Z_]+", text)) <= settings
    for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
        assert (ROOT / path).is_file()
