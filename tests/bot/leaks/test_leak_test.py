"""Nobody learns what was planted where they may not read; and where a check is missing, the test says so."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.__main__ import app
from bot.capabilities import run
from bot.capabilities.table import ROWS
from bot.leaks.askers import find_asker
from bot.leaks.leak_test import LeakTest, run_leak_test
from bot.leaks.report import Leak, LeakReport
from bot.model_setup.opened import EngineModels
from bot.permissions import audience
from bot.platform.models import Location
from bot.store import BotStore
from engine import ModelClient, OfflineModel
from engine.clock import SYSTEM_CLOCK
from engine.errors import InvalidQuestion, NotFound
from engine.storage.ledger.queries import search
from tests.support.fake_embedder import HashEmbedder
from tests.support.plain_settings import plain_settings

PLACE = Location("chat", "W", "")
GUARDED = ("private channel", "direct messages", "age-restricted private channel", "personal files")


async def run_test(home: Path, *askers: str, with_doors: bool = False, kinds: Collection[str] = ()) -> LeakReport:
    """Test an empty store with embedded skills and hashed vectors."""
    embedder = HashEmbedder()
    models = EngineModels(OfflineModel(embedder), embedder, None, ModelClient())
    chosen = LeakTest(None, plain_settings(data_dir=home), SYSTEM_CLOCK, askers, with_doors=with_doors, kinds=kinds)
    return await run_leak_test(chosen, models)


async def test_a_guest_learns_nothing_and_every_capability_is_tried_or_named(tmp_path: Path) -> None:
    report = await run_test(tmp_path, "guest", kinds=("private channel", "open channel, for guests"))
    assert report.leaks == []
    surfaces = {surface for surface, _ in report.tried}
    assert {row.name for row in ROWS} <= surfaces | report.untried.keys()
    assert {
        "chat: graph",
        "chat: graph, private",
        "chat: completion of names",
        "chat: home page",
        "chat: question in a channel",
    } <= surfaces
    assert report.planted == ["private channel", "open channel, for guests"]


@pytest.mark.long
async def test_nobody_learns_anything_through_any_door(tmp_path: Path) -> None:
    report = await run_test(tmp_path, "member", "guest", "manager", "space", with_doors=True)
    assert report.leaks == []
    surfaces = {surface for surface, _ in report.tried}
    assert {"direct messages", "personal files", "other workspace", "space of the terminal"} <= {*report.planted}
    assert {"mcp: tool ask", "mcp: resource", "web: GET /api/v1/graph", "web: GET /graph/around"} <= surfaces


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "name", "replacement"),
    [
        (audience, "_is_visible_to", lambda *_: True),
        (audience, "personal_space", lambda *_: "shared:dm"),
        (run, "_list_permissions", lambda row: (row.permission or "read", "ask", "read")),
        (search, "space_clause", lambda *_: "1 = 1"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
async def test_a_check_that_is_missing_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, replacement: Any
) -> None:
    monkeypatch.setattr(module, name, replacement)
    assert (await run_test(tmp_path, "member", "manager", kinds=GUARDED)).leaks


@pytest.mark.long
def test_the_command_tests_a_copy_and_leaves_the_data_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    note = tmp_path / "note.md"
    note.write_text("Mira keeps the ferry.", encoding="utf-8")
    before = ["--data-dir", str(home)]
    assert CliRunner().invoke(app, [*before, "ingest", str(note)]).exit_code == 0
    listed = CliRunner().invoke(app, [*before, "documents"]).output
    assert "note.md" in listed
    result = CliRunner().invoke(app, [*before, "audit", "--as", "space", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["leaks"] == []
    assert CliRunner().invoke(app, [*before, "documents"]).output == listed


async def test_an_asker_is_named_by_words_a_person_or_a_token(tmp_path: Path) -> None:
    async with BotStore.open(tmp_path / "bot.db", SYSTEM_CLOCK) as store:
        assert (await find_asker("guest", store, PLACE, "console:local")).kind == "guest"
        assert (await find_asker("space", store, PLACE, "console:local")).subject.space == "console:local"
        assert (await find_asker("chat:W:ada", store, PLACE, "")).subject.person == "ada"
        with pytest.raises(NotFound):
            await find_asker("@nobody", store, PLACE, "")
        with pytest.raises(NotFound):
            await find_asker("token:none", store, PLACE, "")
        with pytest.raises(InvalidQuestion):
            await find_asker("everybody", store, PLACE, "")


def test_the_report_counts_leaks_by_surface_and_asker() -> None:
    report = LeakReport()
    report.tried["ask", "guest"] = 3
    report.tried["ask", "member"] = 2
    report.add(Leak("ask", "guest", "words", "private channel"))
    report.add(Leak("ask", "guest", "words", "private channel"))
    assert report.rows() == [("ask", ["LEAK 1", "2"])]
    assert report.to_json()["leaks"] == [
        {"surface": "ask", "asker": "guest", "kind": "words", "guarded": "private channel"}
    ]
