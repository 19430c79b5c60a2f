from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from bot.admin import results
from bot.cli.render import tables
from engine.models import Context, ContextEntity, ContextRelation, LLMMessage, SearchQuery, Source
from engine.storage.ledger.records.query_results import DocumentInfo, IndexStatus
from engine.usage import Usage

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bot.admin.results import OperationResult

NOON = datetime(2026, 5, 12, 12, tzinfo=UTC)


def source(**changed: object) -> Source:
    fields: dict[str, object] = {
        "number": 1,
        "document": "file:/a",
        "passage": "1",
        "title": "Harbour rules",
        "label": "p. 3",
        "link": "https://town.example/rules",
        "author": "",
        "time": NOON,
        "text": "The fee for a berth is\nnine crowns.",
        "space": "s",
        "room": "files",
        "chunk": "c",
    }
    return Source(**{**fields, **changed})  # type: ignore[arg-type]


def drawn(what: RenderableType) -> str:
    file = io.StringIO()
    Console(file=file, width=100, color_system=None).print(what)
    return file.getvalue()


def test_a_source_shows_number_title_place_time_and_link_and_no_text() -> None:
    shown = drawn(tables.render_sources([source()]))
    assert "[1] Harbour rules · p. 3 · 2026-05-12" in shown
    assert "https://town.example/rules" in shown
    assert "crowns" not in shown


def test_the_text_of_a_source_is_shown_by_its_beginning_or_whole_when_asked() -> None:
    long = source(text="word " * 100)
    assert "word …”" in drawn(tables.render_sources([long], "beginning"))
    assert drawn(tables.render_sources([long], "whole")).count("word") == 100


def test_what_others_wrote_does_not_command_the_terminal_nor_the_layout() -> None:
    shown = drawn(tables.render_sources([source(title="\x1b[2J[red]x[/red]", text="\x1b]0;t\x07")]))
    assert "\x1b" not in shown
    assert "[red]x[/red]" in shown


@pytest.mark.parametrize("base", [Path.cwd(), Path.home()])
def test_a_file_is_shown_by_its_path_from_where_we_stand(base: Path) -> None:
    sign = Path() if base == Path.cwd() else Path("~")
    assert tables.format_link((base / "a b" / "c.md").as_uri()) == str(sign / "a b" / "c.md")


def test_another_address_is_shown_as_it_is() -> None:
    assert tables.format_link("https://a.example/x%20y") == "https://a.example/x%20y"


def test_what_a_question_took_is_one_line_and_nothing_if_it_took_nothing() -> None:
    assert tables.format_usage([Usage("answer", "m", 1200, 30, 0.0021)]) == "1,200 tokens in, 30 out, $0.0021"
    assert tables.format_usage([Usage("embed", "minilm", 12)]) == ""


def test_an_answer_becomes_text_sources_and_usage_for_programs() -> None:
    seen: list[OperationResult] = [
        results.RetrievalSummary(1, 1, 1),
        results.AnswerDelta("Nine "),
        results.AnswerDelta("crowns [1]."),
        results.AnswerEnd((source(),), (Usage("answer", "m", 1, 2, cut_off=True),), cut_off=True),
    ]
    told = json.loads(tables.to_json(seen))
    assert told["text"] == "Nine crowns [1]."
    assert told["sources"][0]["link"] == "https://town.example/rules"
    assert told["cut_off"]
    assert told["usage"][0]["cut_off"]


def test_every_other_event_becomes_its_fields_for_programs() -> None:
    told = json.loads(
        tables.to_json(
            [results.ProgressUpdate("x"), results.IngestResult(1, 1, 1, 0.5, (results.IngestFailure("a", "b"),))]
        )
    )
    assert told["failures"] == [{"what": "a", "error": "b", "hint": ""}]


def test_numbers_are_told_with_what_waits() -> None:
    shown = drawn(
        tables.render_status(
            results.StatusResult(IndexStatus({"indexed": 2, "pending": 1}, 9, 4, 1, 3, 2, 0, 1, "No model."))
        )
    )
    for words in ("2 indexed, 1 pending", "9 in 4 chunks", "1 entity, 3 relations", "2 chunks to extract", "No model."):
        assert words in shown
    assert "1 document with errors" in shown


def test_numbers_tell_what_was_given_up_and_what_fails_in_the_background() -> None:
    status = IndexStatus(
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
    shown = drawn(tables.render_status(results.StatusResult(status)))
    assert all(words in shown for words in ("2 keys without a vector", "A vector is NaN.", "Tidy fails."))


def test_documents_are_listed_with_their_keys() -> None:
    listed = DocumentInfo(
        "file:/a", "s", "files", "file", "Rules", "", NOON, False, "failed", "A vector is NaN.", "Wait.", 1, 2
    )
    shown = drawn(tables.render_documents(results.DocumentList((listed,))))
    assert all(words in shown for words in ("file:/a", "failed", "A vector is NaN.", "Wait."))
    assert "ingest" in drawn(tables.render_documents(results.DocumentList(())))


def test_a_name_is_shown_with_its_relations_as_a_tree() -> None:
    relations = (ContextRelation("Ada", "Rope", "holds", "Ada holds the rope.", 2.0),)
    shown = drawn(tables.render_entity(results.EntityResult(ContextEntity("Ada", "person", "A sailor."), relations)))
    assert shown.splitlines()[0].strip() == "Ada (person)"
    assert "Rope  ×2  holds" in shown


def test_a_context_is_shown_with_its_timings() -> None:
    entities = tuple(ContextEntity(f"E{number}", "t", "d") for number in range(20))
    context = Context(SearchQuery("Who?", ("h",), ("l",)), "mix", entities, (), (source(),), {"search": 12.0})
    shown = drawn(tables.render_context(results.ContextResult(context)))
    assert "search 12 ms" in shown
    assert "8 more rows" in shown
    assert "[1] Harbour rules" in shown


def test_a_prompt_is_shown_message_by_message() -> None:
    shown = drawn(
        tables.render_prompt(results.PromptResult((LLMMessage("system", "Be [brief]."), LLMMessage("user", "Who?"))))
    )
    assert "── system\nBe [brief]." in shown


def test_failures_are_a_table_with_hints() -> None:
    waiting = drawn(
        tables.render_ingest(results.IngestResult(1, 1, 1, 30.0, trouble="Nobody is there. 1 document waits."))
    )
    assert "Nobody is there. 1 document waits.\nRun the command again" in waiting
    shown = drawn(
        tables.render_ingest(
            results.IngestResult(3, 2, 1, 2.0, (results.IngestFailure("/a.pdf", "Broken.", "Save it."),))
        )
    )
    assert "3 files → 2 documents (1 new or changed, 1 unchanged) in 2.0 s" in shown
    assert "/a.pdf" in shown
    assert "Save it." in shown


def test_differences_are_listed_with_what_to_do() -> None:
    shown = drawn(tables.render_verification(results.VerifyResult(("entity 3 is missing",))))
    assert "entity 3 is missing" in shown
    assert "1 difference (repair them with `threadlore verify --repair`)." in shown
    assert "match the ledger" in drawn(tables.render_verification(results.VerifyResult(())))
