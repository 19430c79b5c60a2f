"""Where people are no entities, the graph, its names and its exports know none, and messages are cited as before."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine import Engine, Extraction, Mention, OfflineModel, Question
from engine.errors import InvalidQuestion, PeopleNotKept
from engine.models import Document, Passage
from engine.options import EngineOptions
from engine.text.message_line import render_message_line
from tests.support.engine_fixture import HERE, export_state, is_clean, open_memory_engine
from tests.support.fake_embedder import HashEmbedder

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


async def ask(engine: Engine, text: str, *writers: str) -> str:
    answer = await engine.ask(Question(text, HERE, writers=writers))
    return "".join([piece async for piece in answer])


async def test_a_change_to_less_leaves_no_person_in_an_export_and_keeps_the_answers(tmp_path: Path) -> None:
    async with opened(tmp_path, ()) as engine:
        await engine.documents.add(conversation())
        assert list_people(await export_state(engine)) >= {"nadia öberg", "bo quist", "ilse marten"}
        assert await engine.graph.get_entity("Nadia Öberg", HERE)
    async with opened(tmp_path, EVERYWHERE) as engine:
        exported = [line async for line in engine.maintenance.export("jsonl", HERE)]
        assert list_people(exported) == set()
        assert list_people(await export_state(engine)) == set()
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
