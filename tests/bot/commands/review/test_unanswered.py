"""Questions without a good answer: grouped, with who asked, and only what the caller may see."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot import texts
from bot.errors import NotAllowed
from bot.store import AnswerResult, AnswerSource
from tests.bot.commands.conftest import ATTIC, NOW, Workspace
from tests.support.builders import ROOF, make_answer

SOURCE = AnswerSource(1, "#roof", "https://x", "Monday", f"{ROOF.room}:file:f:1", "1", "slack:T1:open", ROOF.room)


async def ask(workspace: Workspace, id_: str, question: str, asker: str = "bob", **facts: object) -> None:
    """A question that found nothing."""
    store = workspace.context.store.answers
    await store.begin(make_answer(id_, asker=asker, question=question, message_id=f"q{id_}", time=NOW, **facts))
    await store.finish(id_, AnswerResult("I found nothing."))


async def test_reports_and_contradictions_are_no_questions(workspace: Workspace) -> None:
    for id_ in ("report-1", "contradiction-1"):
        await ask(workspace, id_, "Weekly report")
    assert "no unanswered question" in await workspace.text("ada", "unanswered")


async def test_they_are_grouped_with_their_number_and_askers(workspace: Workspace) -> None:
    assert "no unanswered question" in await workspace.text("ada", "unanswered")
    for number, asker in enumerate(("bob", "bob", "eve")):
        await ask(workspace, f"a{number}", "<@BOT> When do the *tiles* for the roof come?", asker)
    await ask(workspace, "a3", "Who has the key to the yard?", "nobody")
    await workspace.answer("a4", SOURCE, question="What does it cost?", time=NOW)
    hostile = "Wrong <!channel> @everyone [here](https://evil.example)"
    await workspace.context.store.feedback.record_reason("a4", "eve", "outdated", hostile)
    text = await workspace.text("ada", "unanswered")
    link = "https://chat.example/T1/ROOF/qa2"
    assert rf"- [When do the \*tiles\* for the roof come?]({link}) – 3 times: Bob (2), Eve" in text
    assert "Who has the key to the yard?" in text
    assert "somebody" in text
    assert "What does it cost? – 1 time, 1 vote down: Bob\n  - It is outdated: “Wrong" in text
    assert not {"<!channel>", "@everyone"} & set(text.split())
    assert "](https://evil" not in text
    await workspace.text("ada", 'pin "When do the tiles for the roof come?" "On Friday."')
    assert "tiles for the roof" not in await workspace.text("ada", "unanswered")


async def test_only_managers_see_them(workspace: Workspace) -> None:
    for person in ("bob", "gus", "eve"):
        with pytest.raises(NotAllowed):
            await workspace.text(person, "unanswered")


async def test_in_direct_messages_they_are_for_managers_alone(workspace: Workspace) -> None:
    await ask(workspace, "a1", "Where is the key to the safe?", "bob", private=True, location=replace(ROOF, channel=""))
    for person in ("gus", "eve"):
        direct = workspace.platform.add_channel(f"D{person}", person, kind="direct")
        with pytest.raises(NotAllowed):
            await workspace.text(person, "unanswered", direct)
    direct = workspace.platform.add_channel("Dada", "ada", kind="direct")
    assert "key to the safe" in await workspace.text("ada", "unanswered", direct)


async def test_closed_channels_private_questions_and_people_who_opted_out_stay_out(workspace: Workspace) -> None:
    await ask(workspace, "a1", "Where is the chest of gold?", location=ATTIC)
    await ask(workspace, "a2", "What do I earn here?", private=True)
    await ask(workspace, "a3", "Where is the boss tonight?", location=replace(ROOF, channel="DBOB"))
    await ask(workspace, "a4", "Is the roof safe?", "eve")
    await workspace.bot.forget_person("eve")
    await ask(workspace, "a5", "Is the roof really safe?", "eve")
    assert "no unanswered question" in await workspace.text("ada", "unanswered")
    assert "chest of gold" in await workspace.text("ada", "unanswered", ATTIC)
    workspace.platform.people["max"] = replace(workspace.platform.people["ada"], id="max", name="Max")
    assert "chest" not in await workspace.text("max", "unanswered", ATTIC), "a manager who is not in it"


async def test_verified_answers_whose_source_changed_are_listed_where_they_can_be_seen(workspace: Workspace) -> None:
    for place, word in ((ROOF, "tiles"), (ATTIC, "chest")):
        root = await workspace.post("ada", f"Where is the {word} now?", place)
        reply = workspace.platform.add_message(replace(place, thread=root.id), "ada", "There.")
        await workspace.run("ada", "verify", place, message=reply)
        await workspace.bot.delete(reply)
    text = await workspace.text("ada", "unanswered")
    assert text.count("an answer whose source changed") == 1
    assert "/ROOF/" in text
    assert "/ATTIC/" in await workspace.text("ada", "unanswered", ATTIC)


async def test_a_digest_is_no_unanswered_question(workspace: Workspace) -> None:
    await ask(workspace, "a1", texts.DIGEST_QUESTION)
    assert "no unanswered question" in await workspace.text("ada", "unanswered")


async def test_a_question_is_listed_until_its_asker_can_read_the_verified_answer(workspace: Workspace) -> None:
    """Ada verified it in private, from a message of the closed channel."""
    await ask(workspace, "a1", "Where is the chest of gold?")
    closed = replace(SOURCE, room=ATTIC.room, space=ATTIC.room)
    await workspace.answer("a2", closed, asker="ada", question="Where is the chest of gold?", time=NOW, private=True)
    await workspace.text("ada", "verify")
    assert "chest of gold" in await workspace.text("ada", "unanswered")
    await workspace.text("ada", 'pin "Where is the chest of gold?" "In Zanzibar."')
    assert "chest of gold" not in await workspace.text("ada", "unanswered")
