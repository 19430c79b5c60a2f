"""What is stored about a person is listed whole, without the words of others."""

from __future__ import annotations

from dataclasses import replace

from bot.store import AnswerResult, BotStore, Expert, Subject
from bot.store.access.audit_log import AuditEvent
from bot.store.schedules.sources import SourceRecord
from tests.bot.store.test_review import VERIFIED
from tests.support.builders import HALL, ROOF, make_answer
from tests.support.fake_platform import START


async def test_all_that_is_about_a_person_is_listed(store: BotStore) -> None:
    await store.answers.begin(replace(make_answer(), asker="bob", question="Who has the ladder?"))
    await store.answers.begin(replace(make_answer(), id="a2", asker="ada", question="Of somebody else."))
    await store.answers.finish("a2", AnswerResult("Dan has."))
    await store.feedback.record_reason("a2", "bob", "wrong", "Eve has it.")
    await store.answers.finish("a1", AnswerResult("Dan has."))
    await store.shared_answers.add("s1", "a1", START)
    for id_, person in (("d1", "bob"), ("d2", "ada")):
        added = str(Subject("slack", "T1", person))
        await store.sources.insert(SourceRecord(id_, id_, "feed", "https://a.example", (), "slack:T1:open", "", added))
    await store.verified_answers.save(replace(VERIFIED, id="v1", asker="ada", verifier="bob"))
    await store.verified_answers.save(replace(VERIFIED, id="v2", asker="bob", author="bob", verifier="ada"))
    await store.experts.add(Expert(ROOF, "bob", "tiles"))
    await store.experts.add(Expert(HALL, "ada", "nails"))
    await store.opt_outs.opt_out("slack", "T1", "bob")
    await store.opt_outs.opt_in("slack", "T1", "bob", START)
    await store.audit.append(AuditEvent("ask", "answered", Subject("slack", "T1", "bob"), "chat", ROOF.room))
    await store.audit.append(AuditEvent("ask", "answered", Subject("slack", "T1", "ada"), "chat", ROOF.room))
    found = await store.personal.list("slack", "T1", "bob")
    assert [character["kind"] for character in found] == [
        *("question", "vote", "shared_answer", "verified_answer", "verified_answer", "expert", "source", "opt_out"),
        "audit_entry",
    ]
    question, vote, shared, checked, own, expert, source, opt_out, entry = found
    assert (question["text"], question["channel"]) == ("Who has the ladder?", make_answer().location.room)
    assert (vote["answer"], vote["up"], vote["comment"]) == ("a2", False, "Eve has it.")
    assert (shared["id"], source["id"]) == ("s1", "d1")
    await store.sources.forget_person(Subject("slack", "T1", "bob"))
    assert [each.added_by for each in await store.sources.list_all()] == ["", "slack:T1:ada"]
    assert (checked["id"], checked["question"], checked["text"], checked["verified"]) == ("v1", "", "", True)
    assert (own["question"], own["text"]) == (VERIFIED.question, VERIFIED.text)
    assert (expert["topic"], opt_out["ended_at"], entry["number"]) == ("tiles", START.isoformat(), 1)
    assert await store.personal.list("slack", "T2", "bob") == []
