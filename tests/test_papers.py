"""Checks README, docs/ and CONTRIBUTING.md: commands, options, settings, links, paths and snippets exist or run."""

from __future__ import annotations

import asyncio
import inspect
import os
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import engine
from adapters.discord.settings import DiscordSettings
from adapters.slack.http_receiver import PATH
from adapters.slack.install.pages import INSTALL_PATH, REDIRECT_PATH
from adapters.slack.settings import SlackSettings
from bot.__main__ import app
from bot.commands.table import COMMANDS
from bot.settings import PREFIX, Settings
from engine import Engine
from engine.parts.corrections import EngineCorrections
from engine.parts.documents import EngineDocuments
from engine.parts.graph import EngineGraph
from engine.parts.maintenance import EngineMaintenance

ROOT = Path(__file__).parents[1]
PAPERS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in PAPERS}
SNIPPETS = re.findall(r"```python\n(.*?)```", TEXTS["library.md"], re.DOTALL)
PLATFORM_COMMANDS = {"ask", "invite", "threadlore"}  # asking needs no row of the table; the others are Slack's
SLACK_PATHS = {PATH, INSTALL_PATH, REDIRECT_PATH}
PARTS = {
    "": Engine,
    "documents.": EngineDocuments,
    "graph.": EngineGraph,
    "corrections.": EngineCorrections,
    "maintenance.": EngineMaintenance,
}
PROGRAM: Any = get_command(app)

by_paper = pytest.mark.parametrize("name", TEXTS)


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def code_of(text: str) -> list[str]:
    """Inline code, and the lines of blocks without a language."""
    blocks = re.findall(r"```\n(.*?)```", text, re.DOTALL)
    without = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return [*re.findall(r"`([^`\n]+)`", without), *(line for block in blocks for line in block.splitlines())]


def test_the_papers_are_there_and_as_short_as_they_should_be() -> None:
    assert {"CONTRIBUTING.md", "architecture.md", "library.md", "operations.md", "benchmarks.md"} <= set(TEXTS)
    assert len(TEXTS["README.md"].splitlines()) <= 120
    assert len(TEXTS["benchmarks.md"].splitlines()) <= 250


def test_the_index_of_the_operations_leads_to_each_section_once() -> None:
    index, _, rest = TEXTS["operations.md"].partition("\n## ")
    sections = re.findall(r"^#{2,} (.+)$", f"## {rest}", re.MULTILINE)
    assert sorted(re.findall(r"\]\(#([^)]+)\)", index)) == sorted(map(slug, sections))


@by_paper
def test_no_paper_has_traces_of_a_merge(name: str) -> None:
    assert re.findall(r"^(?:<{7}|={7}|>{7})(?:\s|$)", TEXTS[name], re.MULTILINE) == []


@by_paper
def test_make_targets_exist(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {each for code in code_of(TEXTS[name]) for each in re.findall(r"\bmake ([a-z-]+)", code)}
    assert named <= targets


@by_paper
def test_commands_and_their_options_exist(name: str) -> None:
    for code in code_of(TEXTS[name]):
        for words in re.findall(r"(?<![/.@\w])threadlore ([^#]+)", code):
            command, general = PROGRAM, [option for param in PROGRAM.params for option in param.opts]
            plain = re.sub(r"--env-file FILE …|\"[^\"]*\"", "", words).split()
            if not plain or plain[0] in {"COMMAND", "FILE", "…"}:
                continue
            if plain[0] == "--version":
                assert {*plain} <= {*general}, code
                continue
            assert plain[0] in command.commands, code
            command = command.commands[plain.pop(0)]
            if plain and plain[0] in getattr(command, "commands", {}):
                command = command.commands[plain[0]]
            named = command.get_params(command.context_class(command))  # those of plug-ins, too
            options = {"--help", *general, *(opt for param in named for opt in param.opts)}
            assert {part for part in plain if part.startswith("-")} <= options, code


def test_every_command_of_the_program_is_documented() -> None:
    documented = set(re.findall(r"`threadlore ([a-z-]+)", TEXTS["operations.md"]))
    assert set(PROGRAM.commands) <= documented
    correct = set(PROGRAM.commands["correct"].commands)
    assert correct <= set(re.findall(r"`([a-z]+)`", TEXTS["operations.md"]))


def test_the_retrieval_options_named_are_those_of_ask() -> None:
    paragraph = TEXTS["operations.md"].partition("QueryParam:")[2].partition("\n\n")[0]
    params = PROGRAM.commands["ask"].params
    options = {opt for param in params for opt in (*param.opts, *param.secondary_opts)}
    assert set(re.findall(r"--[a-z-]+", paragraph)) <= options


@by_paper
def test_chat_commands_exist(name: str) -> None:
    slashed = [code for code in code_of(TEXTS[name]) if code.startswith("/") and code not in SLACK_PATHS]
    named = {each for code in slashed for each in re.findall(r"(?:^|threadlore )/?([a-z-]+)", code)}
    known = {*COMMANDS, *PLATFORM_COMMANDS, "data", "healthz", "metrics", "readyz", "slack", "tmp"}
    assert named <= known


@by_paper
def test_settings_exist(name: str) -> None:
    named = {each.lower() for each in re.findall(rf"{PREFIX}([A-Z_]+)", TEXTS[name])}
    slack = {f"slack_{field}" for field in SlackSettings.model_fields}
    discord = {f"discord_{field}" for field in DiscordSettings.model_fields}
    secrets = {each for each in named if each.startswith("source_")}  # of sources, whose names the operator chooses
    assert named - secrets <= {*Settings.model_fields, *slack, *discord}


@by_paper
def test_links_lead_to_files_and_headings(name: str) -> None:
    folder = next(path.parent for path in PAPERS if path.name == name)
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", TEXTS[name]):
        file, _, anchor = target.partition("#")
        leads_to = folder / (file or name)
        assert leads_to.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", leads_to.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {slug(heading) for heading in headings}, target


@by_paper
def test_named_paths_exist(name: str) -> None:
    folders = ("engine/", "bot/", "adapters/", "tests/", "benchmarks/", "docs/", "examples/", "scripts/", ".ci/")
    named = {
        code
        for code in code_of(TEXTS[name])
        if code.startswith((*folders, ".env.example")) and "<" not in code and " " not in code
    }
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_library_lists_every_call_of_the_engine_and_its_parts() -> None:
    rows = re.findall(r"^\| (`[a-z_.`, ]+) \|", TEXTS["library.md"], re.MULTILINE)
    listed = {call for row in rows for call in re.findall(r"`([\w.]+)`", row)}
    public = {
        f"{part}{name}"
        for part, owner in PARTS.items()
        for name, method in vars(owner).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }
    assert listed == public


def test_a_snippet_of_the_library_uses_each_public_name() -> None:
    lines = [line for snippet in SNIPPETS for line in snippet.splitlines() if not line.startswith("from ")]
    assert set(dir(engine)) - set(re.findall(r"\w+", "\n".join(lines))) == set()


def test_the_snippets_of_the_library_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in a folder of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for number, snippet in enumerate(SNIPPETS):
        folder = tmp_path / f"snippet {number}"
        folder.mkdir()
        (folder / "README.md").write_text("# The hall\n\nThe hall opens at nine.\n")
        monkeypatch.chdir(folder)
        names: dict[str, Any] = {"asyncio": asyncio, "os": os}
        exec(f"async def run():\n{textwrap.indent(snippet, '    ')}", names)
        asyncio.run(names["run"]())
