"""Where people are no entities, the graph, its names and its exports know none, and messages are cited as before."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sqlite3
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine import Engine, Extraction, Mention, OfflineModel, Question
from engine.clock import SYSTEM_CLOCK
from engine.errors import InvalidQuestion, PeopleNotKept
from engine.models import Document, Passage
from engine.options import EngineOptions
from engine.storage.ledger import Ledger
from engine.storage.ledger.content import facts, readings
from engine.text.cleanup import render_message_line
from tests.support.engine_fixture import HERE, export_state, is_clean, open_memory_engine
from tests.support.fake_embedder import HashEmbedder
from tests.support.kills import KILLED, NEVER, run_until_killed

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
TALK = (
    ("Nadia Öberg", "The Lantern Works deliver the beacon on Friday. Ask Ilse Marten."),
    ("Bo Quist", "Nadia decided that the Lantern Works get the Beacon Project."),
    ("Ilse Marten", "I talked to Nadia Oberg, @bo and the Harbor Office about the Beacon Project."),
)
PEOPLE = {"nadia", "öberg", "oberg", "ilse", "marten", "bo", "quist"}
EVERYWHERE = frozenset({""})


def opened(home: Path, prefixes: Collection[str], hidden: Collection[str] = ()) -> AbstractAsyncContextManager[Engine]:
    embedder = HashEmbedder()
    options = EngineOptions(
        extraction_linger=0.0, spaces_without_people=frozenset(prefixes), spaces_without_authors=frozenset(hidden)
    )
    return open_memory_engine(home, OfflineModel(embedder), embedder, options)


def conversation() -> Document:
    passages = tuple(
        Passage(f"m{n}", render_message_line(at, author, text), author, author=author, time=at, position=n)
        for n, (author, text) in enumerate(TALK)
        for at in (START + timedelta(minutes=n),)
    )
    return Document("talk", "here", "hall", "Thread", passages, kind="conversation")


def list_people(lines: Collection[str]) -> set[str]:
    """The names of people that an export has outside of texts and their authors."""
    rows = [json.loads(line) for line in lines]
    names = {
        str(row.get(field, "")).casefold()
        for row in rows
        if row["kind"] not in {"document", "passage", "chunk"}
        for field in ("canonical", "name", "surface", "a", "b", "target")
    }
    return {name for name in names if not PEOPLE.isdisjoint(name.replace("@", "").split())}


def list_told(lines: Collection[str]) -> set[str]:
    """What descriptions and keywords of an export say of people."""
    rows = [json.loads(line) for line in lines]
    told = {
        str(row.get(field, "")).casefold()
        for row in rows
        if row["kind"] not in {"document", "passage", "chunk"}
        for field in ("description", "descriptions", "keywords", "text")
    }
    return {text for text in told if not PEOPLE.isdisjoint(re.findall(r"\w+", text))}


async def ask(engine: Engine, text: str, *writers: str) -> str:
    answer = await engine.ask(Question(text, HERE, writers=writers))
    return "".join([piece async for piece in answer])


async def test_a_change_to_less_leaves_no_person_in_an_export_and_keeps_the_answers(tmp_path: Path) -> None:
    async with opened(tmp_path, ()) as engine:
        await engine.documents.add(conversation())
        assert list_people(await export_state(engine)) >= {"nadia öberg", "bo quist", "ilse marten"}
        assert list_told(await export_state(engine))
        assert await engine.graph.get_entity("Nadia Öberg", HERE)
    async with opened(tmp_path, EVERYWHERE) as engine:
        exported = [line async for line in engine.maintenance.export("jsonl", HERE)]
        assert list_people(exported) == set()
        assert list_people(await export_state(engine)) == set()
        assert list_told(exported) == set()
        assert list_told(await export_state(engine)) == set()
        removed = await export_state(engine)
        assert await is_clean(engine)
        assert await engine.graph.get_entity("Nadia Öberg", HERE) is None
        assert await engine.graph.find_names("nad", HERE) == []
        assert await engine.graph.get_entity("Beacon Project", HERE)
        assert "Nadia Öberg" in await engine.documents.list_authors(HERE)
        assert "Friday" in await ask(engine, "When is the beacon delivered?")
        assert "Friday" in await ask(engine, "When is the beacon delivered?", "Nadia Öberg")
        with pytest.raises(PeopleNotKept):
            await engine.corrections.add_facts("here", "", Extraction((Mention("Ilse Marten", "person", "She rows."),)))
        assert (await engine.maintenance.get_status(HERE)).people == "are no entities of the graph"
    async with opened(tmp_path / "anew", EVERYWHERE) as engine:
        await engine.documents.add(conversation())
        assert await export_state(engine) == removed


async def remove_one_and_die(home: Path) -> None:
    """Begin a removal, and end like a killed process after its first transaction."""
    ledger = await Ledger.open(home / "ledger.db", clock=SYSTEM_CLOCK)
    await ledger.removed_people.begin(EVERYWHERE)
    await ledger.removed_people.remove_next(0.0)
    os._exit(KILLED)


@pytest.mark.files
async def test_a_removal_that_was_killed_goes_on_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readings, "BATCH", 1)
    async with opened(tmp_path, ()) as engine:
        for number in range(3):
            await engine.documents.add(replace(conversation(), key=f"talk {number}", room=f"room {number}"))
        await engine.wait_until_indexed()
    assert await asyncio.to_thread(run_until_killed, lambda: asyncio.run(remove_one_and_die(tmp_path)), NEVER)
    async with opened(tmp_path, EVERYWHERE) as engine:
        begun = await engine.maintenance.get_people_removal()
        assert (begun.number, begun.total) == (1, 3)
        assert list_people([line async for line in engine.maintenance.export("jsonl", HERE)]) == set()
        assert (await engine.maintenance.get_people_removal()).read == 3
        await engine.wait_until_indexed()
        assert await is_clean(engine)


async def test_where_authors_are_hidden_nothing_is_asked_by_who_wrote_it(tmp_path: Path) -> None:
    async with opened(tmp_path, EVERYWHERE, EVERYWHERE) as engine:
        await engine.documents.add(conversation())
        assert list_people(await export_state(engine)) == set()
        with pytest.raises(InvalidQuestion, match="who wrote them"):
            await ask(engine, "When is the beacon delivered?", "Nadia Öberg")
        assert await engine.documents.list_authors(HERE) == []
        assert "Friday" in await ask(engine, "When is the beacon delivered?")


async def test_people_are_entities_again_after_a_change_to_more(tmp_path: Path) -> None:
    async with opened(tmp_path, ()) as engine:
        await engine.documents.add(conversation())
        before = await export_state(engine)
    async with opened(tmp_path, EVERYWHERE) as engine:
        await engine.maintenance.verify()
        assert list_people([line async for line in engine.maintenance.export("jsonl", HERE)]) == set()
    async with opened(tmp_path, ()) as engine:
        assert await export_state(engine) == before


def file(key: str, text: str) -> Document:
    return Document(key, "here", "hall", key, (Passage("1", text, position=0),))


def said_by(author: str) -> Document:
    line = render_message_line(START, author, "Hello, the kettle is hot.")
    passage = Passage("m1", line, author, author=author, time=START, position=0)
    return Document(f"said by {author}", "here", "hall", "Thread", (passage,), kind="conversation")


async def list_graph(engine: Engine) -> set[str]:
    rows = [json.loads(line) for line in await export_state(engine)]
    return {row["canonical"] for row in rows if row["kind"] == "entity"}


async def test_what_members_call_themselves_removes_no_organization_and_comes_back_with_their_texts_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "PEOPLE_BATCH", 1)
    async with opened(tmp_path, EVERYWHERE) as engine:
        for number in range(3):
            text = f"The Lantern Works deliver part {number} of the Beacon Project to the Harbor Office on Friday."
            await engine.documents.add(file(f"file {number}", text))
        before = await export_state(engine)
        for author in ("Lantern Works", "Harbor Office", "Beacon Lover"):
            await engine.documents.add(said_by(author))
        assert await list_graph(engine) == {"harbor office", "beacon project"}
        for author in ("Lantern Works", "Harbor Office", "Beacon Lover"):
            await engine.documents.forget(f"said by {author}")
        await engine.wait_until_indexed()
        assert await export_state(engine) == before
        assert await is_clean(engine)
        await engine.documents.add(said_by("Lantern Works"))
        await engine.wait_until_indexed()
    async with opened(tmp_path, ()) as engine:
        assert "lantern works" in await list_graph(engine)


async def test_what_an_earlier_version_left_in_descriptions_goes_at_the_next_start(tmp_path: Path) -> None:
    async with opened(tmp_path, EVERYWHERE) as engine:
        await engine.documents.add(conversation())
        clean = await export_state(engine)
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as db:
        db.execute("UPDATE mention SET description = 'Nadia Öberg likes it. ' || description")
        db.execute("DELETE FROM meta WHERE key = 'people_removal_reach'")
        db.commit()
    async with opened(tmp_path, EVERYWHERE) as engine:
        assert (await engine.maintenance.get_people_removal()).number == 1
        exported = [line async for line in engine.maintenance.export("jsonl", HERE)]
        assert list_told(exported) == set()
        assert await export_state(engine) == clean
