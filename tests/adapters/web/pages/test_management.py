"""Pages of managers: forms do what commands do, foreign words are text, and others see none of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date

import httpx
import pytest

from adapters.web.app import build_app
from adapters.web.pages.management.health import format_duration
from adapters.web.pages.management.plain_words import to_plain_lines
from adapters.web.pages.management.usage import CHART_HEIGHT, CHART_WIDTH, add_up, build_bars, format_cost
from adapters.web.pages.session import PageOptions
from bot.capabilities.access.control import AccessControl
from bot.capabilities.management.results import DayUsage
from bot.platform.models import Person
from bot.rpc.service import LocalService
from bot.server import build_deps
from bot.store import AnswerResult, Subject
from tests.adapters.web.pages.test_pages import MANAGER_PAGES, OWN
from tests.support.bot_fixture import BotFixture, open_bot
from tests.support.builders import ROOF, make_answer

HOSTILE = "Who has <b>the</b> key {{7*7}}?"


@pytest.fixture
async def bot(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BotFixture]:
    """A bot that runs; Ada manages, Bob does not, and one question found nothing."""
    async with open_bot(tmp_path_factory.mktemp("bot")) as bot:
        people = (Person("ada", "Ada", is_manager=True), Person("bob", "Bob"))
        bot.platform.people |= {person.id: person for person in people}
        bot.platform.add_channel("ROOF", "ada", "bob")
        await bot.store.channels.upsert(ROOF, "roof")
        asked = make_answer("a1", asker="bob", question=HOSTILE, message_id="q1", time=bot.clock.now())
        await bot.store.answers.begin(asked)
        await bot.store.answers.finish("a1", AnswerResult("I found nothing."))
        yield bot


@pytest.fixture
async def browser(bot: BotFixture) -> AsyncIterator[httpx.AsyncClient]:
    async with bot.run_bot() as running:
        context = replace(bot.context.engine_context, owner_space="console:local")
        service = LocalService(replace(build_deps(running), context=context))
        app = build_app(service, running.clock, PageOptions("console:local", "auto"))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="https://t.example", headers=OWN) as client:
            client.headers["Origin"] = "https://t.example"
            for person in ("bob", "ada"):
                made = await AccessControl(bot.store, bot.clock).create_token(
                    "t", Subject("slack", "T1", person), ("read", "write", "manage"), 1000, None
                )
                client.headers[f"X-{person}"] = made[1]
            client.cookies.set("__Host-threadlore", client.headers["X-ada"])
            yield client


async def test_a_manager_sees_every_page(browser: httpx.AsyncClient) -> None:
    for path in MANAGER_PAGES:
        page = await browser.get(path.replace("slack:T1:C1", ROOF.room))
        assert page.status_code == 200, path
        assert " style=" not in page.text
    assert "#roof" in (await browser.get("/channels")).text


async def test_somebody_else_sees_and_changes_nothing(browser: httpx.AsyncClient, bot: BotFixture) -> None:
    browser.cookies.set("__Host-threadlore", browser.headers["X-bob"])
    for path in MANAGER_PAGES:
        page = await browser.get(path.replace("slack:T1:C1", ROOF.room))
        assert (page.status_code, "roof" in page.text, "key" in page.text) == (403, False, False), path
    posts = (
        (f"/channels/{ROOF.room}", {"style": "short"}),
        ("/questions/verify", {"answer": "a1", "text": "Eve."}),
        ("/questions/pin", {"room": ROOF.room, "question": "Who has the key?", "text": "Eve."}),
        ("/questions/remove", {"room": ROOF.room, "answer": "v"}),
    )
    for path, data in posts:
        assert (await browser.post(path, data=data)).status_code == 403
    assert await bot.store.channel_settings.get(ROOF.room) is None
    assert await bot.store.verified_answers.list_in_room(ROOF.room) == []


async def test_a_form_changes_settings_and_says_so(browser: httpx.AsyncClient, bot: BotFixture) -> None:
    changed = await browser.post(f"/channels/{ROOF.room}", data={"style": "<i>short</i>", "mode": "local"})
    assert "mode is now local in this channel." in changed.text
    assert "<i>" not in changed.text
    kept = await bot.store.channel_settings.get(ROOF.room)
    assert kept is not None
    assert (kept.style, kept.mode) == ("<i>short</i>", "local")
    refused = await browser.post(f"/channels/{ROOF.room}", data={"mode": "wild"}, headers={"HX-Request": "true"})
    assert (refused.status_code, "notice problem" in refused.text) == (422, True)


async def test_the_history_of_a_channel_is_read_and_a_person_forgotten(
    browser: httpx.AsyncClient, bot: BotFixture
) -> None:
    await bot.store.channels.record_announced(ROOF.room)
    assert "Read the history" in (await browser.get(f"/channels/{ROOF.room}")).text
    started = await browser.post(f"/channels/{ROOF.room}/backfill", data={"days": "3"})
    assert "the last 3 days of this channel" in started.text
    assert (await browser.post(f"/channels/{ROOF.room}/backfill", data={"days": "0"})).status_code == 422
    assert "Forget me" in (await browser.get("/documents")).text
    stored = await browser.get("/documents/my-data")
    assert (stored.status_code, "What is stored about you" in stored.text) == (200, True)
    file = await browser.get("/documents/my-data.jsonl")
    assert 'filename="my-data.jsonl"' in file.headers["content-disposition"]
    assert '"kind": "audit_entry"' in file.text
    assert "It cannot be undone." in (await browser.get("/documents/forget-me")).text
    assert "is forgotten" in (await browser.post("/documents/forget-me")).text
    assert await bot.store.opt_outs.is_opted_out("slack", "T1", "ada")
    await browser.post("/documents/remember-me")
    assert not await bot.store.opt_outs.is_opted_out("slack", "T1", "ada")


async def test_a_question_is_answered_corrected_and_forgotten(browser: httpx.AsyncClient) -> None:
    page = (await browser.get("/questions")).text
    assert "Who has &lt;b&gt;the&lt;/b&gt; key {{7*7}}?" in page
    assert 'Verified answers <span class="badge">0</span>' in page
    answered = await browser.post("/questions/verify", data={"answer": "a1", "text": "Eve has it."})
    assert ("No open questions" in answered.text, "Eve has it." in answered.text) == (True, True)
    corrected = await browser.post(
        "/questions/pin", data={"room": ROOF.room, "question": HOSTILE, "text": "Bob has it."}
    )
    assert ("Eve has it." in corrected.text, "Bob has it." in corrected.text) == (False, True)
    id_ = corrected.text.rpartition('name="answer" value="')[2].partition('"')[0]
    removed = await browser.post("/questions/remove", data={"room": ROOF.room, "answer": id_})
    assert "Nothing is verified yet" in removed.text


async def test_everybody_is_told_what_they_can_do_without_documents_or_channels(browser: httpx.AsyncClient) -> None:
    own = (await browser.get("/documents")).text
    assert ("invite the bot to a channel that you can read" in own, "threadlore ingest" in own) == (True, False)
    browser.cookies.clear()
    local = {"Host": "localhost", "Origin": "http://localhost"}
    page = await browser.get("/channels", headers=local)
    assert "threadlore token create" in page.text
    assert "roof" not in page.text
    assert "threadlore ingest" in (await browser.get("/documents", headers=local)).text
    assert "Events that wait" in (await browser.get("/health", headers=local)).text


def test_bars_fill_the_picture_and_small_ones_stay_visible() -> None:
    bars = build_bars([0.0, 0.001, 4.0], ["a", "b", "c"])
    assert [bar.height for bar in bars] == [0.0, 1.5, CHART_HEIGHT]
    assert bars[-1].x + bars[-1].width <= CHART_WIDTH
    assert build_bars([0.0], ["a"])[0].height == 0.0
    assert build_bars([1.0], ["a"], 4.0)[0].height == CHART_HEIGHT / 4


@pytest.mark.parametrize(("cost", "shown"), [(0.0, "$0.00"), (0.0012, "$0.0012"), (1234.5, "$1,234.50")])
def test_costs_have_the_digits_that_they_need(cost: float, shown: str) -> None:
    assert format_cost(cost) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(None, "none"), (3.4, "3 s"), (60, "1 minute"), (7300, "2 hours"), (200_000, "2 days")]
)
def test_durations_are_in_their_largest_unit(seconds: float | None, shown: str) -> None:
    assert format_duration(seconds) == shown


def test_sums_and_plain_words() -> None:
    day = date(2026, 11, 23)
    assert add_up([DayUsage(day, 1, 2, 0.5, 1, 0, 7, 0.5), DayUsage(day, 1, 3, 0.25, 0, 2)]) == DayUsage(
        day, 2, 5, 0.75, 1, 2, 7, 0.5
    )
    assert to_plain_lines("`mode` is **local** \\*now\\*.\n\nDone.") == ["mode is local *now*.", "Done."]


async def test_the_page_says_that_nobody_on_this_machine_needs_a_login(browser: httpx.AsyncClient) -> None:
    assert "THREADLORE_WEB_LOGIN=always" in (await browser.get("/health")).text
