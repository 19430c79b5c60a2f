from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers.answer_key import answer_cache_key
from engine.answers.question_check import MODES
from engine.errors import InvalidQuestion, ModelUnavailable
from engine.models import ChatTurn, LLMMessage, Passage, Question, Scope, SearchQuery
from engine.options import ContextWindow, EngineOptions
from engine.retrieval.prompt_budget import newest_turns
from engine.text.tokenizer import O200kTokenizer
from tests.support.engine_fixture import HERE, doc, open_memory_engine, sqlite_ledger
from tests.support.scripted_language import ScriptedLanguage
from tests.support.tokenizers import CharacterTokenizer
from tests.support.toy_language import ToyLanguage

if TYPE_CHECKING:
    from pathlib import Path

    from engine.engine import Engine
    from engine.models import RetrievalMode
    from engine.usage import Purpose

FERRY = Question("What does the Ferry cost?", HERE)
HISTORY = (ChatTurn("user", "Tell me of the Ferry."), ChatTurn("assistant", "It leaves at noon."))


async def town(engine: Engine) -> None:
    await engine.add(doc("ferry", "The Ferry costs four crowns.", "Ada rows the Ferry to Brook."))
    await engine.add(doc("inn", "Bob keeps the Inn at Brook."))
    await engine.wait_until_indexed()


async def spent(engine: Engine) -> dict[str, tuple[int, int]]:
    """Calls and output tokens by purpose, as the ledger holds them."""
    async with sqlite_ledger(engine._ledger).read_connection() as db:
        rows = await db.execute_fetchall("SELECT purpose, SUM(calls), SUM(output) FROM usage GROUP BY purpose")
    return {purpose: (calls, output) for purpose, calls, output in rows}


async def test_an_answer_is_streamed_and_names_the_sources_it_cites(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage("Four ", "crowns [1].")) as engine:
        await town(engine)
        answer = await engine.ask(FERRY)
        assert answer.context.sources
        assert "".join([piece async for piece in answer]) == "Four crowns [1]."
        assert [source.number for source in answer.sources] == [1]
        assert answer.sources[0].text == answer.context.sources[0].text


async def test_numbers_that_were_not_given_pings_and_foreign_addresses_never_reach_the_reader(tmp_path: Path) -> None:
    language = ScriptedLanguage(
        "Free [99], ask @every", "one or see https://evil.example/?q=", "secret now [2]", "[1]."
    )
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        answer = await engine.ask(FERRY)
        text = await answer.collect_text()
        assert "99" not in text
        assert "@everyone" not in text
        assert "https://evil.example" not in text
        assert text.endswith("now [1][2].")
        assert [source.number for source in answer.sources] == [1, 2]
        given = answer.context.sources
        assert [source.text for source in answer.sources] == [given[1].text, given[0].text]


async def test_an_address_of_a_recalled_passage_may_be_shown(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage("See https://town.example/ferry [1].")) as engine:
        link = Passage("1", "The Ferry costs four crowns.", link="https://town.example/ferry")
        await engine.add(replace(doc("ferry"), passages=(link,)))
        await engine.wait_until_indexed()
        assert "https://town.example/ferry" in await (await engine.ask(FERRY)).collect_text()


async def test_numbers_in_an_answer_that_is_wrapped_in_a_fence_are_citations(tmp_path: Path) -> None:
    language = ScriptedLanguage("```mark", "down\nFour crowns [1], free", " [99].\n``", "`")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        answer = await engine.ask(FERRY)
        assert (await answer.collect_text()).strip() == "Four crowns [1], free."
        assert [source.number for source in answer.sources] == [1]


async def test_a_half_answer_says_so_and_is_not_remembered(tmp_path: Path) -> None:
    language = ScriptedLanguage("Four ", "crowns [1]")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        for cut_off, calls in ((True, 1), (False, 2), (False, 2)):
            language.cut_off = cut_off
            answer = await engine.ask(FERRY)
            assert not answer.is_truncated
            await answer.collect_text()
            assert answer.is_truncated == cut_off
            assert language.calls["answer"] == calls


@pytest.mark.parametrize("mode", sorted(MODES))
async def test_k11_a_blank_question_is_refused_in_every_mode(tmp_path: Path, mode: RetrievalMode) -> None:
    async with open_memory_engine(tmp_path) as engine:
        for ask in (engine.ask, engine.retrieve, engine.build_messages):
            with pytest.raises(InvalidQuestion, match="empty"):
                await ask(Question(" \n", HERE, mode=mode))


@pytest.mark.parametrize("text", [None, b"Who?", 7, ["Who?"]])
async def test_a_question_that_is_no_text_is_refused(tmp_path: Path, text: Any) -> None:
    async with open_memory_engine(tmp_path) as engine:
        for ask in (engine.ask, engine.retrieve, engine.build_messages):
            with pytest.raises(InvalidQuestion, match="must be text"):
                await ask(Question(text, HERE))


@pytest.mark.parametrize("text", ["ab", "中", "中a", "中文", "abc"])
async def test_k11_a_short_question_is_a_question(tmp_path: Path, text: str) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage("?")) as engine:
        await town(engine)
        assert await (await engine.ask(Question(text, HERE))).collect_text() == "?"


async def test_what_makes_no_sense_is_refused_with_a_hint(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        for wrong in (replace(FERRY, mode="magic"), replace(FERRY, top_k=0), replace(FERRY, chunk_top_k=0)):  # type: ignore[arg-type]
            with pytest.raises(InvalidQuestion):
                await engine.ask(wrong)


async def test_a_question_with_history_is_rewritten_and_searched_as_rewritten(tmp_path: Path) -> None:
    language = ScriptedLanguage("So.", keywords=SearchQuery("Who keeps the Inn?", ("keeping",), ("Inn",)))
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        context = await engine.retrieve(Question("And that one?", HERE, history=HISTORY, mode="naive"))
        assert list(language.histories[-1]) == list(HISTORY)
        assert context.question.question == "Who keeps the Inn?"
        assert context.sources[0].document == "inn"


async def test_the_model_is_sent_the_history_and_the_question_as_it_was_asked(tmp_path: Path) -> None:
    language = ScriptedLanguage("So.", keywords=SearchQuery("Who keeps the Inn?", (), ("Inn",)))
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        await (await engine.ask(Question("And that one?", HERE, history=HISTORY))).collect_text()
        said = [(message.role, message.content) for message in language.prompts[-1][1:]]
        assert said == [("user", HISTORY[0].text), ("assistant", HISTORY[1].text), ("user", "And that one?")]


async def test_a_question_that_is_asked_again_costs_no_call_for_keywords(tmp_path: Path) -> None:
    language = ScriptedLanguage("So.")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        first = await engine.retrieve(FERRY)
        assert (await engine.retrieve(FERRY)).question == first.question
        assert language.calls["condense"] == 1
        others = (
            replace(FERRY, text="What does the Inn cost?"),
            replace(FERRY, asker="Ada"),
            replace(FERRY, history=HISTORY),
            replace(FERRY, scope=Scope(frozenset({"here", "there"}), frozenset())),
        )
        for calls, other in enumerate(others, 2):
            for _ in range(2):
                await engine.retrieve(other)
            assert language.calls["condense"] == calls


async def test_a_rewrite_that_failed_or_gave_nothing_is_not_remembered(tmp_path: Path) -> None:
    language = ScriptedLanguage("So.", keywords=SearchQuery(FERRY.text))
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        for calls in (1, 2):
            await engine.retrieve(FERRY)
            assert language.calls["condense"] == calls
        language.failing["condense", ""] = ModelUnavailable("away")
        with pytest.raises(ModelUnavailable):
            await engine.retrieve(FERRY)
        language.failing.clear()
        await engine.retrieve(FERRY)
        assert language.calls["condense"] == 4


async def test_the_prompt_fits_into_a_small_context(tmp_path: Path) -> None:
    options = EngineOptions(context_window=ContextWindow(2048))
    async with open_memory_engine(tmp_path, ScriptedLanguage("So."), options=options) as engine:
        await asyncio.gather(*(engine.add(doc(f"d{n}", f"The Ferry {n} " + "rows on and on " * 60)) for n in range(20)))
        await engine.wait_until_indexed()
        messages = await engine.build_messages(replace(FERRY, history=(ChatTurn("user", "word " * 2000),)))
        assert (
            sum(O200kTokenizer().count(message.content) for message in messages)
            <= 2048 - options.context_window.reply_tokens
        )
        assert "Ferry" in messages[0].content
        with pytest.raises(InvalidQuestion, match="the limit is"):
            await engine.build_messages(replace(FERRY, text="word " * 3000))


async def test_keywords_that_are_given_cost_no_call(tmp_path: Path) -> None:
    language = ScriptedLanguage("So.")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        context = await engine.retrieve(replace(FERRY, low=("Inn",)))
        assert language.calls["condense"] == 0
        assert context.question == SearchQuery(FERRY.text, (), ("Inn",))
        assert context.entities[0].name == "Inn"


async def test_a_naive_question_needs_no_keywords(tmp_path: Path) -> None:
    language = ScriptedLanguage("So.")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        await engine.retrieve(replace(FERRY, mode="naive"))
        assert language.calls["condense"] == 0
        await engine.retrieve(replace(FERRY, mode="naive", history=HISTORY))
        assert language.calls["condense"] == 1


@pytest.mark.parametrize("text", ["Ferry?", "Ferry " + "and so on " * 20])
async def test_where_no_keywords_are_found_the_question_stands_for_them_whatever_its_length(
    tmp_path: Path, text: str
) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage("So.", keywords=SearchQuery(text))) as engine:
        await town(engine)
        context = await engine.retrieve(Question(text, HERE, mode="local"))
        assert context.question.low == (text,)
        assert "Ferry" in {row.name for row in context.entities}


async def test_bypass_asks_the_model_alone(tmp_path: Path) -> None:
    language = ScriptedLanguage("Hello.")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        answer = await engine.ask(replace(FERRY, mode="bypass", history=HISTORY))
        assert answer.context.is_empty
        assert await answer.collect_text() == "Hello."
        assert language.calls["condense"] == 0
        assert "crowns" not in language.prompts[-1][0].content
        assert len(language.prompts[-1]) == 4


@pytest.mark.parametrize("mode", sorted(MODES))
async def test_prompt_is_what_the_model_is_sent(tmp_path: Path, mode: RetrievalMode) -> None:
    language = ScriptedLanguage("So.")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        question = replace(FERRY, mode=mode, history=HISTORY, instructions="Be kind.", style="One line.")
        told = await engine.build_messages(question)
        await (await engine.ask(question)).collect_text()
        assert language.prompts == [told]
        assert "Be kind." in told[0].content


async def test_the_same_question_is_answered_from_memory_with_the_same_text(tmp_path: Path) -> None:
    language = ScriptedLanguage("Four crowns [2].\n", "Ask Ada [1]", ".\n")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        first = await engine.ask(FERRY)
        text = await first.collect_text()
        again = await engine.ask(FERRY)
        assert await again.collect_text() == text
        assert language.calls["answer"] == 1
        assert again.sources == first.sources
        assert not [usage for usage in again.usage if usage.purpose == "answer"]


async def test_k11_an_answer_made_with_history_is_not_kept_since_it_may_quote_what_is_forgotten_later(
    tmp_path: Path,
) -> None:
    language = ScriptedLanguage("So.")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        for _ in range(2):
            await (await engine.ask(replace(FERRY, history=HISTORY))).collect_text()
        assert language.calls["answer"] == 2


async def test_another_model_history_instruction_or_context_is_another_answer(tmp_path: Path) -> None:
    language = ScriptedLanguage("So.")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        others = [
            FERRY,
            replace(FERRY, model="other"),
            replace(FERRY, history=HISTORY),
            replace(FERRY, instructions="Be kind."),
            replace(FERRY, mode="naive"),
        ]
        for question in others:
            await (await engine.ask(question)).collect_text()
        assert language.calls["answer"] == len(others)
        await engine.add(doc("strike", "The Ferry costs nothing today."))
        await engine.wait_until_indexed()
        await (await engine.ask(FERRY)).collect_text()
        assert language.calls["answer"] == len(others) + 1


async def test_an_answer_is_forgotten_with_a_document_that_it_drew_on(tmp_path: Path) -> None:
    language = ScriptedLanguage("Four crowns [1].")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        await (await engine.ask(FERRY)).collect_text()
        await engine.forget("ferry")
        async with sqlite_ledger(engine._ledger).read_connection() as db:
            assert not list(await db.execute_fetchall("SELECT 1 FROM answer_cache"))


async def test_an_answer_is_never_given_again_in_a_scope_that_knows_other_things(tmp_path: Path) -> None:
    language = ScriptedLanguage("So.")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        await engine.add(doc("secret", "The Ferry is stolen.", space="elsewhere", room="cellar"))
        await engine.wait_until_indexed()
        for space in ("here", "elsewhere", "nowhere"):
            scope = Scope(frozenset({space}), frozenset())
            await (await engine.ask(replace(FERRY, scope=scope))).collect_text()
        assert language.calls["answer"] == 3
        assert ["stolen" in sent[0].content for sent in language.prompts] == [False, True, False]


async def test_answers_are_not_kept_where_the_options_say_so(tmp_path: Path) -> None:
    language = ScriptedLanguage("So.")
    async with open_memory_engine(tmp_path, language, options=EngineOptions(cache_answers=False)) as engine:
        await town(engine)
        for _ in range(2):
            await (await engine.ask(FERRY)).collect_text()
        assert language.calls["answer"] == 2


async def test_an_answer_that_is_closed_stops_the_model_and_is_not_kept(tmp_path: Path) -> None:
    language = ScriptedLanguage("Four crowns [1] and ", "more.")
    language.answer_gate.clear()
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        answer = await engine.ask(FERRY)
        async for piece in answer:
            assert piece.startswith("Four")
            break
        await answer.aclose()
        assert language.finished_count == 1
        language.answer_gate.set()
        await (await engine.ask(FERRY)).collect_text()
        assert language.calls["answer"] == 2


async def test_a_reader_who_is_cancelled_stops_the_model(tmp_path: Path) -> None:
    language = ScriptedLanguage("Four crowns [1] and ", "more.")
    language.answer_gate.clear()
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        answer = await engine.ask(FERRY)
        began = asyncio.Event()

        async def read() -> None:
            async for _ in answer:
                began.set()

        reader = asyncio.create_task(read())
        await asyncio.wait_for(began.wait(), 10)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert language.finished_count == 1


async def test_a_model_that_breaks_off_is_an_error_and_half_an_answer_is_not_kept(tmp_path: Path) -> None:
    language = ScriptedLanguage("Four crowns", ModelUnavailable("gone"))
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        for _ in range(2):
            with pytest.raises(ModelUnavailable, match="gone"):
                await (await engine.ask(FERRY)).collect_text()
        assert language.calls["answer"] == 2


@pytest.mark.parametrize("purpose", ["condense", "answer"])
async def test_a_model_that_is_cancelled_by_nobody_is_an_error(tmp_path: Path, purpose: Purpose) -> None:
    language = ToyLanguage()
    language.failing[purpose, "Ferry"] = asyncio.CancelledError()
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        with pytest.raises(ModelUnavailable, match="CancelledError"):
            await (await engine.ask(FERRY)).collect_text()


async def test_a_failed_rewrite_is_raised_and_its_call_is_charged(tmp_path: Path) -> None:
    language = ScriptedLanguage("So.")
    language.failing["condense", "Ferry"] = ModelUnavailable("gone")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        with pytest.raises(ModelUnavailable, match="gone"):
            await engine.ask(FERRY)
        assert (await spent(engine))["condense"] == (1, 0)


async def test_what_an_answer_took_is_on_it_and_in_the_ledger(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage("So.")) as engine:
        await town(engine)
        answer = await engine.ask(FERRY)
        await answer.collect_text()
        assert [usage.purpose for usage in answer.usage] == ["condense", "answer"]
        assert {"condense": (1, 0), "answer": (1, 10)}.items() <= (await spent(engine)).items()


async def test_a_recall_and_a_prompt_are_charged_too(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage("So.")) as engine:
        await town(engine)
        await engine.retrieve(FERRY)
        assert (await spent(engine))["condense"] == (1, 0)
        await engine.build_messages(replace(FERRY, text="Who rows the Ferry?"))
        assert (await spent(engine))["condense"] == (2, 0)


async def test_history_beyond_its_share_of_the_budget_is_left_out_the_oldest_first(tmp_path: Path) -> None:
    language = ScriptedLanguage("So.")
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        long = (ChatTurn("user", "old " * 3000), *HISTORY)
        await (await engine.ask(replace(FERRY, history=long, max_total_tokens=8000))).collect_text()
        assert [message.content for message in language.prompts[-1][1:-1]] == [turn.text for turn in HISTORY]
        assert list(language.histories[-1]) == list(HISTORY)


def test_the_newest_turns_that_fit_are_kept_in_order() -> None:
    turns = [ChatTurn("user", "aaaa"), ChatTurn("assistant", "bb"), ChatTurn("user", "ccc")]
    assert newest_turns(turns, 5, CharacterTokenizer()) == tuple(turns[1:])
    assert newest_turns(turns, 2, CharacterTokenizer()) == ()
    assert newest_turns([], 5, CharacterTokenizer()) == ()


@given(st.lists(st.text(max_size=6), min_size=2, max_size=4, unique=True))
def test_k11_different_messages_models_or_languages_have_different_keys(words: list[str]) -> None:
    here, room = Scope(frozenset({"here"}), frozenset()), Scope(frozenset(), frozenset({"here"}))
    keys = {answer_cache_key(a, b, [LLMMessage("user", c)], here) for a in words for b in words for c in words}
    assert len(keys) == len(words) ** 3
    assert answer_cache_key("", "", [LLMMessage("user", "ab"), LLMMessage("user", "c")], here) != answer_cache_key(
        "", "", [LLMMessage("user", "a"), LLMMessage("user", "bc")], here
    )
    assert answer_cache_key("", "", [LLMMessage("user", "a")], here) != answer_cache_key(
        "", "", [LLMMessage("user", "a")], room
    )
