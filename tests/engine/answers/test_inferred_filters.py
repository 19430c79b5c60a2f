"""Filters that a model proposes: only those that the question says and the scope knows narrow a search."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from engine.answers.query_rewriter import infer_filters, parse_days, stands_in
from engine.engine import Engine
from engine.errors import ModelUnavailable
from engine.llm.base import RewriteRequest
from engine.llm.formats.proposed_filters import parse_filtered_query
from engine.models import (
    Document,
    FilterLookup,
    Filters,
    InferredFilters,
    Passage,
    ProposedFilters,
    Question,
    Scope,
    SearchQuery,
)
from engine.usage import UsageMeter
from tests.support.clock import MONDAY_NOON, ManualClock
from tests.support.engine_fixture import HERE
from tests.support.indexed_engine import OpenIndexed
from tests.support.scripted_language import ScriptedLanguage

CASES = [
    json.loads(line) for line in Path(__file__).with_name("filter_questions.jsonl").read_text("utf-8").splitlines()
]
ROOMS = {"building": "r:building", "roof": "r:roof", "café": "r:café", "屋根": "r:屋根", "board": "r:board"}
SECRET = "r:board"  # the only room in another space
ZONE = ZoneInfo("America/Los_Angeles")
LATE_SUNDAY = datetime(2026, 3, 2, 7, 59, tzinfo=UTC)  # in the zone; it is Monday elsewhere


async def find_rooms(name: str) -> frozenset[str]:
    return frozenset({ROOMS[name]} if name in ROOMS else ())


LOOKUP = FilterLookup(find_rooms)


def conversation(room: str, *lines: tuple[str, str], space: str = "here") -> Document:
    passages = tuple(
        Passage(f"p{number}", text, author=author, time=datetime(2024, 3 + number, 1, tzinfo=UTC), position=number)
        for number, (author, text) in enumerate(lines)
    )
    return Document(f"{room}:talk", space, room, room, passages, kind="conversation")


TALKS = (
    conversation(
        "r:building",
        ("Ada Lovelace", "The Roof needs Slates."),
        ("Bob Stone", "The Roof waits for Tiles."),
        ("Zoë Müller", "The Crane comes."),
    ),
    conversation("r:roof", ("Ada Lovelace", "The Roof leaks at Noon."), ("Bob Marsh", "The Roof is red.")),
    conversation("r:café", ("陳偉", "The Roof is a Terrace.")),
    conversation("r:屋根", ("佐藤", "The Roof is new.")),
    conversation(SECRET, ("Eve Hale", "The Roof is sold."), space="there"),
    Document("plan", "here", "r:building", "Plan", (Passage("1", "The Roof has a Plan."),)),
)


class ProposingLanguage(ScriptedLanguage):
    """Proposes the same filters for every question."""

    def __init__(self, proposed: ProposedFilters | None = None) -> None:
        super().__init__("So.")
        self.proposed = proposed
        self.requests: list[RewriteRequest] = []

    async def rewrite_query_with_filters(self, request: RewriteRequest, meter: UsageMeter) -> SearchQuery:
        self.requests.append(request)
        query = await self.rewrite_query(request.text, request.history, meter, today=request.today)
        return replace(query, proposed=self.proposed)


def ask(text: str, filters: Filters | None = None, scope: Scope = HERE) -> Question:
    return Question(text, scope, filters=filters or Filters(), filter_lookup=LOOKUP, zone=ZONE)


def describe(inferred: InferredFilters | None) -> str:
    """The filters in one line, as in the file of cases."""
    if inferred is None:
        return ""
    tokens = [f"in:{channel}" for channel in inferred.channels] + [f"from:{author}" for author in inferred.authors]
    tokens += [f"since:{inferred.since}"] if inferred.since else []
    tokens += [f"until:{inferred.until}"] if inferred.until else []
    return " ".join([*tokens, *(["has:file"] if inferred.only_files else [])])


async def test_only_what_a_question_says_and_the_scope_knows_becomes_a_filter(indexed: OpenIndexed) -> None:
    engine = await indexed(*TALKS)
    wrong = []
    for case in CASES:
        proposed = parse_filtered_query(case["reply"], case["question"]).proposed
        found = proposed and await infer_filters(engine._ledger, ask(case["question"]), proposed, MONDAY_NOON)
        if (seen := describe(found[1] if found else None)) != case["filters"]:
            wrong.append((case["question"], seen, case["filters"]))
    assert wrong == []
    assert [sum(bool(case["filters"]) for case in CASES), len(CASES)] == [40, 75]


async def test_a_filter_that_was_given_wins(indexed: OpenIndexed) -> None:
    engine = await indexed(*TALKS)
    question = "What did Ada say in #building in April 2024, in a file?"
    proposed = ProposedFilters(("#building",), ("Ada",), "2024-04-01", "2024-04-30", "April 2024", "in a file")
    since = datetime(2024, 1, 1, tzinfo=UTC)
    for given, rest in (
        (Filters(rooms=frozenset({"r:roof"})), "from:Ada Lovelace since:2024-04-01 until:2024-04-30 has:file"),
        (Filters(authors=frozenset({"Bob Stone"})), "in:building since:2024-04-01 until:2024-04-30 has:file"),
        (Filters(since=since), "in:building from:Ada Lovelace has:file"),
        (Filters(kinds=frozenset({"conversation"})), "in:building from:Ada Lovelace since:2024-04-01 until:2024-04-30"),
        (Filters(documents=frozenset({"plan"})), "since:2024-04-01 until:2024-04-30"),
    ):
        found = await infer_filters(engine._ledger, ask(question, given), proposed, MONDAY_NOON)
        assert found is not None
        assert describe(found[1]) == rest
        kept = {name for name in Filters.__slots__ if getattr(given, name)}
        assert all(getattr(found[0], name) == getattr(given, name) for name in kept)


def test_days_begin_at_midnight_where_the_asker_is_and_must_be_possible() -> None:
    today = date(2024, 6, 10)

    def days(since: str, until: str, words: str = "spring") -> tuple[date | None, date | None]:
        return parse_days(ProposedFilters(since=since, until=until, date_words=words), "In the Spring?", today)

    assert days("2024-03-01", "2024-05-31") == (date(2024, 3, 1), date(2024, 5, 31))
    assert days("2024-03-01", "2024-12-31") == (date(2024, 3, 1), None)
    assert days("", "2024-05-31") == (None, date(2024, 5, 31))
    wrong = [("2024-06-11", ""), ("2024-05-01", "2024-03-01"), ("2024-13-01", ""), ("1969-12-31", ""), ("spring", "")]
    wrong += [
        ("2024-03-01", "soon"),
        ("20240301", ""),
        ("2024-03-01T00:00", ""),
        ("2024-W10-1", ""),
        ("", "0001-01-01"),
    ]
    assert {days(*each) for each in wrong} == {(None, None)}
    assert days("2024-03-01", "", words="winter") == days("2024-03-01", "", words="") == (None, None)


def test_words_stand_in_a_text_as_wholes() -> None:
    assert stands_in("ADA", "what did ada's brother say?")
    assert stands_in("Zoe\u0308", "Has Zoë written?")
    assert stands_in("佐藤", "佐藤さんは何と言いましたか")
    assert not any(stands_in(words, "what did Adam say?") for words in ("Ada", "", "?", "what did adam say " * 9))


@pytest.fixture
async def town(indexed: OpenIndexed) -> tuple[Engine, ProposingLanguage]:
    language = ProposingLanguage(ProposedFilters(channels=("building",), authors=("Ada",)))
    return await indexed(*TALKS, language=language, clock=ManualClock(LATE_SUNDAY)), language


async def test_a_search_is_narrowed_with_the_one_call_that_finds_keywords(
    town: tuple[Engine, ProposingLanguage],
) -> None:
    engine, language = town
    context = await engine.retrieve(ask("What did Ada say about the Roof in building?"))
    assert [source.text for source in context.sources] == ["The Roof needs Slates."]
    assert context.inferred == InferredFilters(("building",), ("Ada Lovelace",))
    assert (language.calls["condense"], language.requests[0].today) == (1, date(2026, 3, 1))
    assert "condense" in context.timings
    plain = await engine.retrieve(replace(ask("What did Ada say about the Roof in building?"), filter_lookup=None))
    assert (len(plain.sources) > 1, plain.inferred, len(language.requests)) == (True, None, 1)


async def test_where_nothing_matches_everything_is_searched(town: tuple[Engine, ProposingLanguage]) -> None:
    engine, language = town
    question = "What did Zoë say about the Roof in a file?"
    language.proposed = ProposedFilters(authors=("Zoë",), file_words="in a file")
    context = await engine.retrieve(ask(question))
    assert context.inferred == InferredFilters((), ("Zoë Müller",), only_files=True, found=False)
    bare = await engine.retrieve(replace(ask(question), filter_lookup=None))
    assert {source.text for source in context.sources} == {source.text for source in bare.sources} != set()


async def test_a_proposal_widens_nothing(town: tuple[Engine, ProposingLanguage]) -> None:
    engine, language = town
    for proposed in (
        ProposedFilters(channels=("board",)),
        ProposedFilters(authors=("Eve",)),
        ProposedFilters(channels=("board", "building"), authors=("Eve", "Ada")),
    ):
        language.proposed = proposed
        question = f"What did Eve and Ada say in board and building? {len(language.requests)}"
        context = await engine.retrieve(ask(question))
        assert context.inferred is None
        assert {source.space for source in context.sources} == {"here"}
    only_roof = Scope(frozenset(), frozenset({"r:roof"}))
    language.proposed = ProposedFilters(channels=("building",))
    context = await engine.retrieve(ask("What of the Roof in building?", scope=only_roof))
    assert (context.inferred, {source.room for source in context.sources}) == (None, {"r:roof"})


async def test_a_model_that_fails_proposes_nothing_and_a_slow_one_ends_with_its_question(
    town: tuple[Engine, ProposingLanguage],
) -> None:
    engine, language = town
    language.failing["condense", ""] = ModelUnavailable("away")
    context = await engine.retrieve(ask("What did Ada say?"))
    assert (context.inferred, context.failed_helpers) == (None, ("rewriting",))
    language.failing.clear()
    language.condense_gate.clear()
    slow = asyncio.create_task(engine.retrieve(ask("What did Ada say now?")))
    await language.wait_for_calls("condense", 2)
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
