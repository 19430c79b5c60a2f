from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType

from bot.capabilities import results
from bot.capabilities.documents.requests import UnreadFileInfo
from bot.capabilities.results import OperationResult
from bot.cli.render import tables, tokens
from bot.store import AccessToken, Subject
from engine.models import Context, ContextEntity, ContextRelation, LLMMessage, SearchQuery
from engine.parsers.sandbox.state import SandboxState
from engine.storage.ledger.records.query_results import IndexProblem, IndexStatus
from engine.usage import Usage
from tests.support.builders import make_listed, make_source
from tests.support.fake_platform import START

GOLDEN = Path(__file__).parent / "golden" / "tables.txt"
LONG = "The fee for a berth is\nnine crowns. " + "word " * 40
RULES = make_source(title="Harbour rules", label="p. 3", link="https://town.example/rules", text=LONG)
PLANTED = make_source(title="\x1b[2J[red]x[/red]", text="\x1b]0;t\x07")
ADA, HOLDS = ContextEntity("Ada", "person", "A sailor."), ContextRelation("Ada", "Rope", "holds", "She holds it.", 2.0)
FAILED: dict[str, Any] = {"status": "failed", "error": "A vector is NaN.", "hint": "Wait."}
WAITING = IndexStatus({"indexed": 2, "pending": 1}, 9, 4, 1, 3, 2, 0, 1, "No model.")
UNREAD = (
    IndexProblem("file:/nets", "Nets", "rowless", "model/m gave nothing for this text: “Sure!”", "Wait.", 2),
    IndexProblem("file:/oars", "", "cut_off", "model/m was cut off.", "", 1),
    IndexProblem("", "", "unknown", "", "", 3),
)
TROUBLED = IndexStatus(
    {"indexed": 2},
    9,
    4,
    1,
    3,
    0,
    0,
    0,
    without_vector=2,
    embedding_error="A vector is NaN.",
    background=("Tidy fails.",),
)
ENTITIES = tuple(ContextEntity(f"E{number}", "t", "d") for number in range(20))
CONTEXT = Context(SearchQuery("Who?", ("h",), ("l",)), "mix", ENTITIES, (), (RULES,), {"search": 12.0})
BROKEN = results.IngestFailure("/a.pdf", "Broken.", "Save it.")
TOKEN = AccessToken("1", "editor", Subject("slack", "T1", "U1"), ("ask", "read"), 60, START, START)
GOAT = UnreadFileInfo("goat.png", "#meadow", "U1", START, "picture", "I can't look at pictures.")
SHOWN: dict[str, RenderableType] = {
    "sources": tables.render_sources([RULES]),
    "sources with the beginning of their texts": tables.render_sources([RULES], "beginning"),
    "sources with their whole texts": tables.render_sources([RULES], "whole"),
    "a source with control characters and markup": tables.render_sources([PLANTED], "whole"),
    "a status with documents that wait": tables.render_status(results.StatusResult(WAITING)),
    "a status with trouble": tables.render_status(results.StatusResult(TROUBLED)),
    "a status with all of the sandbox": tables.render_status(
        results.StatusResult(TROUBLED, SandboxState(landlock=7, seccomp=True, memory=True))
    ),
    "a status without a sandbox": tables.render_status(results.StatusResult(TROUBLED, SandboxState(memory=True))),
    "a status with what was not read": tables.render_status(results.StatusResult(WAITING, None, UNREAD)),
    "a status of which all was read": tables.render_status(results.StatusResult(WAITING, None, ())),
    "a status with what other settings read": tables.render_status(
        results.StatusResult(replace(WAITING, outdated=1200))
    ),
    "documents": tables.render_documents(results.DocumentList((make_listed("file:/a", time=START, **FAILED),))),
    "no documents": tables.render_documents(results.DocumentList(())),
    "files that were not read": tables.render_documents(results.DocumentList((), unread_files=(GOAT,))),
    "files that were not read, in a narrow terminal": tables.render_document_list(
        results.DocumentList((), unread_files=(GOAT,))
    ),
    "a status with files that were not read": tables.render_status(
        results.StatusResult(WAITING, unread_files=(("picture", 8), ("", 1), ("other", 2)))
    ),
    "an entity": tables.render_entity(results.EntityResult(ADA, (HOLDS,))),
    "a context": tables.render_context(results.ContextResult(CONTEXT)),
    "a prompt": tables.render_prompt(
        results.PromptResult((LLMMessage("system", "Be [brief]."), LLMMessage("user", "Who?")))
    ),
    "an ingest that waits": tables.render_ingest(results.IngestResult(1, 1, 1, 30.0, trouble="Nobody is there.")),
    "an ingest with failures": tables.render_ingest(results.IngestResult(3, 2, 1, 2.0, (BROKEN,))),
    "a token of a person": tokens.render_new_token(results.TokenCreated(TOKEN, "tl_1_secret")),
    "a token of a space without an end": tokens.render_new_token(
        results.TokenCreated(replace(TOKEN, subject=Subject(space="console:local"), expires_at=None), "tl_1_secret")
    ),
    "differences": tables.render_verification(results.VerifyResult(("entity 3 is missing",))),
    "no differences": tables.render_verification(results.VerifyResult(())),
}


def test_tables_look_as_in_the_golden_file(compare_with_golden: Callable[[Path, str], None]) -> None:
    file = io.StringIO()
    console = Console(file=file, width=100, color_system=None)
    for title, table in SHOWN.items():
        file.write(f"=== {title}\n")
        console.print(table)
    text = "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"
    assert "\x1b" not in text
    compare_with_golden(GOLDEN, text)


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ((Path.cwd() / "a b" / "c.md").as_uri(), "a b/c.md"),
        ((Path.home() / "a b" / "c.md").as_uri(), "~/a b/c.md"),
        ("https://a.example/x%20y", "https://a.example/x%20y"),
    ],
    ids=["in the current folder", "in the home folder", "elsewhere"],
)
def test_a_file_is_shown_by_its_path_and_other_links_as_they_are(link: str, shown: str) -> None:
    assert tables.format_link(link) == shown


def test_usage_is_one_line_and_nothing_without_a_model() -> None:
    assert tables.format_usage([Usage("answer", "m", 1200, 30, 0.0021)]) == "1,200 tokens in, 30 out, $0.0021"
    assert tables.format_usage([Usage("embed", "minilm", 12)]) == ""


def test_an_answer_becomes_text_sources_and_usage_for_programs() -> None:
    usage = (Usage("answer", "m", 1, 2, cut_off=True),)
    pieces = [results.AnswerDelta("Nine "), results.AnswerDelta("crowns [1].")]
    events: list[OperationResult] = [*pieces, results.AnswerEnd((RULES,), usage, cut_off=True)]
    answer = json.loads(tables.to_json(events))
    assert (answer["text"], answer["cut_off"]) == ("Nine crowns [1].", True)
    assert answer["sources"][0]["link"] == "https://town.example/rules"
    assert answer["usage"][0]["cut_off"]


def test_every_other_result_becomes_its_fields_for_programs() -> None:
    result = results.IngestResult(1, 1, 1, 0.5, (results.IngestFailure("a", "b"),))
    shown = json.loads(tables.to_json([results.ProgressUpdate("x"), result]))
    assert shown["failures"] == [{"what": "a", "error": "b", "hint": ""}]
