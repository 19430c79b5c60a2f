from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, get_args

import pytest

from engine.errors import InvalidQuestion, ModelUnavailable
from engine.models import ChatTurn, Document, Filters, Passage, Question, RetrievalMode, Scope
from engine.options import EngineOptions, RankingOptions
from engine.text.tokenizer import O200kTokenizer
from tests.support.engine_fixture import HERE, doc, open_memory_engine, thread
from tests.support.fake_reranker import WordReranker
from tests.support.scripted_language import ScriptedLanguage

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Literal

    from engine.engine import Engine

COUNT = O200kTokenizer().count
FERRY = Question("What of the Ferry?", HERE)


async def order(engine: Engine, question: Question) -> list[str]:
    return list(dict.fromkeys(source.document for source in (await engine.retrieve(question)).sources))


async def five(engine: Engine) -> None:
    for word in ("alpha", "beta", "gamma", "delta", "omega"):
        await engine.add(doc(word, f"The Ferry of {word} is here."))
    await engine.wait_until_indexed()


# Numbered sources, and rows of the graph that name them.


async def test_every_line_of_a_chat_is_a_source_of_its_own(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        lines = ("Ada: where is the Ferry?", "Bob: at Brook", "Ada: thanks")
        await engine.add(thread("talk", *lines, is_open=False))
        await engine.wait_until_indexed()
        sources = (await engine.retrieve(FERRY)).sources
        assert [source.number for source in sources] == [1, 2, 3]
        assert [source.text for source in sources] == list(lines)
        assert {source.chunk for source in sources} == {sources[0].chunk}


async def test_rows_of_the_graph_name_the_passages_that_support_them(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        lines = ("The Ferry leaves Brook.", "Ada met Bob.", "Bob feared the Ferry.")
        await engine.add(thread("talk", *lines, is_open=False))
        await engine.wait_until_indexed()
        context = await engine.retrieve(Question("Who is there?", HERE, low=("Ada", "Bob", "Brook"), high=("Ada",)))
        texts = {source.number: source.text for source in context.sources}
        entities = {row.name: row.sources for row in context.entities}
        relations = {(row.source, row.target): row.sources for row in context.relations}
        assert [texts[number] for number in entities["Brook"]] == ["The Ferry leaves Brook."]
        assert {texts[number] for number in entities["Ferry"]} == {"The Ferry leaves Brook.", "Bob feared the Ferry."}
        assert [texts[number] for number in relations["Ada", "Bob"]] == ["Ada met Bob."]


async def test_rows_name_no_number_that_is_not_there(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await five(engine)
        context = await engine.retrieve(replace(FERRY, chunk_top_k=2))
        given = {source.number for source in context.sources}
        assert len(given) == 2
        for row in context.entities:
            assert set(row.sources) <= given
        assert any(row.sources for row in context.entities)


async def test_equal_texts_are_recalled_once_and_support_rows_all_the_same(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        for key in ("one", "two", "three"):
            await engine.add(doc(key, "The Ferry leaves Brook.", room=f"room {key}"))
        await engine.add(doc("other", "The Ferry is old."))
        await engine.wait_until_indexed()
        context = await engine.retrieve(replace(FERRY, chunk_top_k=2))
        assert sorted(source.text for source in context.sources) == ["The Ferry is old.", "The Ferry leaves Brook."]
        [brook] = [row for row in context.entities if row.name == "Brook"]
        assert len(brook.sources) == 1


async def test_a_narrowed_question_finds_the_evidence_that_newer_chunks_would_hide(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        start = datetime(2026, 1, 1, tzinfo=UTC)
        for number in range(20):
            await engine.add(doc(f"d{number:02}", f"Ada met Bob on day {number}.", time=start + timedelta(days=number)))
        await engine.wait_until_indexed()
        within = Filters(documents=frozenset({"d00"}))
        question = Question("Ada", HERE, mode="local", low=("Ada",), filters=within)
        context = await engine.retrieve(question)
        assert [source.document for source in context.sources] == ["d00"]
        assert [row.sources for row in context.entities] == [(1,), (1,)]


# The budget.


async def test_sources_fill_what_the_prompt_leaves_of_the_budget(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        for number in range(12):
            await engine.add(doc(f"d{number}", f"Ferry number {number}. " + "It rains and it pours. " * 40))
        await engine.wait_until_indexed()
        shown = []
        for total in (2000, 3000, 4000):
            question = replace(FERRY, mode="naive", max_total_tokens=total)
            sent = await engine.build_messages(question)
            assert sum(COUNT(message.content) for message in sent) <= total
            shown.append(len((await engine.retrieve(question)).sources))
        assert shown == sorted(set(shown))


async def test_history_leaves_less_room_for_sources(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        for number in range(12):
            await engine.add(doc(f"d{number}", f"Ferry number {number}. " + "It rains and it pours. " * 40))
        await engine.wait_until_indexed()
        question = replace(FERRY, max_total_tokens=4000)
        talk = replace(question, history=(ChatTurn("user", "so and so " * 300),))
        assert len((await engine.retrieve(talk)).sources) < len((await engine.retrieve(question)).sources)
        assert sum(COUNT(message.content) for message in await engine.build_messages(talk)) <= 4000


async def test_without_room_there_are_no_sources_and_no_error(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await five(engine)
        assert not (await engine.retrieve(replace(FERRY, max_total_tokens=10))).sources


@pytest.mark.parametrize("mode", get_args(RetrievalMode))
async def test_no_prompt_is_longer_than_allowed_whatever_fills_it(tmp_path: Path, mode: RetrievalMode) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        for number in range(6):
            people = [f"Person{chr(97 + n)}{chr(97 + number)}" for n in range(16)]
            met = [f"{a} met {b} 😀 ferry {number}." for a, b in pairwise(people)]
            await engine.add(doc(f"d{number}", *met, *[f"{name} sails. " + "It pours, 雨. " * 60 for name in people]))
        await engine.wait_until_indexed()
        talk = tuple(ChatTurn("user" if n % 2 else "assistant", f"ferry {n} " * 200) for n in range(40))
        hostile = replace(FERRY, mode=mode, threshold=-1.0, top_k=400, chunk_top_k=200, history=talk, asker="Ada " * 50)
        for total, words, orders in ((1500, 1, 1), (2600, 1, 300), (4000, 700, 1), (9000, 3000, 900), (30000, 9, 9000)):
            question = replace(
                hostile, text="Which ferry sails? " * words, instructions="Be kind. " * orders, max_total_tokens=total
            )
            for asked in (
                question,
                replace(question, max_entity_tokens=0),
                replace(question, max_entity_tokens=90_000),
            ):
                try:
                    sent = await engine.build_messages(asked)
                except InvalidQuestion:
                    assert COUNT(question.text) + COUNT(question.instructions) > total - 1200
                    continue
                assert sum(COUNT(message.content) for message in sent) <= total
                if total == 30000 and mode != "bypass":
                    assert sum(COUNT(message.content) for message in sent) > 0.6 * total


async def test_a_question_that_does_not_fit_is_told_so_before_it_is_sent(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await five(engine)
        for ask in (engine.ask, engine.build_messages):
            with pytest.raises(InvalidQuestion, match="tokens"):
                await ask(replace(FERRY, text="ferry " * 1300, max_total_tokens=1000))


async def test_entities_and_relations_keep_to_their_own_budgets(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        names = ("Ada", "Bob", "Cyd", "Dan", "Eve", "Fay")
        await engine.add(doc("a", *(f"{a} met {b} by the sea." for a, b in pairwise(names))))
        await engine.wait_until_indexed()
        whole = await engine.retrieve(Question("met by the sea", HERE))
        less = await engine.retrieve(Question("met by the sea", HERE, max_entity_tokens=90, max_relation_tokens=90))
        assert len(less.entities) < len(whole.entities) == 6
        assert len(less.relations) < len(whole.relations) == 5
        nothing = await engine.retrieve(Question("met by the sea", HERE, max_entity_tokens=0, max_relation_tokens=0))
        assert not nothing.entities
        assert not nothing.relations
        assert nothing.sources


# The order of the chunks.


@pytest.mark.parametrize("picking", ["walk", "vector", "weight"])
@pytest.mark.parametrize("mode", ["local", "global", "hybrid", "mix"])
async def test_each_way_of_picking_brings_the_evidence(
    tmp_path: Path, picking: Literal["walk", "vector", "weight"], mode: Literal["local", "global", "hybrid", "mix"]
) -> None:
    async with open_memory_engine(
        tmp_path, ScriptedLanguage(), options=EngineOptions(ranking=RankingOptions(chunk_selection=picking))
    ) as engine:
        await five(engine)
        await engine.add(doc("pair", "Ada met Bob."))
        await engine.wait_until_indexed()
        question = Question("Ada met Bob", HERE, mode=mode, low=("Ada",), high=("met",))
        assert "pair" in await order(engine, question)


async def test_a_walk_finds_what_follows_from_what_was_asked(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await engine.add(doc("first", "The charter of the mill was signed by Ottoline for Brook."))
        await engine.add(doc("second", "Ottoline wed Percival in spring."))
        for number in range(30):
            await engine.add(doc(f"noise{number}", f"The mill was closed, says paper {number}."))
        await engine.wait_until_indexed()
        question = Question("Who signed the charter of the mill, and whom did she wed?", HERE, chunk_top_k=4)
        question = replace(question, low=("charter of the mill",), high=("signed the charter of the mill",))
        assert set(await order(engine, question)) >= {"first", "second"}


# The reranker.


async def test_a_reranker_orders_the_sources(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await five(engine)
        reranker = WordReranker({"gamma": 0.9, "omega": 0.8, "alpha": 0.3, "beta": 0.2, "delta": 0.1})
        engine._runtime.reranker = reranker
        answer = await engine.ask(replace(FERRY, chunk_top_k=3))
        assert [source.document for source in answer.context.sources] == ["gamma", "omega", "alpha"]
        assert "rerank" in {usage.purpose for usage in answer.usage}
        assert "rerank" in answer.context.timings


async def test_texts_without_a_usable_score_are_left_out(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await five(engine)
        engine._runtime.reranker = WordReranker({"gamma": 0.1, "omega": math.nan, "alpha": None, "beta": 0.7})
        assert await order(engine, FERRY) == ["beta", "gamma"]


async def test_a_reranker_that_gives_nothing_usable_changes_nothing(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await five(engine)
        usual = await order(engine, FERRY)
        for useless in (WordReranker({}), WordReranker({"gamma": 1.0, "beta": 0.5}, few=True)):
            engine._runtime.reranker = useless
            assert await order(engine, FERRY) == usual


async def test_a_least_score_leaves_out_what_is_below_it(tmp_path: Path) -> None:
    options = EngineOptions(ranking=RankingOptions(min_rerank_score=0.5))
    async with open_memory_engine(tmp_path, ScriptedLanguage(), options=options) as engine:
        await five(engine)
        engine._runtime.reranker = WordReranker({"gamma": 0.9, "omega": 0.5, "alpha": 0.4})
        assert await order(engine, FERRY) == ["gamma", "omega"]


async def test_a_question_may_do_without_the_reranker(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await five(engine)
        engine._runtime.reranker = reranker = WordReranker({"gamma": 0.9})
        assert len(await order(engine, replace(FERRY, rerank=False))) == 5
        assert not reranker.calls


async def test_a_failing_reranker_is_an_error(tmp_path: Path) -> None:
    class Failing(WordReranker):
        async def rerank(self, *_: object) -> list[float | None]:
            raise ModelUnavailable("the reranker is away")

    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await five(engine)
        engine._runtime.reranker = Failing({})
        with pytest.raises(ModelUnavailable, match="away"):
            await engine.retrieve(FERRY)


async def test_a_reranker_is_asked_about_no_text_out_of_scope(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await five(engine)
        await engine.add(doc("far", "The Ferry of zeta is here.", space="far", room="field"))
        await engine.wait_until_indexed()
        engine._runtime.reranker = reranker = WordReranker({"Ferry": 0.5})
        await engine.retrieve(FERRY)
        assert reranker.calls
        assert not [text for texts in reranker.calls for text in texts if "zeta" in text]


async def test_a_passage_in_several_chunks_is_one_source(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        text = " ".join(f"Ferry sentence {number} tells of the river." for number in range(400))
        await engine.add(Document("long", "here", "hall", "Long", (Passage("1", text, "p. 1"),)))
        await engine.wait_until_indexed()
        sources = (await engine.retrieve(replace(FERRY, mode="naive"))).sources
        assert [(source.passage, source.label) for source in sources] == [("1", "p. 1")]


async def test_sources_say_where_they_come_from(tmp_path: Path) -> None:
    when = datetime(2026, 3, 1, 12, tzinfo=UTC)
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        passages = (
            Passage("1", "Ferry one.", "p. 1", "https://town.example/1", "Ada", when),
            Passage("2", "Ferry two.", "p. 2", position=1),
        )
        await engine.add(Document("d", "here", "hall", "Paper", passages, when, "https://town.example/d"))
        await engine.wait_until_indexed()
        one, two = (await engine.retrieve(replace(FERRY, scope=Scope(frozenset({"here"}), frozenset())))).sources
        assert (one.title, one.label, one.link, one.author, one.time) == (
            "Paper",
            "p. 1",
            "https://town.example/1",
            "Ada",
            when,
        )
        assert (two.link, two.author, two.time, two.space, two.room) == (
            "https://town.example/d",
            "",
            when,
            "here",
            "hall",
        )
