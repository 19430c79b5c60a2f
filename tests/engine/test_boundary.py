"""What comes into the engine is made well-formed, in every place, and nothing is done once it is closed."""

from __future__ import annotations

import inspect
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Engine
from engine.boundary import normalize_value, repair_surrogates
from engine.errors import EngineClosed, NotFound
from engine.models import ChatTurn, Document, Extraction, Filters, Link, Mention, Passage, Question, Scope
from tests.support.engine_fixture import HERE, doc, open_engine, open_memory_engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONE = "\ud83d"
NAIVE = datetime(2026, 11, 20, 12)  # noqa: DTZ001 - that is the point
NOON = NAIVE.replace(tzinfo=UTC)
ANY = st.text(st.characters(exclude_categories=()), max_size=8)


@given(ANY)
def test_any_text_can_be_encoded_and_what_could_be_is_kept(text: str) -> None:
    made = repair_surrogates(text)
    made.encode()
    assert repair_surrogates(made) == made
    assert made == text or any("\ud800" <= letter <= "\udfff" for letter in text)


def test_halves_that_belong_together_are_joined() -> None:
    assert repair_surrogates("\ud83d\ude00 a \ud83d b") == "😀 a \ufffd b"


def test_what_is_well_formed_stays_the_same_object() -> None:
    for value in (doc("a", "one"), Question("Ada", HERE), Filters(since=NOON), ["a"], NOON, 12, None, HERE):
        assert normalize_value(value) is value


def test_times_without_a_zone_are_read_as_utc() -> None:
    east = datetime(2026, 11, 20, 12, tzinfo=timezone(timedelta(hours=2)))
    assert normalize_value(Filters(since=NAIVE, until=east)) == Filters(since=NOON, until=east)
    [passage] = normalize_value((Passage("p", "text", time=NAIVE),))
    assert passage.time == NOON


async def test_lone_surrogates_are_replaced_wherever_they_come_in(tmp_path: Path) -> None:
    bad, scope = f"Ada{LONE} met Bob", Scope(frozenset({f"here{LONE}"}), frozenset({f"hall{LONE}"}))
    passages = (Passage(f"p{LONE}", bad, bad, bad, bad), Passage("q", "Bob met Zoe."))
    document = Document(f"k{LONE}", f"here{LONE}", f"hall{LONE}", bad, passages, link=bad)
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(document)
        await engine.amend(f"k{LONE}", [Passage("r", bad)], {f"s{LONE}"})
        told = Extraction((Mention(f"Cyd{LONE}", f"person{LONE}", bad),), (Link(f"Cyd{LONE}", "Ada", bad, bad),))
        await engine.add_facts(f"here{LONE}", f"hall{LONE}", told)
        await engine.wait_until_indexed()
        assert "k\ufffd" in [each.key for each in await engine.list_documents(scope)]
        assert (await engine.get_document(f"k{LONE}", scope)).title == "Ada\ufffd met Bob"
        question = Question(
            bad, scope, (ChatTurn("user", bad),), low=(bad,), high=(bad,), instructions=bad, style=bad, threshold=-1.0
        )
        narrow = Filters(frozenset({f"k{LONE}"}), frozenset({f"hall{LONE}"}), frozenset({bad}))
        for asked in (question, replace(question, filters=narrow), replace(question, low=(), high=(), mode="naive")):
            text = await (await engine.ask(asked)).collect_text()
            text.encode()
            assert text
            for message in await engine.build_messages(asked):
                message.content.encode()
        await engine.merge(f"here{LONE}", f"Zed{LONE}", "Bob")
        await engine.describe(f"here{LONE}", "Bob", bad)
        await engine.hide(f"here{LONE}", "Zoe")
        await engine.wait_until_indexed()
        assert (await engine.get_document_status(f"k{LONE}", scope)).is_searchable
        await engine.find_names(LONE, scope)
        await engine.get_neighbourhood(f"Ada{LONE}", scope)
        "".join([line async for line in engine.export("jsonl", scope)]).encode()
        await engine.move_room(f"hall{LONE}", f"there{LONE}")
        assert await engine.retry(f"k{LONE}") == 0
        assert await engine.forget(f"k{LONE}")


async def test_times_without_a_zone_are_utc_wherever_they_come_in(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        passages = (Passage("p", "Ada met Bob.", time=NAIVE), Passage("q", "Ada met Zoe.", position=1))
        await engine.add(replace(doc("a", "x"), passages=passages, time=NAIVE + timedelta(days=1)))
        await engine.amend("a", [Passage("r", "Ada met Cyd.", time=NAIVE + timedelta(days=2), position=2)])
        key = await engine.add_facts(
            "here", "hall", Extraction((Mention("Dan", "person", "Dan met Ada."),)), time=NAIVE
        )
        await engine.wait_until_indexed()
        assert (await engine.get_document("a", HERE)).time == NOON + timedelta(days=1)
        assert (await engine.get_document(key, HERE)).time == NOON

        async def found(**within: Any) -> set[str]:
            question = Question("Ada met", HERE, mode="naive", filters=Filters(**within), threshold=-1.0)
            return {source.passage for source in (await engine.retrieve(question)).sources}

        for noon in (NAIVE, NOON):
            assert await found(since=noon + timedelta(hours=1)) == {"q", "r"}
            assert await found(until=noon) == {"p", "1"}


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "add": (doc("b", "text"),),
    "amend": ("a",),
    "ask": (Question("Ada", HERE),),
    "backup": ("somewhere",),
    "document": ("a", HERE),
    "documents": (HERE,),
    "entity": ("Ada", HERE),
    "export": ("jsonl", HERE),
    "forget": ("a",),
    "hide": ("here", "Ada"),
    "leave_room": ("hall",),
    "merge": ("here", "Ada", "Bob"),
    "move_room": ("hall", "there"),
    "names": ("a", HERE),
    "neighbourhood": ("Ada", HERE),
    "pin": ("here", "Ada", "text"),
    "prompt": (Question("Ada", HERE),),
    "recall": (Question("Ada", HERE),),
    "stage": ("a", HERE),
    "state": ("here", "hall", Extraction((Mention("Ada", "person", "said"),))),
    "status": (HERE,),
    "unhide": ("here", "Ada"),
    "unmerge": ("here", "Ada"),
}


def public() -> list[tuple[str, Callable[..., Any]]]:
    asynchronous = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    return [
        (name, method)
        for name, method in vars(Engine).items()
        if not name.startswith("_") and any(is_one(method) for is_one in asynchronous)
    ]


async def test_every_public_method_of_a_closed_engine_says_so(tmp_path: Path) -> None:
    async with open_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob. Bob met Zoe.", "Zoe met Ada."))
        await engine.wait_until_indexed()
        begun, unbegun = await engine.ask(Question("Whom did Ada meet?", HERE)), await engine.ask(Question("Ada", HERE))
        pieces = aiter(begun)
        assert await anext(pieces)
        lines = engine.export("jsonl", HERE)
        assert await anext(lines)
    assert len(public()) > 20
    for name, method in public():
        called = method(engine, *ARGUMENTS.get(name, ()))
        with pytest.raises(EngineClosed, match="closed"):
            await (anext(called) if inspect.isasyncgen(called) else called)
    for stream in (pieces, aiter(unbegun), lines):
        with pytest.raises(EngineClosed):
            await anext(stream)
    for answer in (begun, unbegun):
        await answer.aclose()
        await answer.aclose()


async def test_stores_may_be_closed_twice(tmp_path: Path) -> None:
    async with open_engine(tmp_path) as engine:
        runtime = engine._runtime
    for store in (runtime.ledger, runtime.vectors, runtime.graph):
        await store.close()
        await store.close()
    with pytest.raises(EngineClosed):
        await engine.get_document("a", HERE)
    with pytest.raises(NotFound):
        async with open_engine(tmp_path) as engine:
            await engine.get_document("a", HERE)
