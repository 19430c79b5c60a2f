from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers.query_rewriter import answer_cache_key
from engine.boundary import MODES
from engine.engine import Engine
from engine.errors import InvalidQuestion, ModelUnavailable
from engine.models import ChatTurn, LLMMessage, Passage, Question, RetrievalMode, Scope, SearchQuery
from engine.options import ContextWindow, EngineOptions
from engine.text.tokenizer import O200kTokenizer
from engine.usage import Purpose
from tests.support.clock import ManualClock
from tests.support.engine_fixture import HERE, doc, fetch_rows
from tests.support.indexed_engine import OpenIndexed, index
from tests.support.patience import PATIENCE
from tests.support.scripted_language import ScriptedLanguage
from tests.support.toy_language import ToyLanguage

TOWN = (
    doc("ferry", "The Ferry costs four crowns.", "Ada rows the Ferry to Brook."),
    doc("inn", "Bob keeps the Inn at Brook."),
)
FERRY = Question("What does the Ferry cost?", HERE)
HISTORY = (ChatTurn("user", "Tell me of the Ferry."), ChatTurn("assistant", "It leaves at noon."))
INN_QUERY = SearchQuery("Who keeps the Inn?", ("keeping",), ("Inn",))


async def open_town(
    indexed: OpenIndexed, *reply: str | Exception, keywords: SearchQuery | None = None, **options: Any
) -> tuple[Engine, ScriptedLanguage]:
    """The town, and a language that gives this reply to every question."""
    language = ScriptedLanguage(*(reply or ("So.",)), keywords=keywords)
    return await indexed(*TOWN, language=language, options=EngineOptions(**options)), language


async def text_of(engine: Engine, question: Question = FERRY) -> str:
    return await (await engine.ask(question)).collect_text()


async def usage(engine: Engine) -> dict[str, tuple[int, int]]:
    """Calls and output tokens by purpose, as the ledger has them."""
    rows = await fetch_rows(
        engine._ledger, "SELECT purpose, SUM(calls), SUM(output_tokens) FROM usage GROUP BY purpose"
    )
    return {purpose: (calls, output) for purpose, calls, output in rows}


@pytest.mark.parametrize(
    ("reply", "text", "cited"),
    [
        pytest.param(["Four ", "crowns [1]."], "Four crowns [1].", [1], id="a citation"),
        pytest.param(["Bob [2]", " or Ada [1]."], "Bob [1] or Ada [2].", [2, 1], id="numbered in their order"),
        pytest.param(["Free [99], ask @every", "one."], "Free, ask @\u200beveryone.", [], id="wrong number and a ping"),
        pytest.param(
            ["See https://evil.example/?q=", "secret"], "See https[:]//evil[.]example/?q=secret", [], id="address"
        ),
        pytest.param(
            ["See https://town.example/", "ferry"], "See <https://town.example/ferry>", [], id="known address"
        ),
        pytest.param(["```mark", "down\nFour [1], free", " [99].\n``", "`"], "Four [1], free.\n", [1], id="fence"),
    ],
)
async def test_an_answer_is_filtered_and_names_its_sources(
    indexed: OpenIndexed, reply: list[str], text: str, cited: list[int]
) -> None:
    engine, _ = await open_town(indexed, *reply)
    link = Passage("1", "The Ferry sails at nine.", link="https://town.example/ferry")
    await index(engine, replace(doc("link"), passages=(link,)))
    answer = await engine.ask(FERRY)
    assert "".join([piece async for piece in answer]) == text
    numbers = {source.text: source.number for source in answer.context.sources}
    assert [numbers[source.text] for source in answer.sources] == cited
    assert [source.number for source in answer.sources] == [*range(1, len(cited) + 1)]


async def test_a_truncated_answer_is_marked_and_not_cached(indexed: OpenIndexed) -> None:
    engine, language = await open_town(indexed, "Four ", "crowns [1]")
    for cut_off, calls in ((True, 1), (False, 2), (False, 2)):
        language.cut_off = cut_off
        answer = await engine.ask(FERRY)
        assert not answer.is_truncated
        await answer.collect_text()
        assert (answer.is_truncated, language.calls["answer"]) == (cut_off, calls)


INVALID: list[tuple[dict[str, Any], str]] = [
    *(({"text": " \n", "mode": mode}, "empty") for mode in sorted(MODES)),
    *(({"text": text}, "must be text") for text in (None, b"Who?", 7, ["Who?"])),
    *((change, ".") for change in ({"mode": "magic"}, {"top_k": 0}, {"chunk_top_k": 0})),
]


async def test_k11_an_invalid_question_is_refused(indexed: OpenIndexed) -> None:
    engine = await indexed()
    for change, message in INVALID:
        for ask in (engine.ask, engine.retrieve, engine.build_messages):
            with pytest.raises(InvalidQuestion, match=message):
                await ask(replace(FERRY, **change))


async def test_k11_a_short_question_is_a_question(indexed: OpenIndexed) -> None:
    engine, _ = await open_town(indexed, "?")
    assert [await text_of(engine, Question(text, HERE)) for text in ("ab", "中", "中a", "中文", "abc")] == ["?"] * 5


async def test_a_question_with_history_is_searched_as_rewritten_and_sent_as_asked(indexed: OpenIndexed) -> None:
    engine, language = await open_town(indexed, keywords=INN_QUERY)
    question = Question("And that one?", HERE, history=HISTORY, mode="naive")
    context = await engine.retrieve(question)
    assert list(language.histories[-1]) == list(HISTORY)
    assert context.question.question == "Who keeps the Inn?"
    assert context.sources[0].document == "inn"
    await text_of(engine, question)
    sent = [(message.role, message.content) for message in language.prompts[-1][1:]]
    assert sent == [*((turn.role, turn.text) for turn in HISTORY), ("user", "And that one?")]


@pytest.mark.long
async def test_a_rewrite_is_cached_by_all_that_it_depends_on(indexed: OpenIndexed) -> None:
    engine, language = await open_town(indexed)
    questions = (
        FERRY,
        replace(FERRY, text="What does the Inn cost?"),
        replace(FERRY, asker="Ada"),
        replace(FERRY, history=HISTORY),
        replace(FERRY, scope=Scope(frozenset({"here", "there"}), frozenset())),
    )
    for calls, question in enumerate(questions, 1):
        first, second = [(await engine.retrieve(question)).question for _ in range(2)]
        assert first == second
        assert language.calls["condense"] == calls


async def test_a_failed_or_empty_rewrite_is_not_cached(indexed: OpenIndexed) -> None:
    engine, language = await open_town(indexed, keywords=SearchQuery(FERRY.text))
    for calls in (1, 2):
        await engine.retrieve(FERRY)
        assert language.calls["condense"] == calls
    language.failing["condense", ""] = ModelUnavailable("away")
    failed = await engine.retrieve(FERRY)
    assert (failed.question.question, failed.failed_helpers) == (FERRY.text, ("rewriting",))
    assert failed.sources
    language.failing.clear()
    await engine.retrieve(FERRY)
    assert language.calls["condense"] == 4
    assert (await usage(engine))["condense"] == (4, 0)


async def test_the_prompt_fits_into_a_small_context(indexed: OpenIndexed) -> None:
    window = ContextWindow(2048)
    documents = (doc(f"d{n}", f"The Ferry {n} " + "rows on and on " * 60) for n in range(20))
    engine = await indexed(*documents, options=EngineOptions(context_window=window))
    messages = await engine.build_messages(replace(FERRY, history=(ChatTurn("user", "word " * 2000),)))
    count = O200kTokenizer().count
    assert sum(count(message.content) for message in messages) <= 2048 - window.reply_tokens
    assert "Ferry" in messages[0].content
    with pytest.raises(InvalidQuestion, match="the limit is"):
        await engine.build_messages(replace(FERRY, text="word " * 3000))


@pytest.mark.parametrize(
    ("change", "calls"),
    [
        pytest.param({"low": ("Inn",)}, 0, id="given keywords"),
        pytest.param({"mode": "naive"}, 0, id="naive needs no keywords"),
        pytest.param({"mode": "naive", "history": HISTORY}, 1, id="history needs a rewrite"),
        pytest.param({"mode": "bypass", "history": HISTORY}, 0, id="bypass"),
        pytest.param({}, 1, id="usual"),
    ],
)
async def test_keywords_cost_a_call_only_if_they_are_needed(
    indexed: OpenIndexed, change: dict[str, Any], calls: int
) -> None:
    engine, language = await open_town(indexed)
    context = await engine.retrieve(replace(FERRY, **change))
    assert language.calls["condense"] == calls
    if "low" in change:
        assert context.question == SearchQuery(FERRY.text, (), ("Inn",))
        assert context.entities[0].name == "Inn"


async def test_without_keywords_the_question_is_the_keyword(indexed: OpenIndexed) -> None:
    engine, _ = await open_town(indexed, keywords=SearchQuery("Ferry?"))
    context = await engine.retrieve(Question("Ferry?", HERE, mode="local"))
    assert context.question.low == ("Ferry?",)
    assert "Ferry" in {row.name for row in context.entities}


@pytest.mark.parametrize("mode", sorted(MODES))
async def test_built_messages_are_those_that_the_model_gets(indexed: OpenIndexed, mode: RetrievalMode) -> None:
    engine, language = await open_town(indexed)
    question = replace(FERRY, mode=mode, history=HISTORY, instructions="Be kind.", style="One line.")
    messages = await engine.build_messages(question)
    answer = await engine.ask(question)
    await answer.collect_text()
    assert language.prompts == [messages]
    assert ("Be kind." in messages[0].content, len(messages)) == (True, 4)
    assert answer.context.is_empty == ("crowns" not in messages[0].content) == (mode == "bypass")


async def test_an_answer_is_cached_until_its_source_is_forgotten(indexed: OpenIndexed) -> None:
    engine, language = await open_town(indexed, "Four crowns [2].\n", "Ask Ada [1]", ".\n")
    first = await engine.ask(FERRY)
    text = await first.collect_text()
    again = await engine.ask(FERRY)
    assert await again.collect_text() == text
    assert again.sources == first.sources
    assert language.calls["answer"] == 1
    assert not [each for each in again.usage if each.purpose == "answer"]
    await engine.documents.forget("ferry")
    assert not await fetch_rows(engine._ledger, "SELECT 1 FROM answer_cache")


KIND = {"instructions": "Be kind."}


@pytest.mark.parametrize(
    ("changes", "options", "calls"),
    [
        pytest.param([{}, {}], {}, 1, id="the same question"),
        pytest.param([{}, {"model": "other"}, KIND, {"mode": "naive"}], {}, 4, id="other model, instruction, mode"),
        pytest.param([{}, {}], {"cache_answers": False}, 2, id="not cached by option"),
        pytest.param([{"history": HISTORY}] * 2, {}, 2, id="k11 with history, which may quote forgotten text"),
    ],
)
async def test_an_answer_is_cached_by_all_that_it_depends_on(
    indexed: OpenIndexed, changes: list[dict[str, Any]], options: dict[str, Any], calls: int
) -> None:
    engine, language = await open_town(indexed, **options)
    for change in changes:
        await text_of(engine, replace(FERRY, **change))
    assert language.calls["answer"] == calls
    await index(engine, doc("strike", "The Ferry costs nothing today."))
    await text_of(engine)
    assert language.calls["answer"] == calls + 1


async def test_a_cached_answer_is_never_used_in_another_scope(indexed: OpenIndexed) -> None:
    engine, language = await open_town(indexed)
    await index(engine, doc("secret", "The Ferry is stolen.", space="elsewhere", room="cellar"))
    for space in ("here", "elsewhere", "nowhere"):
        await text_of(engine, replace(FERRY, scope=Scope(frozenset({space}), frozenset())))
    assert language.calls["answer"] == 3
    assert ["stolen" in messages[0].content for messages in language.prompts] == [False, True, False]


async def test_a_closed_answer_stops_the_model_and_is_not_cached(indexed: OpenIndexed) -> None:
    engine, language = await open_town(indexed, "Four crowns [1] and ", "more.")
    language.answer_gate.clear()
    answer = await engine.ask(FERRY)
    async for piece in answer:
        assert piece.startswith("Four")
        break
    await answer.aclose()
    assert language.finished_count == 1
    language.answer_gate.set()
    await text_of(engine)
    assert language.calls["answer"] == 2


async def test_a_cancelled_reader_stops_the_model(indexed: OpenIndexed) -> None:
    engine, language = await open_town(indexed, "Four crowns [1] and ", "more.")
    language.answer_gate.clear()
    answer, began = await engine.ask(FERRY), asyncio.Event()

    async def read() -> None:
        async for _ in answer:
            began.set()

    reader = asyncio.create_task(read())
    await asyncio.wait_for(began.wait(), PATIENCE)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert language.finished_count == 1


async def test_a_model_that_breaks_off_is_an_error_and_nothing_is_cached(indexed: OpenIndexed) -> None:
    engine, language = await open_town(indexed, "Four crowns", ModelUnavailable("gone"))
    for calls in (1, 2):
        with pytest.raises(ModelUnavailable, match="gone"):
            await text_of(engine)
        assert language.calls["answer"] == calls


@pytest.mark.parametrize("purpose", ["condense", "answer"])
async def test_a_model_that_cancels_itself_fails_its_call_alone(indexed: OpenIndexed, purpose: Purpose) -> None:
    language = ToyLanguage()
    language.failing[purpose, "Ferry"] = asyncio.CancelledError()
    engine = await indexed(*TOWN, language=language)
    if purpose == "condense":  # the question is searched with as it is
        assert await text_of(engine)
        return
    with pytest.raises(ModelUnavailable, match="CancelledError"):
        await text_of(engine)


async def test_usage_is_on_the_answer_and_in_the_ledger(indexed: OpenIndexed) -> None:
    engine, _ = await open_town(indexed)
    answer = await engine.ask(FERRY)
    await answer.collect_text()
    assert [each.purpose for each in answer.usage] == ["condense", "answer"]
    assert {"condense": (1, 0), "answer": (1, 10)}.items() <= (await usage(engine)).items()
    await engine.retrieve(replace(FERRY, text="Who keeps the Inn?"))
    await engine.build_messages(replace(FERRY, text="Who rows the Ferry?"))
    assert (await usage(engine))["condense"] == (3, 0)
    rows = await fetch_rows(engine._ledger, "SELECT s.name, purpose FROM space_usage JOIN space s ON s.id = space")
    assert [tuple(row) for row in rows] == [("here", "extract")]


async def test_old_history_beyond_its_share_of_the_budget_is_left_out(indexed: OpenIndexed) -> None:
    engine, language = await open_town(indexed)
    long = (ChatTurn("user", "old " * 3000), *HISTORY)
    await text_of(engine, replace(FERRY, history=long, max_total_tokens=8000))
    assert [message.content for message in language.prompts[-1][1:-1]] == [turn.text for turn in HISTORY]
    assert list(language.histories[-1]) == list(HISTORY)


@given(st.lists(st.text(max_size=6), min_size=2, max_size=4, unique=True))
def test_k11_different_messages_models_languages_or_scopes_have_different_keys(words: list[str]) -> None:
    def key(model: str, language: str, *texts: str, scope: Scope = HERE) -> bytes:
        return answer_cache_key(model, language, [LLMMessage("user", text) for text in texts], scope)

    assert len({key(a, b, c) for a in words for b in words for c in words}) == len(words) ** 3
    assert key("", "", "ab", "c") != key("", "", "a", "bc")
    assert key("", "", "a") != key("", "", "a", scope=Scope(frozenset(), frozenset({"here"})))


async def test_the_day_of_a_prompt_and_of_its_usage_is_that_of_the_clock(indexed: OpenIndexed) -> None:
    clock, language = ManualClock(datetime(2026, 2, 28, 23, 59, tzinfo=UTC)), ScriptedLanguage("So.")
    engine = await indexed(*TOWN, language=language, clock=clock)
    await text_of(engine)
    clock.advance(60)
    await text_of(engine)
    for prompt, day in zip(language.prompts, ("Saturday, 2026-02-28", "Sunday, 2026-03-01"), strict=True):
        assert day in str(prompt)
    rows = await fetch_rows(engine._ledger, "SELECT day FROM usage WHERE purpose = 'answer' ORDER BY day")
    assert [row[0] for row in rows] == ["2026-02-28", "2026-03-01"]
