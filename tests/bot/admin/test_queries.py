from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from bot.admin import queries
from bot.admin.document_lookup import LOCAL_SPACE, chat_key
from bot.admin.requests import Ask, Ingest, RetrievalOptions
from bot.admin.results import AnswerDelta, AnswerEnd, ContextResult, ProgressUpdate, PromptResult, RetrievalSummary
from engine.errors import InvalidQuestion, NotFound
from engine.models import ChatTurn

if TYPE_CHECKING:
    from pathlib import Path

    from bot.admin.requests import AskOutput
    from bot.admin.results import OperationResult
    from tests.bot.conftest import Perform

pytestmark = pytest.mark.usefixtures("taken_in")


def said(town: Path, id_: str) -> str:
    return chat_key(town / "harbour.jsonl", LOCAL_SPACE, id_)


async def sources(perform: Perform, text: str, **more: Any) -> set[str]:
    [found] = await perform(Ask(text, (LOCAL_SPACE,), output="context", **more))
    assert isinstance(found, ContextResult)
    return {source.document for source in found.context.sources}


async def test_an_answer_comes_in_pieces_between_what_was_recalled_and_what_was_cited(perform: Perform) -> None:
    first, *pieces, last = await perform(Ask("When does the Gudgeon leave?", (LOCAL_SPACE,)))
    assert isinstance(first, RetrievalSummary)
    assert first.passages > 0
    assert all(isinstance(piece, AnswerDelta) for piece in pieces)
    assert isinstance(last, AnswerEnd)
    assert [source.number for source in last.sources] == list(range(1, len(last.sources) + 1))
    assert last.sources
    assert last.usage


async def test_a_context_is_recalled_without_an_answer(perform: Perform, town: Path) -> None:
    assert f"file:{town / 'ferry.md'}" in await sources(perform, "When does the Gudgeon leave?")


async def test_retrieval_options_limit_the_context_and_replace_the_keywords(perform: Perform) -> None:
    options = RetrievalOptions(chunk_top_k=1, max_entity_tokens=0, max_relation_tokens=0, low=("Gudgeon",))
    [found] = await perform(Ask("Ferry?", (LOCAL_SPACE,), output="context", retrieval=options))
    assert isinstance(found, ContextResult)
    assert len(found.context.sources) == 1
    assert (found.context.entities, found.context.relations) == ((), ())
    assert found.context.question.low == ("Gudgeon",)


async def test_a_prompt_is_what_the_model_would_be_sent(perform: Perform) -> None:
    [prompted] = await perform(Ask("When does the Gudgeon leave?", (LOCAL_SPACE,), output="prompt"))
    assert isinstance(prompted, PromptResult)
    assert "leaves at noon" in "".join(message.content for message in prompted.messages)


async def test_history_is_part_of_the_question(perform: Perform) -> None:
    request = Ask(
        "And who sells tickets?", (LOCAL_SPACE,), history=(ChatTurn("user", "The Gudgeon?"),), output="context"
    )
    [found] = await perform(request)
    assert isinstance(found, ContextResult)
    assert "Gudgeon" in found.context.question.question


async def test_a_question_can_be_narrowed_to_a_chat_by_the_path_of_its_file(perform: Perform, town: Path) -> None:
    found = await sources(perform, "Kiosk Gudgeon", documents=("harbour.jsonl",), working_dir=str(town))
    assert found == {said(town, "m1"), said(town, "m2")}


@pytest.mark.parametrize("name", ["#harbour", "#Harbour"])
async def test_a_summary_of_a_chat_is_of_the_chat_with_the_name_typed(perform: Perform, town: Path, name: str) -> None:
    found = await sources(perform, f"Summarise {name}")
    assert found == {said(town, "m1"), said(town, "m2")}


async def test_a_name_that_no_chat_has_makes_no_summary(perform: Perform) -> None:
    [found] = await perform(Ask("Summarise #nowhere", (LOCAL_SPACE,), output="context"))
    assert isinstance(found, ContextResult)
    assert found.context.overview is None


async def test_a_question_can_be_narrowed_to_a_document_by_its_path(perform: Perform, town: Path) -> None:
    assert await sources(perform, "Ada?", documents=("tea.txt",), working_dir=str(town)) == {f"file:{town / 'tea.txt'}"}


async def test_a_question_can_be_narrowed_to_a_room_an_author_or_a_time(perform: Perform, town: Path) -> None:
    assert await sources(perform, "Ada?", rooms=("harbour",)) == {said(town, "m1"), said(town, "m2")}
    assert await sources(perform, "Ada?", authors=("Mina",)) == {said(town, "m2")}
    afternoon = datetime(2026, 5, 12, 12, tzinfo=UTC)
    assert await sources(perform, "Ada?", rooms=("harbour",), since=afternoon) == {said(town, "m2")}


async def test_nothing_comes_from_another_space(perform: Perform) -> None:
    [found] = await perform(Ask("Gudgeon?", ("elsewhere",), output="context"))
    assert isinstance(found, ContextResult)
    assert found.context.is_empty


async def test_an_empty_question_and_an_unknown_document_are_errors(perform: Perform) -> None:
    with pytest.raises(InvalidQuestion):
        await perform(Ask("  ", (LOCAL_SPACE,)))
    with pytest.raises(NotFound, match=r"none\.md"):
        await perform(Ask("Ada?", (LOCAL_SPACE,), documents=("none.md",)))


async def test_a_span_of_time_says_that_it_leaves_out_undated_documents(perform: Perform, town: Path) -> None:
    (town / "note.txt").write_text("The Gudgeon leaves at noon, says the note.")
    await perform(Ingest((str(town / "note.txt"),), LOCAL_SPACE))
    *_, asked = await perform(Ask("When does the Gudgeon leave?", (LOCAL_SPACE,)))
    *_, since = await perform(
        Ask("When does the Gudgeon leave?", (LOCAL_SPACE,), since=datetime(2020, 1, 1, tzinfo=UTC))
    )
    assert isinstance(asked, AnswerEnd)
    assert isinstance(since, AnswerEnd)
    assert (asked.undated, since.undated) == (False, True)
    assert all(source.time for source in since.sources)


@pytest.mark.parametrize(
    ("outcome", "kind"), [("answer", RetrievalSummary), ("context", ContextResult), ("prompt", PromptResult)]
)
async def test_what_does_not_come_at_once_says_what_it_waits_for(
    perform: Perform, monkeypatch: pytest.MonkeyPatch, outcome: AskOutput, kind: type[OperationResult]
) -> None:
    monkeypatch.setattr(queries, "SLOW_START_SECONDS", 0.0)
    first, second, *_ = await perform(Ask("When does the Gudgeon leave?", (LOCAL_SPACE,), output=outcome))
    assert isinstance(first, ProgressUpdate)
    assert first.trouble == queries.SEARCHING
    assert isinstance(second, kind)
