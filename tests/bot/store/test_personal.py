"""What is stored about a person is listed whole, without the words of others."""

from __future__ import annotations

from dataclasses import replace

from bot.store import BotStore, Expert, Subject
from bot.store.audit.chain import AuditEvent
from tests.bot.store.test_review import VERIFIED
from tests.support.builders import HALL, ROOF, make_answer
from tests.support.fake_platform import START


async def test_all_that_is_about_a_person_is_listed(store: BotStore) -> None:
    await store.answers.begin(replace(make_answer(), asker="bob", question="Who has the ladder?"))
    await store.answers.begin(replace(make_answer(), id="a2", asker="ada", question="Of somebody else."))
    await store.feedback.record("a2", "bob", up=False)
    await store.verified_answers.save(replace(VERIFIED, id="v1", asker="ada", verifier="bob"))
    await store.verified_answers.save(replace(VERIFIED, id="v2", asker="bob", author="bob", verifier="ada"))
    await store.experts.add(Expert(ROOF, "bob", "tiles"))
    await store.experts.add(Expert(HALL, "ada", "nails"))
    await store.opt_outs.opt_out("slack", "T1", "bob")
    await store.opt_outs.opt_in("slack", "T1", "bob", START)
    await store.audit.append(AuditEvent("ask", "answered", Subject("slack", "T1", "bob"), "chat", ROOF.room))
    await store.audit.append(AuditEvent("ask", "answered", Subject("slack", "T1", "ada"), "chat", ROOF.room))
    found = await store.personal.list("slack", "T1", "bob")
    assert [each["kind"] for each in found] == [
        *("question", "vote", "verified_answer", "verified_answer", "expert", "opt_out", "audit_entry"),
    ]
    question, vote, checked, own, expert, opt_out, entry = found
    assert (question["text"], question["channel"]) == ("Who has the ladder?", make_answer().location.room)
    assert (vote["answer"], vote["up"]) == ("a2", False)
    assert (checked["id"], checked["question"], checked["text"], checked["verified"]) == ("v1", "", "", True)
    assert (own["question"], own["text"]) == (VERIFIED.question, VERIFIED.text)
    assert (expert["topic"], opt_out["ended_at"], entry["number"]) == ("tiles", START.isoformat(), 1)
    assert await store.personal.list("slack", "T2", "bob") == []
