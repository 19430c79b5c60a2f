from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from bot import texts
from bot.capabilities.access.hints import list_end_notices
from bot.capabilities.asking import queries
from bot.capabilities.documents.lookup import LOCAL_SPACE, chat_key
from bot.capabilities.requests import Ask, AtSpace, Ingest, RetrievalOptions
from bot.capabilities.results import AnswerDelta, AnswerEnd, ContextResult, ProgressUpdate, PromptResult
from bot.context import EngineContext
from engine.errors import InvalidQuestion, NotFound
from engine.models import ChatTurn, Context
from tests.bot.capabilities.conftest import Perform, last

GUDGEON = "When does the Gudgeon leave?"
NOON = datetime(2026, 5, 12, 12, tzinfo=UTC)
ingested = pytest.mark.usefixtures("ingested")


async def retrieve(perform: Perform, text: str, space: str = LOCAL_SPACE, **facts: Any) -> Context:
    return last(await perform(AtSpace(space, Ask(text, output="context", **facts))), ContextResult).context


@ingested
async def test_an_answer_comes_in_pieces_before_what_was_cited(perform: Perform) -> None:
    *pieces, end = await perform(Ask(GUDGEON))
    assert pieces
    assert all(isinstance(piece, AnswerDelta) for piece in pieces)
    assert isinstance(end, AnswerEnd)
    assert [source.number for source in end.sources] == list(range(1, len(end.sources) + 1))
    assert end.sources
    assert end.usage


@ingested
async def test_retrieval_options_limit_the_context_and_replace_the_keywords(perform: Perform) -> None:
    options = RetrievalOptions(chunk_top_k=1, max_entity_tokens=0, max_relation_tokens=0, low=("Gudgeon",))
    context = await retrieve(perform, "Ferry?", retrieval=options)
    assert (len(context.sources), context.entities, context.relations) == (1, (), ())
    assert context.question.low == ("Gudgeon",)


@ingested
async def test_a_prompt_is_what_the_model_would_be_sent(perform: Perform) -> None:
    prompt = last(await perform(Ask(GUDGEON, output="prompt")), PromptResult)
    assert "leaves at noon" in "".join(message.content for message in prompt.messages)


@ingested
async def test_history_is_part_of_the_question(perform: Perform) -> None:
    context = await retrieve(perform, "And who sells tickets?", history=(ChatTurn("user", "The Gudgeon?"),))
    assert "Gudgeon" in context.question.question


@ingested
async def test_a_question_can_be_limited_to_documents_rooms_authors_times_and_a_space(
    perform: Perform, town: Path
) -> None:
    keys = {"tea.txt": f"file:{town / 'tea.txt'}"}
    keys |= {id_: chat_key(town / "harbour.jsonl", LOCAL_SPACE, id_) for id_ in ("m1", "m2")}
    cases: list[tuple[str, dict[str, Any], set[str]]] = [
        ("Kiosk Gudgeon", {"documents": ("harbour.jsonl",)}, {"m1", "m2"}),
        ("Summarise #harbour", {}, {"m1", "m2"}),
        ("Summarise #Harbour", {}, {"m1", "m2"}),
        ("Ada?", {"documents": ("tea.txt",)}, {"tea.txt"}),
        ("Ada?", {"rooms": ("harbour",)}, {"m1", "m2"}),
        ("Ada?", {"authors": ("Mina",)}, {"m2"}),
        ("Ada?", {"rooms": ("harbour",), "since": NOON}, {"m2"}),
        ("in:#Harbour Ada?", {}, {"m1", "m2"}),
        ("Ada? in:#harbour", {"since": NOON}, {"m2"}),
        ("Ada? from:@Mina", {"authors": ("Mina", "Otto")}, {"m2"}),
        ("Ada? from:@Mina", {"authors": ("Otto",)}, set()),
        ("Gudgeon?", {"space": "elsewhere"}, set()),
    ]
    for text, facts, documents in cases:
        context = await retrieve(perform, text, working_dir=str(town), **facts)
        assert {source.document for source in context.sources} == {keys[document] for document in documents}, (
            text,
            facts,
        )
        assert context.is_empty is not bool(documents)


@ingested
@pytest.mark.parametrize(
    ("text", "rooms", "named"),
    [
        ("in:#elsewhere Ada?", (), "#elsewhere"),
        ("Ada?", ("#elsewhere", "nowhere"), "#elsewhere, #nowhere"),
        ("in:#elsewhere Ada?", ("harbour",), "#elsewhere"),
    ],
)
async def test_channels_of_which_nothing_is_known_are_named(
    perform: Perform, text: str, rooms: tuple[str, ...], named: str
) -> None:
    with pytest.raises(InvalidQuestion, match=f"^Nothing that can be read here is in {named}[.]$") as refused:
        await retrieve(perform, text, rooms=rooms)
    assert refused.value.hint.startswith("Check the name.")


@ingested
async def test_one_known_channel_of_several_is_searched(perform: Perform) -> None:
    assert (await retrieve(perform, "Ada?", rooms=("harbour", "nowhere"))).sources


@ingested
async def test_an_unknown_chat_makes_no_summary_and_a_known_file_is_found(perform: Perform, town: Path) -> None:
    assert (await retrieve(perform, "Summarise #nowhere")).overview is None
    found = {source.document for source in (await retrieve(perform, GUDGEON)).sources}
    assert f"file:{town / 'ferry.md'}" in found


@ingested
async def test_an_empty_question_and_an_unknown_document_are_errors(perform: Perform) -> None:
    with pytest.raises(InvalidQuestion):
        await perform(Ask("  "))
    for ids in ("from:<@U1>", "in:<#C1>"):
        with pytest.raises(InvalidQuestion, match="id here"):
            await perform(Ask(f"Ada? {ids}"))
    with pytest.raises(NotFound, match=r"none\.md"):
        await perform(Ask("Ada?", documents=("none.md",)))


@ingested
async def test_a_time_span_says_that_it_leaves_out_undated_documents(perform: Perform, town: Path) -> None:
    (town / "note.txt").write_text("The Gudgeon leaves at noon, says the note.")
    await perform(Ingest((str(town / "note.txt"),), LOCAL_SPACE))
    for since, undated in ((None, False), (datetime(2020, 1, 1, tzinfo=UTC), True)):
        end = last(await perform(Ask(GUDGEON, since=since)), AnswerEnd)
        assert end.undated is undated
        assert not undated or all(source.time for source in end.sources)


@ingested
async def test_an_answer_from_an_index_that_is_rebuilt_says_so(perform: Perform, engine_context: EngineContext) -> None:
    await engine_context.engine._ledger.settings.set("reindexing", 1)
    end = last(await perform(Ask(GUDGEON)), AnswerEnd)
    assert list_end_notices(end) == [texts.REBUILDING]


@ingested
async def test_a_slow_start_says_what_it_waits_for(perform: Perform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "SLOW_START_SECONDS", 0.0)
    kinds: dict[Any, type] = {"answer": AnswerDelta, "context": ContextResult, "prompt": PromptResult}
    for output, kind in kinds.items():
        first, second, *_ = await perform(Ask(GUDGEON, output=output))
        assert isinstance(first, ProgressUpdate)
        assert first.trouble == queries.SEARCHING
        assert isinstance(second, kind)


@pytest.mark.parametrize("text", [GUDGEON, "What was decided lately?"])
async def test_an_empty_folder_says_how_to_ingest_unless_the_model_alone_is_asked(perform: Perform, text: str) -> None:
    with pytest.raises(NotFound, match="There are no documents yet") as caught:
        await perform(Ask(text))
    assert "threadlore ingest" in caught.value.hint
    assert await perform(Ask(text, mode="bypass"))


@ingested
async def test_nothing_found_among_documents_is_no_empty_folder(perform: Perform) -> None:
    assert await perform(Ask("Xyzzy plugh?", mode="naive"))


@ingested
async def test_as_of_a_day_an_answer_says_so_and_nothing_later_is_known(perform: Perform) -> None:
    *_, end = await perform(Ask(GUDGEON, as_of="3 May 2020"))
    assert isinstance(end, AnswerEnd)
    assert (end.as_of, end.sources) == (date(2020, 5, 3), ())
    assert list_end_notices(end)[0] == "As of May 3, 2020: what was written later is left out."
    context = await retrieve(perform, f"{GUDGEON} as of yesterday", as_of="2020-05-03")
    assert (context.as_of, context.sources) == (date(2020, 5, 3), ())
    with pytest.raises(InvalidQuestion, match="still to come"):
        await perform(Ask(GUDGEON, as_of="2999-01-01"))
