"""A summary covers what it is asked for, in the words of the chat."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.capabilities.documents.lookup import LOCAL_SPACE
from bot.capabilities.documents.requests import Summarize
from bot.capabilities.results import AnswerEnd
from bot.context import EngineContext
from engine.errors import NotFound
from engine.models import Document, Passage
from tests.bot.capabilities.conftest import last, run

MONDAY, FRIDAY = datetime(2026, 5, 4, 9, tzinfo=UTC), datetime(2026, 5, 8, 9, tzinfo=UTC)


@pytest.fixture
async def context(engine_context: EngineContext) -> EngineContext:
    for space, room, time in ((LOCAL_SPACE, "roof", MONDAY), (LOCAL_SPACE, "pier", FRIDAY), ("vault", "vault", FRIDAY)):
        passages = tuple(
            Passage(str(number), f"Ada: We decided about the {room}, part {number}.", time=time) for number in range(3)
        )
        document = Document(f"chat:{room}", space, f"{space}:{room}", room, passages, time, kind="conversation")
        await engine_context.engine.documents.add(document)
    await engine_context.engine.wait_until_indexed()
    return engine_context


@pytest.mark.parametrize(
    ("request_", "rooms"),
    [
        (Summarize(), {"roof", "pier"}),
        (Summarize(overview="digest"), {"roof", "pier"}),
        (Summarize(since=FRIDAY), {"pier"}),
        (Summarize(until=MONDAY), {"roof"}),
        (Summarize("#roof"), {"roof"}),
        (Summarize(f"{LOCAL_SPACE}:pier"), {"pier"}),
        (Summarize(document="chat:roof"), {"roof"}),
    ],
    ids=lambda each: str(sorted(each) if isinstance(each, set) else each)[-40:],
)
async def test_a_summary_has_sources_of_what_it_is_about(
    context: EngineContext, request_: Summarize, rooms: set[str]
) -> None:
    sources = last(await run(context, request_), AnswerEnd).sources
    assert {source.room.rpartition(":")[2] for source in sources} == rooms


@pytest.mark.parametrize("asked", [Summarize("vault"), Summarize(document="chat:vault")])
async def test_what_is_out_of_scope_does_not_exist(context: EngineContext, asked: Summarize) -> None:
    with pytest.raises(NotFound):
        await run(context, asked)
