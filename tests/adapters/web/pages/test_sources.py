"""The page of sources: who finds how much is said first, a source is paused and resumed, and what goes is said."""

from __future__ import annotations

import re

import httpx
import pytest

from adapters.web.pages.management.sources import describe_cost
from bot.capabilities.results import EstimateResult
from bot.ingest.sources.places import describe_progress
from bot.ingest.sources.sync import SyncProgress
from bot.store.schedules.sources import SourceRecord
from tests.adapters.web.pages.test_management import bot, browser  # noqa: F401  - fixtures
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF


@pytest.fixture
async def manual(bot: BotFixture) -> SourceRecord:  # noqa: F811  - the fixture
    await bot.store.channels.record_announced(ROOF.room)
    space = await bot.context.audience.get_home_space(ROOF)
    record = SourceRecord("s1", "manual", "website", "https://w.example/", (), space, ROOF.room, due_at=1e10)
    await bot.store.sources.insert(record)
    return record


async def test_a_manager_pauses_resumes_and_removes_a_source(
    browser: httpx.AsyncClient,  # noqa: F811  - the fixture
    bot: BotFixture,  # noqa: F811  - the fixture
    manual: SourceRecord,
) -> None:
    page = await browser.get("/sources")
    assert "manual" in page.text
    assert "#roof" in page.text
    paused = await browser.post("/sources/manual/pause", data={"paused": "true"})
    assert "Paused" in paused.text
    await bot.store.sources.record_failure(manual.id, "It is away.", 5.0)
    assert await bot.store.sources.list_due(1e10) == []  # whatever a synchronization on demand ends with
    resumed = await browser.post("/sources/manual/pause", data={"paused": "false"})
    assert "Waiting to be read" in resumed.text
    assert "All of it was read." in (await browser.get("/sources/manual/unread")).text
    said = await browser.post("/sources/manual/remove")
    assert "This removes the source manual and forgets what was read of it: 0 documents." in said.text
    assert "No sources" in (await browser.post("/sources/manual/remove", data={"confirmed": "true"})).text


async def test_only_the_operator_decides_what_can_be_added_and_others_see_no_source(
    browser: httpx.AsyncClient,  # noqa: F811  - the fixture
    manual: SourceRecord,
) -> None:
    refused = await browser.post("/sources", data={"address": "/etc", "channel": ROOF.room})
    assert (refused.status_code, "Only the operator" in refused.text) == (403, True)
    browser.cookies.set("__Host-threadlore", browser.headers["X-bob"])
    assert manual.name not in re.sub(r"<script.*", "", (await browser.get("/sources")).text)


def test_costs_and_progress_are_said_in_words() -> None:
    estimate = EstimateResult(42, 0, 1000, model="openai/m", tokens=12_345, seconds=100.0, dollars=None)
    assert describe_cost(estimate) == "openai/m takes about 12,000 tokens (price unknown) and 2 minutes to read it."
    assert describe_cost(EstimateResult(1, 0, 10)) == "No model reads it, so that costs nothing."
    assert describe_progress("file", SyncProgress(3, 42), 9.0) == "reading 3 of 42 files, about 2 minutes"
    assert describe_progress("file", SyncProgress(0, 42), 9.0) == "reading 0 of 42 files"
