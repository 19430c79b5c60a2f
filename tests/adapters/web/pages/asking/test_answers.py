"""Below an answer of the page: votes, verifying, correcting, experts; and what others learn of its question."""

from __future__ import annotations

import pytest

from bot.commands.context import PersonAtPlace
from bot.commands.management import answers
from bot.commands.management.manager import Manager
from bot.store import PERMISSIONS, Subject
from tests.adapters.web.pages.asking.conftest import Visitors
from tests.support.builders import ROOF
from tests.support.fake_platform import START

FERRY, NOWHERE = "When does the ferry Gudgeon leave?", "Who painted the zeppelin?"


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


async def test_what_a_model_is_asked_alone_is_kept_and_seen_by_no_manager(visitors: Visitors) -> None:
    visitors.become("bob")
    end = await visitors.ask("Write a letter about the zeppelin.", mode="bypass")
    assert ("/ask/rate" in end["actions"], "Managers now" in end["actions"]) == (True, False)
    assert "/ask/share" not in end["actions"]
    assert (await visitors.send("/ask/share", answer=end["answer"])).status_code == 422
    await visitors.send("/ask/rate", answer=end["answer"], helpful="false")
    turns = [{"role": "user", "content": "A letter."}, {"role": "assistant", "content": end["text"]}]
    follow_up = await visitors.ask("Who painted the airship?", history=turns, earlier=[end["answer"]])
    assert "Managers now" in follow_up["actions"]
    visitors.become("ada")
    page = (await visitors.client.get("/questions")).text
    assert ("zeppelin" in page, "airship" in page) == (False, True)


async def test_a_space_has_a_page_of_its_questions_and_no_managers(visitors: Visitors) -> None:
    await visitors.become_subject(Subject(space="console:local"), PERMISSIONS)
    await visitors.bot.engine.documents.add_text("note.md", "The ferry Gudgeon leaves at noon.", space="console:local")
    actions = (await visitors.ask(f"{NOWHERE} before:1999-01-01"))["actions"]
    assert ("on the page Questions" in actions, "Managers" in actions) == (True, False)
    assert "zeppelin" in (await visitors.client.get("/questions")).text


async def test_channels_are_looked_up_until_there_are_enough(
    visitors: Visitors, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, open_channel = list[str](), Manager.open_channel

    async def count(manager: Manager, room: str) -> PersonAtPlace:
        opened.append(room)
        return await open_channel(manager, room)

    monkeypatch.setattr(Manager, "open_channel", count)
    monkeypatch.setattr(answers, "MAX_PLACES", 2)
    monkeypatch.setattr(answers, "MAX_EXPERTS", 0)
    for name in ("A1", "A2", "A3", "A4"):
        await visitors.bot.store.channels.upsert(await visitors.bot.join(name, "ada"), name.lower())
    visitors.become("ada")
    id_ = (await visitors.ask(NOWHERE))["answer"]
    assert (await visitors.client.get(f"/ask/actions?answer={id_}")).text.count('value="slack:T1:') == 2
    assert len(opened) == 2


async def test_only_who_may_improve_an_answer_is_offered_to(
    visitors: Visitors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MAX_EXPERTS", 0)
    for person, is_offered in (("bob", False), ("cleo", True)):
        visitors.become(person)
        id_ = (await visitors.ask(FERRY))["answer"]
        offered = (await visitors.client.get(f"/ask/actions?answer={id_}")).text
        assert ("Improve this answer" in offered) is is_offered


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


async def test_an_expert_is_asked_only_where_the_person_may_post(visitors: Visitors) -> None:
    visitors.become("bob")
    id_ = (await visitors.ask(NOWHERE))["answer"]
    visitors.bot.change_channel(ROOF, members=frozenset({"ada", "cleo"}))
    visitors.running.context.audience.invalidate(ROOF)
    posts = len(visitors.bot.platform.posts)
    assert "Cleo – ferries" not in (await visitors.client.get(f"/ask/actions?answer={id_}")).text
    refused = await visitors.send("/ask/expert", answer=id_, expert=f"{ROOF.room} cleo")
    assert (refused.status_code, len(visitors.bot.platform.posts)) == (403, posts)


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


async def test_an_answer_is_shown_only_while_its_asker_reads_what_it_rests_on(visitors: Visitors) -> None:
    await visitors.bot.post_indexed(visitors.attic, "dan", "Perla bought the barge Zander.")
    visitors.become("dan")
    id_ = (await visitors.ask("Who bought the barge Zander?"))["answer"]
    await visitors.send("/ask/rate", answer=id_, helpful="false", reason="wrong", comment="It was her sister.")
    assert (await visitors.client.get(f"/ask/actions?answer={id_}")).status_code == 200
    visitors.become("ada")
    page = (await visitors.client.get("/questions")).text
    assert ("Zander" in page, "sister" in page) == (False, False), "a manager who is not in the closed channel"
    visitors.bot.change_channel(visitors.attic, members=frozenset({"ada"}))
    visitors.running.context.audience.invalidate(visitors.attic)
    page = (await visitors.client.get("/questions")).text
    assert ("Zander" in page, "sister" in page) == (True, True)
    visitors.become("dan")
    left = await visitors.client.get(f"/ask/actions?answer={id_}")
    assert (left.status_code, "Perla" in left.text) == (404, False)
