"""A question as of a day is answered as by an engine that received only what was written up to its end."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.llm.offline.model import OfflineModel
from engine.llm.prompts import render_answer
from engine.models import ChatTurn, Context, Document, Filters, Passage, Question, SearchQuery
from engine.retrieval.sources import build_prompt
from tests.support.engine_fixture import HERE, open_memory_engine
from tests.support.fake_embedder import HashEmbedder

START = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = 20
PEOPLE = ("Ada Lund", "Bob Kerr", "Cyd Moss", "Dan Vale")
THINGS = ("the ferry", "the crane", "the kiosk", "the harbour office", "the lighthouse")


@dataclass(frozen=True, slots=True)
class Found:
    """What a question found and was answered."""

    sources: frozenset[tuple[str, str]]
    answer: str
    replaced: frozenset[tuple[str, str]]
    context: Context


def write_sentence(chance: random.Random) -> str:
    person, thing = chance.choice(PEOPLE), chance.choice(THINGS)
    forms = (
        f"{person} {chance.choice(('repairs', 'leads', 'paints'))} {thing} since spring.",
        f"The fee for {thing} is {chance.randrange(5, 60)} euros.",
        f"Now {person} leads {thing} instead of {chance.choice(PEOPLE)}.",
        f"{thing.capitalize()} opens on {chance.randrange(1, 28)} June.",
    )
    return chance.choice(forms)


def write_conversation(chance: random.Random, key: str, step: timedelta) -> Document:
    """A conversation whose messages follow each other by up to twice a step; a short one within one day."""
    at = START + timedelta(days=chance.randrange(DAYS), hours=chance.randrange(12))
    passages = list[Passage]()
    for number in range(chance.randrange(1, 6)):
        text, author = write_sentence(chance), chance.choice(PEOPLE)
        passages.append(Passage(f"m{number}", text, f"{at:%Y-%m-%d %H:%M}", author=author, time=at, position=number))
        at += step * (1 + chance.random())
    return Document(key, "here", "hall", f"Talk {key}", tuple(passages), passages[0].time, kind="conversation")


def edit(chance: random.Random, written: Document) -> Document:
    """The conversation after some messages were edited and some deleted."""
    left = (passage for passage in written.passages if chance.random() > 0.1)
    kept = tuple(
        replace(passage, text=write_sentence(chance)) if chance.random() < 0.15 else passage for passage in left
    )
    return replace(written, passages=kept)


def cut(documents: Sequence[Document], end: datetime) -> list[Document]:
    """What was written up to a time."""
    kept = (
        replace(document, passages=tuple(p for p in document.passages if p.time and p.time <= end))
        for document in documents
    )
    return [each for each in kept if each.passages]


def list_questions(chance: random.Random) -> list[Question]:
    things = chance.sample(THINGS, 2)
    texts = (f"Who leads {things[0]}?", f"What is the fee for {things[1]}?", f"What does {chance.choice(PEOPLE)} do?")
    return [Question(text, HERE, mode=mode) for mode in ("naive", "mix") for text in texts]


async def receive(engine: Engine, *versions: Sequence[Document]) -> None:
    for each in (document for version in versions for document in version):
        if each.passages:
            await engine.documents.add(each)
        else:
            await engine.documents.forget(each.key)
    await engine.wait_until_indexed()


async def ask(engine: Engine, question: Question) -> Found:
    answer = await engine.ask(question)
    text, context = await answer.collect_text(), answer.context
    replaced = frozenset((replacement.older_text, replacement.newer_text) for replacement in context.replacements)
    return Found(frozenset((source.document, source.passage) for source in context.sources), text, replaced, context)


async def ask_all(home: Path, questions: Sequence[Question], *versions: Sequence[Document]) -> list[Found]:
    embedder = HashEmbedder()
    async with open_memory_engine(home, OfflineModel(embedder), embedder) as engine:
        await receive(engine, *versions)
        return [await ask(engine, question) for question in questions]


def as_of(day: date, question: Question) -> Question:
    return replace(question, filters=Filters(until=end_of(day), as_of=day))


def end_of(day: date) -> datetime:
    return datetime.combine(day, time.max, UTC)


@pytest.mark.long
@pytest.mark.parametrize(
    ("seed", "conversations"), [*((seed, 8) for seed in (0, 1, 24, 136, 166)), *((seed, 40) for seed in (1001, 1004))]
)
async def test_it_finds_and_answers_what_a_store_of_that_time_would(
    tmp_path: Path, seed: int, conversations: int
) -> None:
    chance = random.Random(seed)
    written = [write_conversation(chance, f"c{number}", timedelta(minutes=30)) for number in range(conversations)]
    now, day = [edit(chance, each) for each in written], START.date() + timedelta(days=chance.randrange(3, DAYS))
    questions = list_questions(chance)
    past = await ask_all(tmp_path / "whole", [as_of(day, question) for question in questions], written, now)
    then = await ask_all(tmp_path / "past", questions, cut(now, end_of(day)))
    assert [(each.sources, each.answer, each.replaced) for each in past] == [
        (each.sources, each.answer, each.replaced) for each in then
    ]
    assert all(each.context.as_of == day for each in past)


@pytest.mark.parametrize("seed", range(3))
async def test_nothing_of_a_later_day_is_said_within_a_conversation_of_several(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    written = [write_conversation(chance, f"c{number}", timedelta(hours=15)) for number in range(6)]
    day, questions = START.date() + timedelta(days=chance.randrange(3, DAYS)), list_questions(chance)
    past = await ask_all(tmp_path / "whole", [as_of(day, question) for question in questions], written)
    earlier = {passage.text for document in cut(written, end_of(day)) for passage in document.passages}
    later = {passage.text for document in written for passage in document.passages} - earlier
    for found in past:
        described = [entity.description for entity in found.context.entities]
        described += [relation.description for relation in found.context.relations]
        said = "\n".join([found.answer, *(source.text for source in found.context.sources), *described])
        assert not [text for text in later if text in said]


async def test_an_entity_is_not_found_by_what_was_said_of_it_later(tmp_path: Path) -> None:
    days = [START, START + timedelta(days=5)]
    texts = ("Ada Lund paints the crane.", "Ada Lund tunes the zither of the observatory.")
    written = [
        Document(key, "here", "hall", key, (Passage("m", text, "", author="Bob Kerr", time=day),), day)
        for key, text, day in zip("ab", texts, days, strict=True)
    ]
    asked = Question("Zither of the observatory", HERE, mode="local")
    [now, past] = await ask_all(tmp_path, [asked, as_of(START.date(), asked)], written)
    assert [entity.name for entity in now.context.entities][:1] == ["Ada Lund"]
    assert past.context.entities == ()


def test_a_model_is_told_the_day_and_nothing_that_was_said_later() -> None:
    asked = replace(
        as_of(date(2026, 3, 5), Question("And who pays?", HERE)),
        history=(ChatTurn("user", "Who leads the ferry?"), ChatTurn("assistant", "Since April, Cyd.")),
    )
    context = Context(SearchQuery("Who pays for the ferry?"), "mix", as_of=date(2026, 3, 5))
    messages = render_answer(build_prompt(asked, context, START + timedelta(days=60)))
    assert [message.role for message in messages] == ["system", "user"]
    assert messages[1].content == "Who pays for the ferry?"
    assert "as of the end of Thursday, 2026-03-05" in messages[0].content
    assert "Cyd" not in messages[0].content
    today = render_answer(build_prompt(replace(asked, filters=Filters()), replace(context, as_of=None), START))
    assert "as of the end" not in today[0].content
    assert [llmmessage.role for llmmessage in today] == ["system", "user", "assistant", "user"]
