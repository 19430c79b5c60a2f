"""Overviews: all of a span within the scope, in the order of time, cited, part by part where it is too long."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.llm.offline.model import NO_HIGHLIGHTS, OfflineModel
from engine.models import Document, Filters, Overview, Passage, Prompt, Question, Scope
from engine.retrieval import overview as overview_recall
from engine.text.overviews import apply_overview_request, parse_overview_request
from engine.usage import UsageMeter
from tests.support.engine_fixture import HERE, doc, open_memory_engine
from tests.support.fake_embedder import HashEmbedder
from tests.support.indexed_engine import OpenIndexed
from tests.support.toy_language import ToyLanguage

MAY = datetime(2026, 5, 1, 9, tzinfo=UTC)


def said(day: int, *texts: str, space: str = "here", room: str = "hall") -> Document:
    time = MAY + timedelta(days=day)
    return doc(f"{space}-{room}-{day}", *texts, space=space, room=room, time=time)


async def ask(engine: Engine, question: Question) -> str:
    return await (await engine.ask(question)).collect_text()


def overview(wanted: str, scope: Scope = HERE, within: Filters | None = None, **more: int) -> Question:
    made = Overview(wanted)  # type: ignore[arg-type]
    return Question("What was said?", scope, filters=within or Filters(), overview=made, **more)  # type: ignore[arg-type]


async def source_texts(engine: Engine, question: Question) -> list[str]:
    return [source.text for source in (await engine.retrieve(question)).sources]


async def test_everything_in_scope_is_used_in_the_order_of_time(indexed: OpenIndexed) -> None:
    secret = said(2, "A secret.", space="theirs")
    engine = await indexed(said(3, "The Roof leaks."), said(1, "The Tiles came."), secret)
    context = await engine.retrieve(overview("summary"))
    assert [(source.number, source.text) for source in context.sources] == [
        (1, "The Tiles came."),
        (2, "The Roof leaks."),
    ]


async def test_rooms_documents_and_times_narrow_it(indexed: OpenIndexed) -> None:
    engine = await indexed(said(1, "One."), said(5, "Two."), said(5, "Three.", room="attic"))
    for narrow, texts in (
        (Filters(rooms=frozenset({"attic"})), {"Three."}),
        (Filters(since=MAY + timedelta(days=2)), {"Two.", "Three."}),
        (Filters(until=MAY + timedelta(days=2)), {"One."}),
        (Filters(documents=frozenset({"here-hall-5"})), {"Two."}),
    ):
        assert set(await source_texts(engine, overview("summary", within=narrow))) == texts
    assert await source_texts(engine, overview("summary", Scope(frozenset(), frozenset({"attic"})))) == ["Three."]


async def test_lately_means_the_two_weeks_before_the_newest_message(indexed: OpenIndexed) -> None:
    engine = await indexed(said(1, "Old."), said(30, "New."), said(20, "Newer."))
    request = parse_overview_request("What was decided lately?", datetime(2030, 1, 1, tzinfo=UTC))
    assert request is not None
    assert await source_texts(engine, apply_overview_request(Question("?", HERE), request)) == ["Newer.", "New."]


async def test_without_a_span_older_messages_count_where_the_last_weeks_have_few(indexed: OpenIndexed) -> None:
    engine = await indexed(said(1, "Old."), said(30, "New."), said(20, "Newer."))
    request = parse_overview_request("What was decided?", datetime(2030, 1, 1, tzinfo=UTC))
    assert request is not None
    context = await engine.retrieve(apply_overview_request(Question("?", HERE), request))
    assert [source.text for source in context.sources] == ["Old.", "Newer.", "New."]
    assert context.overview is not None
    assert context.overview.since == ""


async def test_lately_means_the_weeks_before_the_newest_decision_if_newer_texts_have_none(indexed: OpenIndexed) -> None:
    old, minutes, page = (
        said(1, "We decided to paint the Shed."),
        said(60, "We decided to sell the Van."),
        said(200, "Tea."),
    )
    engine = await indexed(old, said(55, "We agreed to mend the Roof."), minutes, page, said(201, "The Pier is wet."))
    for text in ("What was decided lately?", "What was decided recently?"):
        request = parse_overview_request(text, datetime(2030, 1, 1, tzinfo=UTC))
        assert request is not None
        found = await source_texts(engine, apply_overview_request(Question("?", HERE), request))
        assert found == ["We agreed to mend the Roof.", "We decided to sell the Van."]


async def test_an_undated_decision_is_found_where_newer_texts_have_none(indexed: OpenIndexed) -> None:
    engine = await indexed(doc("rules", "We decided to ban Smoke."), said(1, "Tea."))
    request = parse_overview_request("What was decided lately?", datetime(2030, 1, 1, tzinfo=UTC))
    assert request is not None
    assert "We decided to ban Smoke." in await source_texts(
        engine, apply_overview_request(Question("?", HERE), request)
    )


async def test_an_overview_names_the_first_day_if_it_leaves_out_older_messages(indexed: OpenIndexed) -> None:
    many = [said(20 + at // 2, f"Day {at}.", room=f"room-{at}") for at in range(overview_recall.MIN_RECENT_CHUNKS)]
    engine = await indexed(said(1, "Old."), *many)
    request = parse_overview_request("What was decided?", datetime(2030, 1, 1, tzinfo=UTC))
    assert request is not None
    context = await engine.retrieve(apply_overview_request(Question("?", HERE), request))
    assert (len(context.sources), context.overview and context.overview.since) == (len(many), "2026-05-12")


async def test_of_too_much_only_the_newest_is_used_and_marked(
    indexed: OpenIndexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview_recall, "MAX_OVERVIEW_CHUNKS", 2)
    context = await (await indexed(*(said(day, f"Day {day}.") for day in range(4)))).retrieve(overview("summary"))
    assert [source.text for source in context.sources] == ["Day 2.", "Day 3."]
    assert context.overview is not None
    assert context.overview.truncated


class PartialAnswers(ToyLanguage):
    """Answers each part with its source numbers, and joins the answers to the parts."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[Prompt] = []

    async def answer(self, prompt: Prompt, meter: UsageMeter) -> AsyncGenerator[str, None]:
        self.prompts.append(prompt)
        if prompt.partial_answers:
            yield " ".join(prompt.partial_answers) + " and [999]"
        else:
            yield "".join(f"[{source.number}]" for source in prompt.context.sources)


async def test_text_too_long_for_one_prompt_is_answered_in_parts(indexed: OpenIndexed) -> None:
    language = PartialAnswers()
    engine = await indexed(*(said(day, f"{day} " + "word " * 600) for day in range(6)), language=language)
    answer = await engine.ask(overview("summary", max_total_tokens=2000))
    assert re.findall(r"\[(\d+)\]", await answer.collect_text()) == ["1", "2", "3", "4", "5", "6"]
    assert [source.number for source in answer.sources] == [1, 2, 3, 4, 5, 6]
    *parts, whole = language.prompts
    assert len(whole.partial_answers) == len(parts) >= 3
    assert not any(part.partial_answers for part in parts)
    assert sorted(source.number for part in parts for source in part.context.sources) == [1, 2, 3, 4, 5, 6]
    rendered = language.build_answer_messages(whole)[0].content
    assert "Summarize" in rendered
    assert "notes on parts of them" in rendered


async def test_text_that_fits_is_one_prompt(indexed: OpenIndexed) -> None:
    language = PartialAnswers()
    await ask(await indexed(said(1, "One."), language=language), overview("decisions"))
    (prompt,) = language.prompts
    assert "List the decisions" in language.build_answer_messages(prompt)[0].content


@pytest.fixture
def offline() -> OfflineModel:
    return OfflineModel(HashEmbedder())


CHAT = (
    "[2026-05-12 10:00] Ada: Shall we paint the roof this year?",
    "[2026-05-12 10:05] Bob: The council decided to paint the roof green.",
    "[2026-05-13 10:00] Ada: It was not decided who pays for the paint.",
    "[2026-05-14 10:00] Ada: Who has the key of the vault these days?",
    "[2026-05-15 10:00] Bob: Unanimously resolved: the vault is cleared in June.",
    "[2026-05-16 10:00] Cleo: Has anybody seen the long ladder?",
    "[2026-05-16 10:01] Bob: No idea, sorry.",
)


async def answered(engine: Engine, wanted: str) -> str:
    for number, text in enumerate(CHAT):
        time = datetime.fromisoformat(f"{text[1:17]}:00+00:00")
        passage = Passage(f"m{number}", text, author=text[19:22], time=time)
        key = "talk" if number < 3 else f"talk{time.day}"
        known = {document.key for document in await engine.documents.list(HERE)}
        if key in known:
            await engine.documents.amend(key, upsert=[passage])
        else:
            await engine.documents.add(doc(key, time=time).__class__(key, "here", "hall", "#hall", (passage,), time))
    return await ask(engine, overview(wanted))


async def test_offline_decisions_are_quoted_the_oldest_first(tmp_path: Path, offline: OfflineModel) -> None:
    async with open_memory_engine(tmp_path, offline) as engine:
        lines = (await answered(engine, "decisions")).splitlines()
        assert len(lines) == 2
        assert "paint the roof green" in lines[0]
        assert "[1]" in lines[0]
        assert "vault is cleared" in lines[1]


async def test_offline_only_questions_without_an_answer_are_open(tmp_path: Path, offline: OfflineModel) -> None:
    async with open_memory_engine(tmp_path, offline) as engine:
        text = await answered(engine, "questions")
        assert "long ladder" in text
        assert "key of the vault" in text
        assert "Shall we paint" not in text


async def test_offline_a_summary_quotes_and_cites(tmp_path: Path, offline: OfflineModel) -> None:
    async with open_memory_engine(tmp_path, offline) as engine:
        text = await answered(engine, "summary")
        assert "paint the roof green" in text
        assert "Shall we" not in text
        days, *lines = text.splitlines()
        assert days == "From 12 to 16 May 2026:"
        assert all(re.search(r"\[\d+\]$", line) for line in lines)


@pytest.mark.long
async def test_offline_the_days_stand_once_above_what_several_parts_gave(tmp_path: Path, offline: OfflineModel) -> None:
    async with open_memory_engine(tmp_path, offline) as engine:
        for day in range(6):
            await engine.documents.add(
                said(day, f"The council decided to buy {day + 2} boats of wood. " + "word " * 600)
            )
        text = await ask(engine, overview("summary", max_total_tokens=2000))
        assert text.startswith("From 1 to 6 May 2026:\n")
        assert text.count("May 2026:") == 1


@pytest.mark.parametrize("wanted", ["decisions", "questions", "summary"])
async def test_offline_nothing_is_said_to_be_nothing(tmp_path: Path, offline: OfflineModel, wanted: str) -> None:
    async with open_memory_engine(tmp_path, offline) as engine:
        await engine.documents.add(said(1, "Rain."))
        assert await ask(engine, overview(wanted)) == NO_HIGHLIGHTS[wanted]
