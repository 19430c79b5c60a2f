"""Text and times that come into the engine are normalized, and nothing is done once it is closed."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Engine
from engine.boundary import (
    HAS_DEFAULT,
    OPTION_BOUNDS,
    QUESTION_BOUNDS,
    RANKING_BOUNDS,
    check_numbers,
    check_options,
    normalize_value,
    repair_surrogates,
)
from engine.errors import EngineClosed, InvalidDocument, InvalidQuestion, NotFound
from engine.models import ChatTurn, Document, Extraction, Filters, Link, Mention, Passage, Question, Scope
from engine.options import EngineOptions, RankingOptions
from tests.support.engine_fixture import HERE, doc, open_engine, open_memory_engine

LONE = "\ud83d"
NAIVE = datetime(2026, 11, 20, 12)  # noqa: DTZ001 - that is the point
NOON = NAIVE.replace(tzinfo=UTC)
EAST = datetime(2026, 11, 20, 12, tzinfo=timezone(timedelta(hours=2)))

WRONG: list[Any] = [float("nan"), float("inf"), -float("inf"), -1e10, 10**12, 1e300, "7", None, True]
QUESTION = Question("Ada", HERE)
COUNTS = ("top_k", "chunk_top_k", "max_total_tokens")


@given(st.text(st.characters(exclude_categories=()), max_size=8))
def test_any_text_can_be_encoded_and_what_could_be_is_kept(text: str) -> None:
    repaired = repair_surrogates(text)
    repaired.encode()
    assert repair_surrogates(repaired) == repaired
    assert repaired == text or any("\ud800" <= letter <= "\udfff" for letter in text)


@pytest.mark.parametrize("value", [doc("a", "one"), Question("Ada", HERE), Filters(since=NOON), ["a"], NOON, 12, None])
def test_what_is_well_formed_stays_the_same_object(value: object) -> None:
    assert normalize_value(value) is value


LONG = "ключ" * 251  # 2,008 bytes
LONGEST = "ключ" * 250


async def test_a_key_or_name_that_no_index_holds_is_refused_with_a_hint(engine: Engine) -> None:
    good = doc("a", "one")
    for refused in (
        replace(good, key=LONG),
        replace(good, space=LONG),
        replace(good, room=LONG),
        replace(good, title=LONG),
        replace(good, passages=(Passage(LONG, "one"),)),
        replace(good, passages=(Passage("1", "one", author=LONG),)),
    ):
        with pytest.raises(InvalidDocument, match=r"has 2,008 bytes; the limit is 2,000\.") as caught:
            await engine.documents.add(refused)
        assert "shorter" in caught.value.hint


async def test_changes_of_documents_rooms_and_corrections_have_the_same_limit(engine: Engine) -> None:
    await engine.documents.add(doc("a", "Ada met Bob."))
    for refused in (
        engine.documents.amend("a", [Passage(LONG, "two")]),
        engine.documents.move_room("hall", LONG),
        engine.corrections.merge(LONG, "Ada", "Bob"),
        engine.corrections.separate("here", "Ada", "Bob", room=LONG),
        engine.corrections.add_facts(LONG, "hall", Extraction((Mention("Ada", "person", "She counts."),))),
    ):
        with pytest.raises(InvalidDocument, match="2,000"):
            await refused


async def test_the_longest_keys_and_names_are_stored(engine: Engine) -> None:
    passages = (Passage(LONGEST, "Ada met Bob.", author=LONGEST, time=NOON),)
    await engine.documents.add(Document(LONGEST, LONGEST, LONGEST, LONGEST, passages))
    stored = await engine.documents.get(LONGEST, Scope.of(LONGEST))
    assert (stored.room, stored.passages) == (LONGEST, passages)


def test_surrogates_and_times_are_normalized_at_any_depth() -> None:
    assert repair_surrogates("\ud83d\ude00 a \ud83d b") == "😀 a \ufffd b"
    assert normalize_value(Filters(since=NAIVE, until=EAST)) == Filters(since=NOON, until=EAST)
    facts = Extraction((Mention(LONE, "x", "y"),), (Link("a", LONE, "x", "y"),))
    question = Question(LONE, Scope(frozenset({LONE}), frozenset()), (ChatTurn("user", LONE),), low=(LONE,))
    assert LONE not in str(normalize_value((facts, question, Passage(LONE, LONE, time=NAIVE))))


async def test_what_comes_in_is_stored_and_given_out_as_valid_text_and_utc(tmp_path: Path) -> None:
    bad, scope = f"Ada{LONE} met Bob", Scope(frozenset({f"here{LONE}"}), frozenset({f"hall{LONE}"}))
    passages = (Passage(f"p{LONE}", bad, bad, bad, bad, NAIVE), Passage("q", "Bob met Zoe.", position=1))
    document = Document(f"k{LONE}", f"here{LONE}", f"hall{LONE}", bad, passages, NAIVE + timedelta(days=1), link=bad)
    async with open_memory_engine(tmp_path) as engine:
        await engine.documents.add(document)
        await engine.documents.amend(
            f"k{LONE}", [Passage("r", bad, time=NAIVE + timedelta(days=2), position=2)], {f"s{LONE}"}
        )
        await engine.wait_until_indexed()
        stored = await engine.documents.get(f"k{LONE}", scope)
        assert (stored.key, stored.title, stored.time) == ("k\ufffd", "Ada\ufffd met Bob", NOON + timedelta(days=1))
        question = Question(
            bad, scope, (ChatTurn("user", bad),), low=(bad,), high=(bad,), instructions=bad, style=bad, threshold=-1.0
        )
        narrow = Filters(frozenset({f"k{LONE}"}), frozenset({f"hall{LONE}"}), frozenset({bad}))
        for asked in (question, replace(question, filters=narrow), replace(question, low=(), high=(), mode="naive")):
            text = await (await engine.ask(asked)).collect_text()
            assert text.encode()
            for message in await engine.build_messages(asked):
                message.content.encode()
        "".join([line async for line in engine.maintenance.export("jsonl", scope)]).encode()

        async def found(**within: Any) -> set[str]:
            asked = Question("Ada met", scope, mode="naive", filters=Filters(**within), threshold=-1.0)
            return {source.passage for source in (await engine.retrieve(asked)).sources}

        for noon in (NAIVE, NOON):
            assert await found(since=noon + timedelta(hours=1)) == {"q", "r"}
            assert await found(until=noon) == {"p\ufffd"}
        await engine.corrections.merge(f"here{LONE}", f"Zed{LONE}", "Bob", allow_unknown=True)
        assert await engine.documents.forget(f"k{LONE}")


@pytest.mark.long
async def test_every_public_method_of_a_closed_engine_says_so(tmp_path: Path) -> None:
    async with open_engine(tmp_path) as engine:
        runtime = engine._runtime
        await engine.documents.add(doc("a", "Ada met Bob. Bob met Zoe.", "Zoe met Ada."))
        await engine.wait_until_indexed()
        begun, unbegun = await engine.ask(Question("Whom did Ada meet?", HERE)), await engine.ask(Question("Ada", HERE))
        pieces, lines = aiter(begun), engine.maintenance.export("jsonl", HERE)
        assert await anext(pieces)
        assert await anext(lines)
    asynchronous = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    public = [
        (owner, method)
        for owner in (engine, engine.documents, engine.graph, engine.corrections, engine.maintenance)
        for name, method in vars(type(owner)).items()
        if not name.startswith("_") and any(is_kind(method) for is_kind in asynchronous)
    ]
    assert len(public) > 40
    for owner, method in public:
        called = method(owner)
        with pytest.raises(EngineClosed, match="closed"):
            await (anext(called) if inspect.isasyncgen(called) else called)
    for stream in (pieces, aiter(unbegun), lines):
        with pytest.raises(EngineClosed):
            await anext(stream)
    for closable in (begun, begun, unbegun, unbegun):
        await closable.aclose()
    for store in (runtime.ledger, runtime.vectors, runtime.graph):
        await store.close()
    async with open_engine(tmp_path) as engine:
        with pytest.raises(NotFound):
            await engine.documents.get("b", HERE)


def test_every_number_of_the_ranking_has_bounds_and_the_defaults_keep_them() -> None:
    assert RANKING_BOUNDS.keys() == {field.name for field in fields(RankingOptions)} - {"chunk_selection", "graph_rows"}
    check_options(EngineOptions())
    check_numbers(QUESTION, QUESTION_BOUNDS)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_number_out_of_bounds_is_refused_by_name(wrong: Any) -> None:
    for name in QUESTION_BOUNDS.keys() - (HAS_DEFAULT if wrong is None else ()):
        with pytest.raises(InvalidDocument, match=f"{name} must be") as caught:
            check_numbers(replace(QUESTION, **{name: wrong}), QUESTION_BOUNDS)
        assert isinstance(caught.value, InvalidQuestion)
    for name in OPTION_BOUNDS:
        with pytest.raises(InvalidDocument, match=f"{name} must be"):
            check_options(replace(EngineOptions(), **{name: wrong}))
    for name in RANKING_BOUNDS:
        with pytest.raises(InvalidDocument, match=f"{name} must be"):
            check_options(EngineOptions(ranking=replace(RankingOptions(), **{name: wrong})))


@pytest.mark.parametrize(("name", "wrong"), [*((name, 0) for name in COUNTS), ("top_k", 2.5)])
def test_counts_are_whole_and_at_least_one(name: str, wrong: Any) -> None:
    with pytest.raises(InvalidDocument):
        check_numbers(replace(QUESTION, **{name: wrong}), QUESTION_BOUNDS)


async def test_an_engine_refuses_numbers_out_of_bounds(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="max_attempts must be"):
        async with open_engine(tmp_path / "never", options=EngineOptions(max_attempts=0)):
            pass
    async with open_memory_engine(tmp_path) as engine:
        for ask in (engine.ask, engine.retrieve, engine.build_messages):
            with pytest.raises(InvalidDocument, match="top_k must be"):
                await ask(replace(QUESTION, top_k=-5))
        for wrong in [*WRONG, 0]:
            with pytest.raises(InvalidDocument, match="limit"):
                await engine.graph.find_names("a", HERE, wrong)
            with pytest.raises(InvalidDocument, match="limit"):
                await engine.graph.get_neighborhood("Ada", HERE, wrong)
