"""Below an answer of the page: votes, verifying, correcting, experts; and what others learn of its question."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from adapters.web.app import build_app
from adapters.web.pages.session import PageOptions
from bot.capabilities.access.control import AccessControl
from bot.platform.models import Message, Person
from bot.rpc.service import LocalService
from bot.server import build_deps
from bot.store import Expert, StoredAnswer, Subject
from tests.adapters.web.pages.test_pages import OWN
from tests.support.bot_fixture import BotFixture, open_bot
from tests.support.builders import ROOF
from tests.support.fake_platform import START

FERRY, NOWHERE = "When does the ferry Gudgeon leave?", "Who painted the zeppelin?"


@dataclass
class Visitors:
    """People who use the page, each with a login of their own. `message`: what the channel says of the ferry."""

    bot: BotFixture
    message: Message
    client: httpx.AsyncClient
    tokens: dict[str, str]

    def become(self, person: str) -> None:
        self.client.cookies.set("__Host-threadlore", self.tokens[person])

    async def ask(self, question: str, **more: Any) -> dict[str, Any]:
        """The last event of an answer."""
        body = {"question": question, "keep": True, **more}
        response = await self.client.post("/ask", json=body)
        found: dict[str, Any] = json.loads(response.text.splitlines()[-1])
        return found

    async def send(self, path: str, **form: str) -> httpx.Response:
        return await self.client.post(path, data=form)

    async def stored(self, id_: str) -> StoredAnswer:
        found = await self.bot.store.answers.get(id_)
        assert found is not None
        return found


@pytest.fixture
async def visitors(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitors]:
    """Ada manages; Bob and Cleo read the same open channel, of which Cleo is an expert; Dan joined a closed one."""
    async with open_bot(tmp_path_factory.mktemp("bot")) as bot:
        for name in ("ada", "bob", "cleo", "dan"):
            bot.platform.people[name] = Person(name, name.title(), is_manager=name == "ada")
        await bot.store.channels.upsert(await bot.join("ROOF", "ada", "bob", "cleo", "dan"), "roof")
        await bot.store.channels.upsert(await bot.join("ATTIC", "dan", kind="closed"), "attic")
        message = await bot.post_indexed(ROOF, "cleo", "The ferry Gudgeon leaves at noon.")
        await bot.store.experts.add(Expert(ROOF, "cleo", "ferries"))
        async with bot.run_bot() as running:
            service = LocalService(build_deps(running))
            app = build_app(service, running.clock, PageOptions("console:local", "always"))
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="https://t.example", headers=OWN) as client:
                client.headers["Origin"] = "https://t.example"
                access, tokens = AccessControl(bot.store, bot.clock), dict[str, str]()
                for name in ("ada", "bob", "cleo", "dan"):
                    given = ("ask", "read", "write", *(("manage",) if name == "ada" else ()))
                    subject = Subject("slack", "T1", name)
                    tokens[name] = (await access.create_token(name, subject, given, 1000, None))[1]
                yield Visitors(bot, message, client, tokens)


async def test_a_vote_with_its_reason_is_kept_and_counted(visitors: Visitors) -> None:
    visitors.become("bob")
    end = await visitors.ask(FERRY)
    assert 'aria-pressed="false"' in end["actions"]
    voted = (await visitors.send("/ask/rate", answer=end["answer"], helpful="false")).text
    assert ("Send" in voted, voted.count('aria-pressed="true"')) == (True, 1)
    sent = await visitors.send(
        "/ask/rate", answer=end["answer"], helpful="false", reason="outdated", comment=" It is\none o'clock. "
    )
    assert "Managers see this" in sent.text
    assert await visitors.bot.store.feedback.list_reasons([end["answer"]]) == [("outdated", "It is one o'clock.")]
    assert await visitors.bot.store.feedback.count("slack", "T1", START) == (0, 1)
    assert "Send" not in (await visitors.send("/ask/rate", answer=end["answer"], helpful="true")).text
    [day] = await visitors.bot.store.usage.list_days("slack", "T1", START.replace(hour=0, minute=0, second=0))
    assert (day.answers, day.votes_up, day.votes_down) == (1, 1, 0)


async def test_nobody_else_votes_on_it_or_learns_of_it(visitors: Visitors) -> None:
    visitors.become("bob")
    id_ = (await visitors.ask(FERRY))["answer"]
    visitors.become("cleo")
    for answer in (id_, "none"):
        refused = [
            await visitors.send("/ask/rate", answer=answer, helpful="true"),
            await visitors.client.get(f"/ask/actions?answer={answer}"),
            await visitors.send("/ask/verify", answer=answer, channel=ROOF.room),
            await visitors.send("/ask/expert", answer=answer, expert=f"{ROOF.room} cleo"),
        ]
        assert [each.status_code for each in refused] == [404, 404, 404, 404]
        assert all("Gudgeon" not in each.text for each in refused)
    assert await visitors.bot.store.feedback.count("slack", "T1", START) == (0, 0)


async def test_managers_see_a_question_without_a_result_and_not_who_asked_it(visitors: Visitors) -> None:
    for name in ("bob", "cleo", "cleo"):
        visitors.become(name)
        await visitors.ask(NOWHERE)
    await visitors.ask(FERRY)
    visitors.become("ada")
    page = (await visitors.client.get("/questions")).text
    assert ("zeppelin" in page, "3 times" in page, "Asked on this page" in page) == (True, True, True)
    assert ("Gudgeon" in page, "Bob" in page, "Cleo" in page) == (False, False, False)
    written = await visitors.send("/questions/pin", room=ROOF.room, question=NOWHERE, text="Mina did.")
    assert ("Mina did." in written.text, "Asked on this page" in written.text) == (True, False)
    visitors.become("bob")
    assert "Mina did." in (await visitors.ask(NOWHERE))["text"]


async def test_an_answer_is_verified_in_a_channel_by_whoever_may(visitors: Visitors) -> None:
    visitors.become("bob")
    mine = await visitors.ask(FERRY)
    offered = (await visitors.client.get(f"/ask/actions?answer={mine['answer']}")).text
    assert ("/ask/verify" in offered, "Cleo – ferries, in #roof" in offered) == (False, True)
    assert (await visitors.send("/ask/verify", answer=mine["answer"], channel=ROOF.room)).status_code == 403
    visitors.become("cleo")
    hers = await visitors.ask(FERRY)
    offered = (await visitors.client.get(f"/ask/actions?answer={hers['answer']}")).text
    assert ("verify it" in offered, "#roof" in offered, "#attic" in offered) == (True, True, False)
    verified = await visitors.send("/ask/verify", answer=hers["answer"], channel=ROOF.room, question=FERRY)
    assert "Verified." in verified.text
    [kept] = await visitors.bot.store.verified_answers.list_in_room(ROOF.room)
    assert (kept.question, kept.verifier, len(kept.sources)) == (FERRY, "cleo", 1)
    corrected = await visitors.send(
        "/ask/verify", answer=hers["answer"], channel=ROOF.room, question=FERRY, text="At one. [1]"
    )
    assert "Verified." in corrected.text
    visitors.become("bob")
    assert (await visitors.ask(FERRY))["text"] == "At one. [1]"


async def test_an_expert_is_asked_in_their_channel_and_only_once(visitors: Visitors) -> None:
    visitors.become("bob")
    id_ = (await visitors.ask(NOWHERE))["answer"]
    posts = visitors.bot.platform.posts
    before = len(posts)
    asked = await visitors.send("/ask/expert", answer=id_, expert=f"{ROOF.room} cleo")
    assert "asked Cleo" in asked.text
    place, card = posts[-1]
    assert (place.room, card.mentions, "zeppelin" in card.text) == (ROOF.room, ("cleo",), True)
    again = await visitors.send("/ask/expert", answer=id_, expert=f"{ROOF.room} cleo")
    assert "already been asked" in again.text
    closed = await visitors.send("/ask/expert", answer=id_, expert="slack:T1:ATTIC dan")
    assert (closed.status_code, len(posts)) == (404, before + 1)


async def test_an_answer_goes_with_its_source_and_with_what_came_before_it(visitors: Visitors) -> None:
    visitors.become("bob")
    first = await visitors.ask(FERRY)
    turns = [{"role": "user", "content": FERRY}, {"role": "assistant", "content": first["text"]}]
    second = await visitors.ask("And who painted it?", history=turns, earlier=[first["answer"]])
    follow_up = await visitors.stored(second["answer"])
    assert follow_up.location.thread == first["answer"]
    assert (await visitors.stored(first["answer"])).documents <= follow_up.shown_keys | follow_up.documents
    await visitors.bot.delete(visitors.message)
    for id_ in (first["answer"], second["answer"]):
        stored = await visitors.stored(id_)
        assert (stored.state, stored.text, stored.question) == ("redacted", "", "")
    await visitors.bot.post_indexed(ROOF, "ada", "The mill grinds at night.")
    third = await visitors.ask("And why?", history=turns, earlier=[first["answer"]])
    assert (third["answer"], third["actions"]) == ("", "")  # what the history rests on is unknown


async def test_what_a_person_asked_is_forgotten_with_them(visitors: Visitors) -> None:
    visitors.become("bob")
    id_ = (await visitors.ask(NOWHERE))["answer"]
    await visitors.bot.forget_person("bob")
    assert await visitors.bot.store.answers.get(id_) is None
