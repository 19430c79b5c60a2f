"""Commands that verify, correct and pin answers, and list what was verified."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot import texts
from bot.errors import NotAllowed
from bot.ingest.conversations import to_unindexed_record
from bot.store import AnswerResult, AnswerSource, Expert
from bot.texts import review as review_texts
from engine.errors import InvalidQuestion, NotFound
from tests.bot.commands.conftest import ATTIC, Workspace
from tests.support.builders import ROOF, make_answer, make_message

ASKED = "When do the tiles come?"
SOURCE = AnswerSource(1, "#roof", "https://x", "Monday", f"{ROOF.room}:file:f:1", "1", "slack:T1:open", ROOF.room)


async def answer(workspace: Workspace, id_: str = "a1", message: str = "m7", **facts: object) -> None:
    """The bot answered Bob, in a message of its own."""
    store = workspace.context.store.answers
    defaults = {"asker": "bob", "question": ASKED, "message_id": f"q{message}"}
    await store.begin(make_answer(id_, **{**defaults, **facts}))
    await store.save_reply_ref(id_, f"ROOF:{message}")
    await store.finish(id_, AnswerResult("On Monday [1].", (SOURCE,), frozenset({SOURCE.document})))


async def verified(workspace: Workspace) -> list[str]:
    """The questions and texts that are verified."""
    found = await workspace.context.store.verified_answers.list_in_room(ROOF.room)
    return [f"{verified_answer.question} {verified_answer.text}".strip() for verified_answer in found]


async def test_the_last_answer_or_a_linked_one_is_verified(workspace: Workspace) -> None:
    with pytest.raises(InvalidQuestion, match="answered anything"):
        await workspace.text("ada", "verify")
    await answer(workspace)
    await answer(workspace, "a2", "m8", question="Who lays the tiles?")
    assert "tiles come" in await workspace.text("ada", "verify https://chat.example/T1/ROOF/m7")
    assert "lays the tiles" in await workspace.text("ada", "verify")
    assert "On Friday" not in " ".join(await verified(workspace))
    await workspace.text("ada", "correct answer https://chat.example/T1/ROOF/m7 “On Friday.”")
    assert f"{ASKED} On Friday." in await verified(workspace)
    await workspace.text("ada", "correct answer Bob does.")
    assert "Who lays the tiles? Bob does." in await verified(workspace)


async def test_an_answer_without_sources_is_verified_in_other_words_only(workspace: Workspace) -> None:
    store = workspace.context.store.answers
    await store.begin(make_answer("a1", asker="bob", question=ASKED, message_id="q7"))
    await store.save_reply_ref("a1", "ROOF:m7")
    await store.finish("a1", AnswerResult("I found nothing.", (), frozenset()))
    with pytest.raises(InvalidQuestion, match="nothing to verify"):
        await workspace.text("ada", "verify")
    assert await verified(workspace) == []
    await workspace.text("ada", "correct answer On Friday.")
    assert await verified(workspace) == [f"{ASKED} On Friday."]


@pytest.mark.parametrize("line", ["verify", "correct answer No.", 'pin "When is noon?" "At 12."', "verify list"])
async def test_commands_are_for_managers_and_experts(workspace: Workspace, line: str) -> None:
    await answer(workspace)
    for person in ("bob", "gus"):
        with pytest.raises((NotAllowed, NotFound)):
            await workspace.text(person, line)
    assert await verified(workspace) == []
    await workspace.context.store.experts.add(Expert(ROOF, "bob", "noon"))
    assert await workspace.text("bob", line)


async def test_nobody_reaches_an_answer_of_a_channel_that_they_cannot_read(workspace: Workspace) -> None:
    """Eve is an expert of the open channel; Ada, who can read the closed one, is not mistaken for her."""
    await answer(workspace, location=ATTIC, question="Where is the chest?")
    await workspace.context.store.experts.add(Expert(ROOF, "eve", "chests"))
    link = "https://chat.example/T1/ATTIC/m7"
    for line in (f"verify {link}", f"correct answer {link} Nowhere."):
        with pytest.raises(NotFound):
            await workspace.text("eve", line)
    assert "chest" in await workspace.text("ada", f"verify {link}")
    assert await workspace.text("ada", "verify list") == "Nothing is verified in this channel yet."
    assert "chest" in await workspace.text("ada", "verify list", ATTIC)


async def test_a_private_answer_of_somebody_else_is_not_verified(workspace: Workspace) -> None:
    await answer(workspace, private=True)
    with pytest.raises(InvalidQuestion, match="answered anything"):
        await workspace.text("ada", "verify")
    with pytest.raises(NotFound, match=texts.NO_ANSWER):
        await workspace.text("ada", "verify https://chat.example/T1/ROOF/m7")


async def test_a_reply_is_taken_by_its_link_or_its_menu(workspace: Workspace) -> None:
    root = await workspace.post("bob", "When do the nails come?")
    reply = workspace.platform.add_message(replace(ROOF, thread=root.id), "eve", "On Friday.")
    await workspace.run("ada", "verify", message=reply)
    assert await verified(workspace) == ["When do the nails come? On Friday. [1]"]
    other = await workspace.post("bob", "On Sunday.")
    with pytest.raises(InvalidQuestion, match=review_texts.NO_QUESTION_FOR_REPLY):
        await workspace.text("ada", f"verify https://chat.example/T1/ROOF/{other.id}")
    with pytest.raises(NotFound):
        await workspace.text("ada", "verify https://chat.example/T1/ROOF/m99")


async def test_in_a_thread_a_message_to_the_bot_verifies_its_last_answer_or_what_it_replies_to(
    workspace: Workspace,
) -> None:
    thread = replace(ROOF, thread="m1")
    await answer(workspace, location=thread, message_id="m1")
    message = make_message("m9", "<@BOT> verify", location=thread)
    await workspace.run("ada", "verify", thread, message=message, handle="")
    assert await verified(workspace) == [f"{ASKED} On Monday [1]."]
    quoting = replace(message, location=ROOF, replies_to="m7")
    await workspace.run("ada", "correct answer On Friday.", message=quoting, handle="")
    assert await verified(workspace) == [f"{ASKED} On Friday."]


async def test_what_is_verified_is_listed_and_removed(workspace: Workspace) -> None:
    await workspace.text("ada", 'pin "When is *noon* today?" "At <!channel> 12."')
    listed = await workspace.text("ada", "verify list")
    assert r"When is \*noon\* today? (Ada, November 22, 2026)" in listed
    id_ = listed.split("`")[1]
    with pytest.raises(NotFound):
        await workspace.text("ada", "verify remove 12x")
    assert (
        await workspace.text("ada", f"verify remove {id_}") == "Removed. I answer that question from my sources again."
    )
    assert await verified(workspace) == []
    for line in ("verify me", 'pin "Only a question?"', "correct answer", "correct answer “”"):
        with pytest.raises(InvalidQuestion):
            await workspace.text("ada", line)


async def test_a_public_message_to_the_bot_reveals_no_question_of_elsewhere(workspace: Workspace) -> None:
    """On Discord everyone reads the reply to "@bot verify"; Ada can read the closed channel, and asked in private."""
    await answer(workspace, "a1", location=ATTIC, question="Where is the chest?")
    await answer(workspace, "a2", "m8", asker="ada", private=True, question="Who is dismissed?")
    message = make_message("m9", "<@BOT> verify", author="ada", location=ROOF)
    link = "https://chat.example/T1/ATTIC/m7"
    card = await workspace.run("ada", f"verify {link}", message=message, handle="")
    assert card is not None
    assert card.text == review_texts.VERIFIED_ELSEWHERE
    root = await workspace.post("ada", "Where is the key?", ATTIC)
    reply = workspace.platform.add_message(replace(ATTIC, thread=root.id), "ada", "There.")
    await workspace.context.store.messages.insert([to_unindexed_record(reply)])
    card = await workspace.run("ada", f"verify https://chat.example/T1/ATTIC/{reply.id}", message=message, handle="")
    assert card is not None
    assert card.text == review_texts.VERIFIED_ELSEWHERE
    with pytest.raises(InvalidQuestion, match="answered anything"):
        await workspace.run("ada", "verify", message=message, handle="")
    with pytest.raises(NotFound):
        await workspace.run("ada", "verify https://chat.example/T1/ROOF/m8", message=message, handle="")
    assert "Who is dismissed?" in await workspace.text("ada", "verify"), "a command, whose result only she sees"
