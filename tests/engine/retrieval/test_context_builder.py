from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product
from typing import Any, get_args

import pytest

from engine.engine import Engine
from engine.errors import InvalidQuestion
from engine.models import ChatTurn, Document, Filters, GraphRows, LLMMessage, Passage, Question, RetrievalMode
from engine.options import ContextWindow, EngineOptions, RankingOptions
from engine.text.tokenizer import O200kTokenizer
from tests.support.engine_fixture import HERE, doc, thread
from tests.support.fake_reranker import FailingReranker, WordReranker
from tests.support.indexed_engine import OpenIndexed

COUNT = O200kTokenizer().count
FERRY = Question("What of the Ferry?", HERE)
FIVE = [doc(word, f"The Ferry of {word} is here.") for word in ("alpha", "beta", "gamma", "delta", "omega")]
RAIN = [doc(f"d{number}", f"Ferry number {number}. " + "It rains and it pours. " * 40) for number in range(12)]


async def order(engine: Engine, question: Question = FERRY) -> list[str]:
    return list(dict.fromkeys(source.document for source in (await engine.retrieve(question)).sources))


def tokens(messages: list[LLMMessage]) -> int:
    return sum(COUNT(message.content) for message in messages)


async def test_every_line_of_a_chat_is_a_source_of_its_own(indexed: OpenIndexed) -> None:
    lines = ("Ada: where is the Ferry?", "Bob: at Brook", "Ada: thanks")
    sources = (await (await indexed(thread("talk", *lines, is_open=False))).retrieve(FERRY)).sources
    assert [(source.number, source.text) for source in sources] == [*enumerate(lines, 1)]
    assert len({source.chunk for source in sources}) == 1


async def test_rows_of_the_graph_cite_the_passages_that_support_them(indexed: OpenIndexed) -> None:
    lines = ("The Ferry leaves Brook.", "Ada met Bob.", "Bob feared the Ferry.")
    engine = await indexed(thread("talk", *lines, is_open=False))
    context = await engine.retrieve(
        Question("Who is there?", HERE, low=("Ada", "Bob", "Brook", "Ferry"), high=("Ada",))
    )
    texts = {source.number: source.text for source in context.sources}
    entities = {row.name: {texts[number] for number in row.sources} for row in context.entities}
    relations = {(row.source, row.target): row.sources for row in context.relations}
    assert entities["Brook"] == {"The Ferry leaves Brook."}
    assert entities["Ferry"] == {"The Ferry leaves Brook.", "Bob feared the Ferry."}
    assert [texts[number] for number in relations["Ada", "Bob"]] == ["Ada met Bob."]


async def test_rows_cite_only_sources_of_the_context(indexed: OpenIndexed) -> None:
    context = await (await indexed(*FIVE)).retrieve(replace(FERRY, chunk_top_k=2))
    numbers = {source.number for source in context.sources}
    assert len(numbers) == 2
    assert all(set(row.sources) <= numbers for row in context.entities)
    assert any(row.sources for row in context.entities)


async def test_equal_texts_are_one_source_and_support_rows_all_the_same(indexed: OpenIndexed) -> None:
    equal = [doc(key, "The Ferry leaves Brook.", room=f"room {key}") for key in ("one", "two", "three")]
    context = await (await indexed(*equal, doc("other", "The Ferry is old."))).retrieve(replace(FERRY, chunk_top_k=2))
    assert sorted(source.text for source in context.sources) == ["The Ferry is old.", "The Ferry leaves Brook."]
    (brook,) = [row for row in context.entities if row.name == "Brook"]
    assert len(brook.sources) == 1


async def test_filters_find_evidence_that_newer_chunks_would_hide(indexed: OpenIndexed) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    days = [doc(f"d{n:02}", f"Ada met Bob on day {n}.", time=start + timedelta(days=n)) for n in range(20)]
    narrow = Filters(documents=frozenset({"d00"}))
    question = Question("Ada", HERE, mode="local", low=("Ada",), filters=narrow)
    context = await (await indexed(*days)).retrieve(question)
    assert [source.document for source in context.sources] == ["d00"]
    assert [row.sources for row in context.entities] == [(1,), (1,)]


@pytest.mark.long
async def test_sources_fill_the_budget_that_prompt_and_history_leave(indexed: OpenIndexed) -> None:
    engine, counts = await indexed(*RAIN), []
    history = (ChatTurn("user", "so and so " * 300),)
    for total, turns in ((10, ()), (2000, ()), (3000, ()), (4000, history), (4000, ())):
        question = replace(FERRY, mode="naive", max_total_tokens=total, history=turns)
        counts.append(len((await engine.retrieve(question)).sources))
        if total > 10:
            assert tokens(await engine.build_messages(question)) <= total
    assert counts[0] == 0
    assert counts[:3] + counts[4:] == sorted({*counts[:3], *counts[4:]})
    assert counts[3] < counts[4]


@pytest.mark.long
@pytest.mark.parametrize("rows", ["all", "unsaid"])
async def test_no_prompt_is_longer_than_allowed_whatever_fills_it(indexed: OpenIndexed, rows: Any) -> None:
    documents = []
    for number in range(6):
        people = [f"Person{chr(97 + n)}{chr(97 + number)}" for n in range(16)]
        met = [f"{a} met {b} 😀 ferry {number}." for a, b in pairwise(people)]
        documents.append(doc(f"d{number}", *met, *[f"{name} sails. " + "It pours, 雨. " * 60 for name in people]))
    options = EngineOptions(ranking=RankingOptions(graph_rows=rows, graph_token_share=0.5), prompt_tokens=0)
    engine = await indexed(*documents, options=options)
    turns = tuple(ChatTurn("user" if n % 2 else "assistant", f"ferry {n} " * 200) for n in range(40))
    hostile = replace(FERRY, threshold=-1.0, top_k=400, chunk_top_k=200, history=turns, asker="Ada " * 50)
    sizes = ((30000, 9, 9000, 6000), (30000, 9, 9, 90_000), (4000, 700, 1, 0), (1500, 1, 1, 6000), (2600, 1, 300, 6000))
    for mode, (total, words, orders, entities) in product(get_args(RetrievalMode), (*sizes, (9000, 3000, 900, 6000))):
        text, instructions = "Which ferry sails? " * words, "Be kind. " * orders
        question = replace(hostile, mode=mode, text=text, instructions=instructions, max_total_tokens=total)
        try:
            messages = await engine.build_messages(replace(question, max_entity_tokens=entities))
        except InvalidQuestion:
            assert COUNT(text) + COUNT(instructions) > total - 1200
        else:
            assert tokens(messages) <= total
            assert total < 30000 or mode == "bypass" or rows == "unsaid" or tokens(messages) > 0.6 * total


LONG = replace(FERRY, instructions="Be kind. " * 1500)


@pytest.mark.parametrize(
    ("limit", "question", "least", "most"),
    [
        pytest.param(3000, FERRY, 2000, 3000, id="limit"),
        pytest.param(0, FERRY, 3100, 30_000, id="no limit"),
        pytest.param(3000, LONG, 4500, 6500, id="long instructions"),
    ],
)
async def test_a_prompt_takes_its_worth_and_more_beside_long_instructions(
    indexed: OpenIndexed, limit: int, question: Question, least: int, most: int
) -> None:
    engine = await indexed(*RAIN, options=EngineOptions(prompt_tokens=limit))
    assert least < tokens(await engine.build_messages(question)) <= most


async def test_a_model_of_8192_tokens_gets_a_whole_prompt_and_room_for_its_reply(indexed: OpenIndexed) -> None:
    window = ContextWindow(8192)
    engine = await indexed(*RAIN, *FIVE, options=EngineOptions(context_window=window))
    history = (ChatTurn("user", "so and so " * 3000), ChatTurn("assistant", "yes " * 200))
    messages = await engine.build_messages(replace(FERRY, history=history))
    assert 3000 < tokens(messages) <= 8192 - window.reply_tokens
    assert "Ferry number" in messages[0].content


async def test_the_prompt_shows_only_rows_that_no_source_says(indexed: OpenIndexed) -> None:
    engine = await indexed(doc("pair", "Ada met Bob. Bob fears Cyd."))
    context = await engine.retrieve(Question("Whom does Bob fear?", HERE, low=("Bob",)))
    assert len(context.entities) > 1
    assert context.prompt_rows == GraphRows()


async def test_what_only_a_description_says_is_among_the_sources(indexed: OpenIndexed) -> None:
    noise = [doc(f"n{number:02}", f"The Ferry sails at {number} today.") for number in range(9)]
    engine = await indexed(*noise, doc("keel", "Thorne painted the Ferry blue."))
    question = Question("Who painted the Ferry blue?", HERE, mode="local", low=("Ferry",), chunk_top_k=7)
    context = await engine.retrieve(question)
    assert "Thorne painted the Ferry blue." in {source.text for source in context.sources}
    assert len(context.sources) <= 7


async def test_a_question_that_does_not_fit_is_refused_before_it_is_sent(indexed: OpenIndexed) -> None:
    engine = await indexed(*FIVE)
    for ask in (engine.ask, engine.build_messages):
        with pytest.raises(InvalidQuestion, match="tokens"):
            await ask(replace(FERRY, text="ferry " * 1300, max_total_tokens=1000))


async def test_entities_and_relations_have_budgets_of_their_own(indexed: OpenIndexed) -> None:
    names = ("Ada", "Bob", "Cyd", "Dan", "Eve", "Fay")
    engine = await indexed(doc("a", *(f"{a} met {b} by the sea." for a, b in pairwise(names))))
    question = Question("met by the sea", HERE)
    whole = await engine.retrieve(question)
    less = await engine.retrieve(replace(question, max_entity_tokens=90, max_relation_tokens=90))
    none = await engine.retrieve(replace(question, max_entity_tokens=0, max_relation_tokens=0))
    assert 0 < len(less.entities) < len(whole.entities) == 6
    assert 0 < len(less.relations) < len(whole.relations) == 5
    assert (none.entities, none.relations, bool(none.sources)) == ((), (), True)


@pytest.mark.parametrize("selection", ["walk", "vector", "weight"])
async def test_each_chunk_selection_finds_the_evidence(indexed: OpenIndexed, selection: Any) -> None:
    options = EngineOptions(ranking=RankingOptions(chunk_selection=selection))
    engine = await indexed(*FIVE, doc("pair", "Ada met Bob."), options=options)
    for mode in ("local", "global", "hybrid", "mix"):
        assert "pair" in await order(engine, Question("Ada met Bob", HERE, mode=mode, low=("Ada",), high=("met",)))


async def test_pagerank_finds_what_follows_from_the_question(indexed: OpenIndexed) -> None:
    charter = doc("first", "The charter of the mill was signed by Ottoline for Brook.")
    noise = [doc(f"noise{number}", f"The mill was closed, says paper {number}.") for number in range(30)]
    engine = await indexed(charter, doc("second", "Ottoline wed Percival in spring."), *noise)
    question = Question("Who signed the charter of the mill, and whom did she wed?", HERE, chunk_top_k=4)
    question = replace(question, low=("charter of the mill",), high=("signed the charter of the mill",))
    assert set(await order(engine, question)) >= {"first", "second"}


async def test_a_reranker_orders_the_sources(indexed: OpenIndexed) -> None:
    engine = await indexed(*FIVE)
    engine._runtime.reranker = WordReranker({"gamma": 0.9, "omega": 0.8, "alpha": 0.3, "beta": 0.2, "delta": 0.1})
    answer = await engine.ask(replace(FERRY, chunk_top_k=3))
    assert [source.document for source in answer.context.sources] == ["gamma", "omega", "alpha"]
    assert "rerank" in {usage.purpose for usage in answer.usage}
    assert "rerank" in answer.context.timings


async def test_a_reranker_that_fails_changes_nothing_and_that_is_said(indexed: OpenIndexed) -> None:
    engine = await indexed(*FIVE)
    usual = await order(engine)
    engine._runtime.reranker = FailingReranker()
    answer = await engine.ask(FERRY)
    assert [source.document for source in answer.context.sources] == usual
    assert answer.context.failed_helpers == ("reranking",)


async def test_unusable_scores_leave_texts_out_or_change_nothing(indexed: OpenIndexed) -> None:
    engine = await indexed(*FIVE)
    usual = await order(engine)
    for reranker, expected in (
        (WordReranker({"gamma": 0.1, "omega": math.nan, "alpha": None, "beta": 0.7}), ["beta", "gamma"]),
        (WordReranker({}), usual),
        (WordReranker({"gamma": 1.0, "beta": 0.5}, few=True), usual),
    ):
        engine._runtime.reranker = reranker
        assert await order(engine) == expected
    engine._runtime.reranker = reranker = WordReranker({"gamma": 0.9})
    assert await order(engine, replace(FERRY, rerank=False)) == usual
    assert not reranker.calls


async def test_texts_below_the_minimum_score_are_left_out(indexed: OpenIndexed) -> None:
    engine = await indexed(*FIVE, options=EngineOptions(ranking=RankingOptions(min_rerank_score=0.5)))
    engine._runtime.reranker = WordReranker({"gamma": 0.9, "omega": 0.5, "alpha": 0.4})
    assert await order(engine) == ["gamma", "omega"]


async def test_a_reranker_gets_no_text_out_of_scope(indexed: OpenIndexed) -> None:
    engine = await indexed(*FIVE, doc("far", "The Ferry of zeta is here.", space="far", room="field"))
    engine._runtime.reranker = reranker = WordReranker({"Ferry": 0.5})
    await engine.retrieve(FERRY)
    assert reranker.calls
    assert not [text for texts in reranker.calls for text in texts if "zeta" in text]


async def test_a_passage_in_several_chunks_is_one_source(indexed: OpenIndexed) -> None:
    text = " ".join(f"Ferry sentence {number} tells of the river." for number in range(400))
    engine = await indexed(Document("long", "here", "hall", "Long", (Passage("1", text, "p. 1"),)))
    sources = (await engine.retrieve(replace(FERRY, mode="naive"))).sources
    assert [(source.passage, source.label) for source in sources] == [("1", "p. 1")]


async def test_sources_know_where_they_come_from(indexed: OpenIndexed) -> None:
    when, url = datetime(2026, 3, 1, 12, tzinfo=UTC), "https://town.example"
    passages = (
        Passage("1", "Ferry one.", "p. 1", f"{url}/1", "Ada", when),
        Passage("2", "Ferry two.", "p. 2", position=1),
    )
    engine = await indexed(Document("d", "here", "hall", "Paper", passages, when, f"{url}/d"))
    one, two = (await engine.retrieve(FERRY)).sources
    place = {"title": "Paper", "time": when, "space": "here", "room": "hall"}
    for source, own in (
        (one, {"label": "p. 1", "link": f"{url}/1", "author": "Ada"}),
        (two, {"label": "p. 2", "link": f"{url}/d", "author": ""}),
    ):
        assert {name: getattr(source, name) for name in (*place, *own)} == place | own
