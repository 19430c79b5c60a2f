"""Verified answers, questions without a good answer, and experts, as both databases keep them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.store import AnswerResult, AnswerSource, BotStore, Expert, RecordedChange, VerifiedAnswer
from bot.store.models import message_key
from bot.store.review.correction_changes import KEPT
from bot.store.review.experts import DAY, HOUR, MAX_PER_ASKER, MAX_PER_EXPERT
from engine import CorrectionChange, ManualCorrection
from tests.support.builders import HALL, ROOF, make_answer
from tests.support.fake_platform import START

WINDOW = f"{ROOF.room}:window:m1"
SOURCE = AnswerSource(1, "#roof", "https://x", "Monday", WINDOW, "m1", "slack:T1:open", ROOF.room)
KEYS = frozenset({WINDOW, message_key(ROOF.room, "m1")})
VERIFIED = VerifiedAnswer(
    *("v1", replace(ROOF, thread="m2"), "m2", "When do the tiles come?", "On Monday [1].", "bob", "", "ada", START),
    sources=(SOURCE,),
    spaces=frozenset({"slack:T1:open"}),
    rooms=frozenset({ROOF.room}),
    keys=KEYS,
)


async def questions(store: BotStore) -> list[str]:
    return [id_ for id_, _, _ in await store.verified_answers.list_questions("slack", "T1")]


async def test_a_verified_answer_is_kept_until_one_of_its_sources_goes(store: BotStore) -> None:
    verified = store.verified_answers
    for number in range(3):
        newer = replace(VERIFIED, id=f"v{number}", verified_at=START + timedelta(number))
        assert await verified.save(newer)
        assert await verified.save(newer), "it replaces itself"
    assert await verified.save(replace(VERIFIED, id="v3", keys=frozenset({f"{ROOF.room}:file:f:1"})))
    assert await verified.get("v0") == replace(VERIFIED, id="v0")
    assert await questions(store) == ["v2", "v1", "v0", "v3"]
    assert not await verified.delete("v2", HALL.room)
    assert await verified.delete("v2", ROOF.room)

    await store.answers.redact([message_key(ROOF.room, "m9")], WINDOW)
    assert await questions(store) == ["v1", "v0", "v3"], "another message of the same conversation"
    await store.answers.redact([message_key(ROOF.room, "m1")], WINDOW)
    assert await questions(store) == ["v3"]
    assert await verified.get("v1") is None
    withdrawn = await verified.list_withdrawn("slack", "T1")
    assert [(answer.id, answer.question, answer.text, answer.sources, answer.keys) for answer in withdrawn] == [
        (id_, "", "", (), frozenset()) for id_ in ("v0", "v1")
    ]
    assert not await verified.save(VERIFIED), "its source was removed meanwhile"
    assert await verified.save(replace(VERIFIED, keys=frozenset()))

    assert [answer.id for answer in await verified.list_unreported()] == ["v0"]
    await verified.record_reported("v0")
    assert await verified.list_unreported() == []


async def test_verified_answers_and_experts_go_with_people_channels_and_time(store: BotStore) -> None:
    async def fill() -> None:
        for id_, facts in {"a": {"asker": "eve"}, "b": {"verifier": "eve"}, "c": {"author": "eve"}, "d": {}}.items():
            await store.verified_answers.save(replace(VERIFIED, id=id_, **facts))  # type: ignore[arg-type]
        for person in ("eve", "ada"):
            await store.experts.add(Expert(ROOF, person, "roofing"))
            await store.experts.add(Expert(ROOF, person, "roofing"))

    async def left() -> tuple[int, list[str]]:
        experts = await store.experts.list_in_workspace("slack", "T1")
        return len(await questions(store)), [expert.person for expert in experts]

    await fill()
    assert await left() == (4, ["ada", "eve"])
    await store.verified_answers.delete_by_person("slack", "T1", "eve")
    await store.experts.delete_person("slack", "T1", "eve")
    assert await left() == (1, ["ada"])
    assert not await store.experts.remove(ROOF.room, "ada", "bees")
    assert await store.experts.remove(ROOF.room, "ada")
    await fill()
    await store.verified_answers.delete_in_channel(replace(ROOF, thread="m9"))
    assert (await left())[0] == 4
    await store.verified_answers.delete_in_channel(ROOF)
    await store.experts.delete_in_channel(ROOF.room)
    assert await left() == (0, [])
    await fill()
    await store.verified_answers.delete_before(START.timestamp())
    assert (await left())[0] == 4
    await store.verified_answers.delete_before(START.timestamp() + 1)
    assert (await left())[0] == 0
    await fill()
    await store.delete_workspace("slack", "T1")
    assert await left() == (0, [])


async def test_an_expert_is_asked_once_about_an_answer_and_not_too_often(store: BotStore) -> None:
    experts, expert, now = store.experts, Expert(ROOF, "ada", "roofing"), START.timestamp()
    assert await experts.begin_request("a0", expert, "bob", now) == ""
    assert await experts.begin_request("a0", expert, "eve", now) == "repeated"
    await experts.cancel_request("a0", "ada")
    for number in range(MAX_PER_ASKER):
        assert await experts.begin_request(f"a{number}", expert, "bob", now) == ""
    assert await experts.begin_request("a9", expert, "bob", now + HOUR - 1) == "asker"
    assert await experts.begin_request("a9", replace(expert, person="eve"), "bob", now + HOUR) == ""
    for number in range(MAX_PER_ASKER, MAX_PER_EXPERT):
        assert await experts.begin_request(f"a{number}", expert, f"p{number}", now) == ""
    assert await experts.begin_request("b1", expert, "p0", now + HOUR) == "expert"
    assert await experts.begin_request("b1", expert, "p0", now + DAY) == ""


async def ask(store: BotStore, id_: str, result: AnswerResult | None, **facts: Any) -> None:
    await store.answers.begin(make_answer(id_, **facts))
    if result:
        await store.answers.finish(id_, result)


async def test_questions_without_a_good_answer_are_listed_for_all_to_whom_they_were_public(store: BotStore) -> None:
    nothing, something = AnswerResult("I found nothing."), AnswerResult("On Monday [1].", (SOURCE,))
    await ask(store, "nothing", nothing, message_id="m7")
    await ask(store, "good", something, time=START + timedelta(1))
    await ask(store, "bad", something, time=START + timedelta(2), asker="bob")
    await ask(store, "private", nothing, private=True)
    await ask(store, "opted out", nothing, asker="eve")
    await ask(store, "old", nothing, time=START - timedelta(1))
    await ask(store, "elsewhere", nothing, location=replace(ROOF, workspace="T2"))
    await ask(store, "begun", None)
    await store.feedback.record("bad", "ada", False)
    await store.feedback.record("good", "ada", True)
    await store.opt_outs.opt_out("slack", "T1", "eve")
    found = await store.unanswered.list_since("slack", "T1", START, 10)
    assert [(question.answer, question.asker, question.votes_down, question.message_id) for question in found] == [
        ("bad", "bob", 1, ""),
        ("nothing", "ada", 0, "m7"),
    ]
    assert len(await store.unanswered.list_since("slack", "T1", START, 1)) == 1


async def test_what_a_correction_changed_is_kept_for_some_days_and_goes_with_its_workspace(store: BotStore) -> None:
    changes, made = store.correction_changes, ManualCorrection("merge", "slack:T1:open", "Mino", "Mina", "")
    old, new = (RecordedChange(id_, "slack:T1:open", CorrectionChange((made,))) for id_ in ("old", "new"))
    await changes.add(old, START)
    assert await changes.get("old") == old
    await changes.add(new, START + KEPT + timedelta(seconds=1))
    assert [await changes.get(name) for name in ("old", "new", "none")] == [None, new, None]
    await store.delete_workspace("slack", "T1")
    assert await changes.get("new") is None
