"""The program as a person types it: what commands print and return, also beside and after each other."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from typer.main import get_command
from typer.testing import CliRunner, Result

from bot.__main__ import app
from bot.capabilities.results import IngestFailure, IngestResult, ProgressUpdate
from bot.cli.documents import INGEST_HELP, ingest_exit_code
from engine.parsers.registry import describe_formats
from tests.support.clock import ManualClock

ROOT = Path(__file__).parents[3]
COMMANDS = set(get_command(app).commands)  # type: ignore[attr-defined]
TIMEOUT = 60
FERRY = "# Ferry\n\nThe ferry Gudgeon leaves at noon.\n"
QUESTION = "When does the Gudgeon leave?"
HEAVY = (
    *("litellm", "lancedb", "kuzu", "onnxruntime", "kreuzberg", "pydantic", "numpy", "prompt_toolkit", "aiosqlite"),
    "structlog",
)
# What a question that no model answers must not load, and how many of our modules it may.
UNUSED = {
    *("litellm", "tiktoken", "discord", "slack_sdk", "slack_bolt", "aiohttp", "fastapi", "uvicorn", "jinja2", "mcp"),
    *("prompt_toolkit", "kreuzberg", "pandas", "cryptography", "prometheus_client", "yarl", "filelock", "numpy.random"),
    *(
        "pyarrow.compute",
        "pyarrow.dataset",
        "engine.llm.client.client",
        "engine.llm.remote_model",
        "bot.ingest.service",
    ),
    "adapters.discord",
    "adapters.slack",
}
MAX_MODULES = 602
ASKED = f"""
import sys
from typer.testing import CliRunner
from bot.__main__ import app
done = CliRunner().invoke(app, ["ask", "{QUESTION}"])
assert done.exit_code == 0 and "noon" in done.output, done.output
print(sorted({UNUSED} & set(sys.modules)), sum(name.partition(".")[0] in ("bot", "engine") for name in sys.modules))
"""
LIGHT_HELP = f"""
import sys
from typer.testing import CliRunner
from bot.__main__ import app
CliRunner().invoke(app, ["--help"])
print([name for name in {HEAVY} if name in sys.modules])
"""


def threadlore(*words: str, stdin: str = "", **environment: str) -> Result:
    return CliRunner().invoke(app, list(words), input=stdin, env=environment)


def read_json(*words: str) -> Any:
    return json.loads(threadlore(*words, "--json").stdout)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a town of one note and one picture, and the data directory that it was ingested into."""
    folder = tmp_path_factory.mktemp("indexed")
    (folder / "town").mkdir()
    (folder / "town" / "ferry.md").write_text(FERRY)
    (folder / "town" / "photo.png").write_bytes(b"\x89PNG\r\n")
    command = ("--data-dir", str(folder / "home"), "ingest", str(folder / "town"))
    logging = structlog.get_config()
    result = threadlore(*command, COLUMNS="400")
    structlog.configure(**logging)
    assert result.exit_code == 1, "a picture cannot be read"
    assert "photo.png" in result.output
    assert "2 files → 1 document (1 new or changed" in result.output
    return folder


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def home(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory of the ingested town is the current one."""
    monkeypatch.setenv("THREADLORE_DATA_DIR", str(indexed / "home"))
    monkeypatch.chdir(indexed)
    return indexed / "home"


def start(*words: str) -> subprocess.Popen[str]:
    """The real program, in a process of its own."""
    environment, pipe = {**os.environ, "PYTHONPATH": str(ROOT)}, subprocess.PIPE
    command = [sys.executable, "-m", "bot", *words]
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.fixture
def chatting() -> Iterator[subprocess.Popen[str]]:
    """A conversation in another process, which has answered once. It inherits that Ctrl-C is not ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    conversation = start("chat")
    signal.signal(signal.SIGINT, before)
    with conversation as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("/status\n")
        process.stdin.flush()
        assert process.stdout.readline() == "› /status\n"
        assert "documents" in process.stdout.readline()
        yield process
        process.kill()


def test_help_names_every_command_with_a_sentence_and_comes_without_a_command() -> None:
    shown = threadlore("--help")
    assert shown.exit_code == 0
    assert all(re.search(rf"\b{name}\b +[A-Z]", shown.output) for name in COMMANDS)
    assert "threadlore demo" in threadlore().output


@pytest.mark.share(6)
@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_command_explains_itself(name: str) -> None:
    shown = threadlore(name, "--help")
    assert shown.exit_code == 0
    assert f"Usage: threadlore {name}" in shown.output.replace("root", "threadlore")


def test_help_loads_nothing_heavy() -> None:
    command = [sys.executable, "-c", LIGHT_HELP]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.usefixtures("home")
def test_a_question_loads_only_what_answers_it() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", ASKED], env=environment, capture_output=True, text=True, check=True)
    unused, modules = done.stdout.rsplit(maxsplit=1)
    assert unused == "[]"
    assert int(modules) <= MAX_MODULES


@pytest.mark.parametrize("words", ["dance", "ask", "ask Who? --mode deep", "ask ? --since x"])
def test_wrong_usage_is_exit_code_2(words: str) -> None:
    assert threadlore(*words.split()).exit_code == 2


def test_an_ingested_folder_is_asked_backed_up_and_forgotten(home: Path) -> None:
    answer = read_json("ask", QUESTION)
    assert "noon" in answer["text"]
    assert answer["sources"][0]["document"] == f"file:{home.parent / 'town' / 'ferry.md'}"
    limits = ("--max-entity-tokens", "0", "--max-relation-tokens", "0", "--low", "Gudgeon", "--chunk-top-k", "1")
    context = read_json("retrieve", "Gudgeon", "--no-rerank", *limits)["context"]
    assert "noon" in json.dumps(context["sources"])
    assert (context["entities"], len(context["sources"]), context["question"]["low"]) == ([], 1, ["Gudgeon"])
    assert read_json("status")["status"]["documents"] == {"indexed": 1}
    assert threadlore("verify").exit_code == 0
    assert threadlore("backup", "b.tar.gz").exit_code == 0
    other = ("--data-dir", "other")
    assert [threadlore(*other, "restore", "b.tar.gz").exit_code for _ in range(2)] == [0, 1]
    assert threadlore(*other, "export").stdout == threadlore("export").stdout
    assert threadlore(*other, "export", "--format", "graphml", "-o", "town.graphml").exit_code == 0
    assert "graphml" in Path("town.graphml").read_text()
    assert threadlore(*other, "forget", "town/ferry.md").exit_code == 0
    assert read_json(*other, "documents")["documents"] == []


@pytest.mark.long
def test_a_receipt_tells_that_a_backup_brought_back_what_was_forgotten(home: Path) -> None:
    copy = ("--data-dir", "copy")
    assert threadlore("backup", "copy.tar.gz").exit_code == 0
    assert threadlore(*copy, "restore", "copy.tar.gz").exit_code == 0
    rehearsed = read_json(*copy, "forget", "town/ferry.md", "--dry-run")
    assert len(read_json(*copy, "documents")["documents"]) == 1
    assert threadlore(*copy, "forget", "town/ferry.md", "--receipt", "r.json").exit_code == 0
    assert read_json(*copy, "documents")["documents"] == []
    receipt = json.loads(Path("r.json").read_text())
    assert receipt["counts"] == rehearsed["counts"]
    assert not re.search("gudgeon|ferry|noon", Path("r.json").read_text(), re.IGNORECASE)
    assert receipt["id"] in threadlore(*copy, "receipts").stdout
    assert json.loads(threadlore(*copy, "receipts", receipt["id"]).stdout) == receipt
    clean = threadlore(*copy, "verify", "r.json")
    assert (clean.exit_code, "Nothing that it names is stored." in clean.stdout) == (0, True)
    key = threadlore(*copy, "receipts", "--public-key").stdout.strip()
    assert threadlore("--data-dir", "elsewhere", "verify", "r.json", "--public-key", key).exit_code == 0
    assert threadlore(*copy, "restore", "copy.tar.gz", "--force").exit_code == 0
    back = threadlore(*copy, "verify", "r.json")
    assert (back.exit_code, "1 document" in back.stdout) == (1, True)
    assert threadlore(*copy, "verify", "r.json", "--erase-again").exit_code == 0
    assert read_json(*copy, "documents")["documents"] == []
    Path("r.json").write_text(Path("r.json").read_text().replace('"documents": 1', '"documents": 2'))
    assert "was changed" in threadlore(*copy, "verify", "r.json").stderr


def test_an_error_is_a_sentence_and_a_hint_without_a_trace() -> None:
    shown = threadlore("ingest", "nowhere")
    assert shown.exit_code == 1
    assert re.fullmatch(r"There is no file or folder \S+/nowhere\.\nCheck the path\.\n", shown.stderr)
    assert "Traceback" in threadlore("--debug", "ingest", "nowhere").stderr


@pytest.mark.long
def test_a_wrong_setting_is_refused_and_a_misspelt_one_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADLORE_LLM_MODLE", "openai/gpt-4o-mini")
    shown = threadlore("status", "--json")
    assert shown.exit_code == 0
    assert "There is no setting THREADLORE_LLM_MODLE" in shown.stderr
    assert json.loads(shown.stdout)
    (place / ".env").write_text("THREADLORE_LLM_MAX_CONCURRENCY=0\n")
    assert threadlore("status").exit_code == 0, "a file is read only where it is named"
    refused = threadlore("status", THREADLORE_QUESTIONS_PER_MINUTE="many")
    assert "THREADLORE_QUESTIONS_PER_MINUTE cannot be used: it is no whole number." in refused.stderr
    for words, name in ((("--env-file", ".env"), "LLM_MAX_CONCURRENCY"), ((), "GRAPH_BACKEND")):
        environment = {} if words else {"THREADLORE_GRAPH_BACKEND": "neo4j"}
        refused = threadlore(*words, "status", **environment)
        assert refused.exit_code == 1
        assert f"THREADLORE_{name} cannot be used" in refused.stderr


@pytest.mark.long
def test_commands_beside_a_conversation_are_run_by_it_and_after_it_by_themselves(
    place: Path, chatting: subprocess.Popen[str]
) -> None:
    (place / "ferry.md").write_text(FERRY)
    assert threadlore("ingest", "ferry.md").exit_code == 0
    assert "noon" in threadlore("ask", QUESTION).stdout
    chatting.kill()
    chatting.wait()
    assert "noon" in threadlore("ask", QUESTION).stdout


@pytest.mark.long
def test_ctrl_c_is_quiet(chatting: subprocess.Popen[str]) -> None:
    assert chatting.stdin
    chatting.send_signal(signal.SIGINT)
    chatting.stdin.close()
    assert chatting.wait(TIMEOUT) == 130
    assert chatting.stderr
    assert chatting.stderr.read() == ""


@pytest.mark.long
@pytest.mark.usefixtures("home")
def test_a_pipe_that_is_closed_early_is_no_error() -> None:
    with start("export") as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.wait(TIMEOUT)
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([ProgressUpdate("indexing", 1, 1), IngestResult(1, 1, 1, 0.1)], 0),
        ([IngestResult(1, 0, 0, 0.1, (IngestFailure("a.png", "A picture."),))], 1),
        ([IngestResult(1, 1, 1, 30.0, trouble="Nobody is there. 1 document waits for it.")], 1),
    ],
)
def test_an_ingest_is_a_success_only_if_all_of_it_is_indexed(events: list[Any], code: int) -> None:
    assert ingest_exit_code(events) == code
    assert describe_formats() in INGEST_HELP


def test_the_command_line_takes_the_clock_of_the_program_that_runs_it() -> None:
    shown = CliRunner().invoke(app, ["doctor", "--json"], obj=ManualClock())
    texts = {finding["name"]: finding["text"] for finding in json.loads(shown.stdout)}
    assert texts["clock"].startswith("It is 2026-11-20 10:00 UTC")


def test_an_estimate_reads_files_and_stores_nothing(tmp_path: Path) -> None:
    (tmp_path / "ferry.md").write_text(FERRY)
    command = ("--data-dir", str(tmp_path / "home"), "ingest", str(tmp_path / "ferry.md"), "--estimate")
    assert threadlore(*command, COLUMNS="400").stdout == (
        "To index: 1 new file. No model reads them: that costs nothing.\n"
    )
    assert not json.loads(threadlore(*command[:2], "documents", "--json").stdout)["documents"]
