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
from engine.boundary import cleaned, well_formed
from engine.errors import Closed, NotFound
from engine.models import Document, Link, Mention, Passage, Question, Reading, Scope, Turn, Within
from tests.support.engines import HERE, doc, light_engine, open_engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONE = "\ud83d"
NAIVE = datetime(2026, 11, 20, 12)  # noqa: DTZ001 - that is the point
NOON = NAIVE.replace(tzinfo=UTC)
ANY = st.text(st.characters(exclude_categories=()), max_size=8)


@given(ANY)
def test_any_text_can_be_encoded_and_what_could_be_is_kept(text: str) -> None:
    made = well_formed(text)
    made.encode()
    assert well_formed(made) == made
    assert made == text or any("\ud800" <= letter <= "\udfff" for letter in text)


def test_halves_that_belong_together_are_joined() -> None:
    assert well_formed("\ud83d\ude00 a \ud83d b") == "😀 a \ufffd b"


def test_what_is_well_formed_stays_the_same_object() -> None:
    for value in (doc("a", "one"), Question("Ada", HERE), Within(since=NOON), ["a"], NOON, 12, None, HERE):
        assert cleaned(value) is value


def test_times_without_a_zone_are_read_as_utc() -> None:
    east = datetime(2026, 11, 20, 12, tzinfo=timezone(timedelta(hours=2)))
    assert cleaned(Within(since=NAIVE, until=east)) == Within(since=NOON, until=east)
    [passage] = cleaned((Passage("p", "text", time=NAIVE),))
    assert passage.time == NOON


async def test_lone_surrogates_are_replaced_wherever_they_come_in(tmp_path: Path) -> None:
    bad, scope = f"Ada{LONE} met Bob", Scope(frozenset({f"here{LONE}"}), frozenset({f"hall{LONE}"}))
    passages = (Passage(f"p{LONE}", bad, bad, bad, bad), Passage("q", "Bob met Zoe."))
    document = Document(f"k{LONE}", f"here{LONE}", f"hall{LONE}", bad, passages, link=bad)
    async with light_engine(tmp_path) as engine:
        await engine.add(document)
        await engine.amend(f"k{LONE}", [Passage("r", bad)], {f"s{LONE}"})
        told = Reading((Mention(f"Cyd{LONE}", f"person{LONE}", bad),), (Link(f"Cyd{LONE}", "Ada", bad, bad),))
        await engine.state(f"here{LONE}", f"hall{LONE}", told)
        await engine.settled()
        assert "k\ufffd" in [each.key for each in await engine.documents(scope)]
        assert (await engine.document(f"k{LONE}", scope)).title == "Ada\ufffd met Bob"
        question = Question(
            bad, scope, (Turn("user", bad),), low=(bad,), high=(bad,), instructions=bad, style=bad, threshold=-1.0
        )
        narrow = Within(frozenset({f"k{LONE}"}), frozenset({f"hall{LONE}"}), frozenset({bad}))
        for asked in (question, replace(question, within=narrow), replace(question, low=(), high=(), mode="naive")):
            text = await (await engine.ask(asked)).text()
            text.encode()
            assert text
            for message in await engine.prompt(asked):
                message.content.encode()
        await engine.merge(f"here{LONE}", f"Zed{LONE}", "Bob")
        await engine.pin(f"here{LONE}", "Bob", bad)
        await engine.hide(f"here{LONE}", "Zoe")
        await engine.settled()
        assert (await engine.stage(f"k{LONE}", scope)).searchable
        await engine.names(LONE, scope)
        await engine.neighbourhood(f"Ada{LONE}", scope)
        "".join([line async for line in engine.export("jsonl", scope)]).encode()
        await engine.move_room(f"hall{LONE}", f"there{LONE}")
        assert await engine.retry(f"k{LONE}") == 0
        assert await engine.forget(f"k{LONE}")


async def test_times_without_a_zone_are_utc_wherever_they_come_in(tmp_path: Path) -> None:
    async with light_engine(tmp_path) as engine:
        passages = (Passage("p", "Ada met Bob.", time=NAIVE), Passage("q", "Ada met Zoe.", position=1))
        await engine.add(replace(doc("a", "x"), passages=passages, time=NAIVE + timedelta(days=1)))
        await engine.amend("a", [Passage("r", "Ada met Cyd.", time=NAIVE + timedelta(days=2), position=2)])
        key = await engine.state("here", "hall", Reading((Mention("Dan", "person", "Dan met Ada."),)), time=NAIVE)
        await engine.settled()
        assert (await engine.document("a", HERE)).time == NOON + timedelta(days=1)
        assert (await engine.document(key, HERE)).time == NOON

        async def found(**within: Any) -> set[str]:
            question = Question("Ada met", HERE, mode="naive", within=Within(**within), threshold=-1.0)
            return {source.passage for source in (await engine.recall(question)).sources}

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
    "state": ("here", "hall", Reading((Mention("Ada", "person", "said"),))),
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
        await engine.settled()
        begun, unbegun = await engine.ask(Question("Whom did Ada meet?", HERE)), await engine.ask(Question("Ada", HERE))
        pieces = aiter(begun)
        assert await anext(pieces)
        lines = engine.export("jsonl", HERE)
        assert await anext(lines)
    assert len(public()) > 20
    for name, method in public():
        called = method(engine, *ARGUMENTS.get(name, ()))
        with pytest.raises(Closed, match="closed"):
            await (anext(called) if inspect.isasyncgen(called) else called)
    for stream in (pieces, aiter(unbegun), lines):
        with pytest.raises(Closed):
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
    with pytest.raises(Closed):
        await engine.document("a", HERE)
    with pytest.raises(NotFound):
        async with open_engine(tmp_path) as engine:
            await engine.document("a", HERE)
