"""Status, sources and graph: each person sees what they may read, and nothing else."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.answers.control.buttons import AnswerButtons
from bot.capabilities.documents.lookup import build_scope
from bot.commands.status import FEEDBACK_PERIOD, MAX_DISLIKED
from bot.errors import PlatformError
from bot.platform.events import BotAdded, ButtonPressed
from bot.platform.models import Message
from bot.store import AnswerSource
from bot.texts import MODEL_TROUBLE
from engine.errors import InvalidQuestion, ModelUnreachable, NotFound
from tests.bot.commands.conftest import ATTIC, NOW, OPEN, Workspace
from tests.support.builders import ROOF
from tests.support.engine_fixture import doc
from tests.support.patience import PATIENCE

HIDDEN = "1 further source that you can't read"


def cite(number: int, message: Message, space: str = OPEN) -> AnswerSource:
    room, link = message.location.room, f"https://chat.example/{number}"
    document = f"{room}:window:{message.id}"
    return AnswerSource(number, f"#{number}", link, "as shown", document, message.id, space, room)


async def test_status_mentions_trouble_with_the_model_without_its_address(workspace: Workspace) -> None:
    error = ModelUnreachable("Cannot reach the model at 10.0.0.7:11434.")
    workspace.bot.language.failing["extract", "Carla"] = error
    await workspace.engine.documents.add(doc("news", "Carla met Bob.", space=OPEN, room=ROOF.room))
    async with asyncio.timeout(PATIENCE):
        while not (await workspace.engine.maintenance.get_status(build_scope([OPEN]))).trouble:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.01)
    text = await workspace.text("bob", "status")
    assert MODEL_TROUBLE in text
    assert "10.0.0.7" not in text


async def test_status_counts_what_was_not_read_and_names_what_lies_here(workspace: Workspace) -> None:
    await workspace.ingest_service.handle(BotAdded(ROOF))
    goat = workspace.platform.add_file("goat.png", b"\x89PNG", kind="image/png")
    await workspace.bot.ingest_service.files.ingest_and_confirm(workspace.bot.share(ROOF, goat))
    text = await workspace.text("bob", "status")
    assert "Not read: 1 picture.\nThe newest ones here:\n- goat.png: I can't look at pictures." in text
    direct = workspace.platform.add_channel("DM", "bob", kind="direct")
    assert "goat.png" not in await workspace.text("bob", "status", direct)


async def test_status_says_whether_the_channel_is_indexed_and_when_it_was_last_active(workspace: Workspace) -> None:
    await workspace.bot.save_settings(ROOF, ingest=False)
    text = await workspace.text("bob", "status")
    assert "I'm not indexing this channel. A manager can run `/threadlore settings ingest on` to change that." in text
    assert "messages here" not in text
    await workspace.bot.save_settings(ROOF, ingest=True)
    assert "I have read no messages here yet" in await workspace.text("bob", "status")
    await workspace.post("ada", "Mina sells tickets.")
    assert "**#roof**\n- Last message: 1 day ago." in await workspace.text("bob", "status")
    direct = workspace.platform.add_channel("DM", "bob", kind="direct")
    yard = workspace.platform.add_channel("YARD", "bob")
    assert "In direct messages" in await workspace.text("bob", "status", direct)
    assert "I'm not indexing this channel." in await workspace.text("bob", "status", yard)


async def test_sources_are_shown_with_their_texts_until_they_are_forgotten(workspace: Workspace) -> None:
    message = await workspace.post("ada", "Mina sells tickets.")
    await workspace.answer("a1", cite(1, message), location=replace(ROOF, thread="m7"))
    text = await workspace.text("bob", "sources")
    assert text.startswith("**1** [#1](https://chat.example/1)\n> ")
    assert "Mina sells tickets." in text
    with pytest.raises(InvalidQuestion):
        await workspace.command("bob", "sources", replace(ROOF, thread="m8"))
    await workspace.ingest_service.forget_message(ROOF, message.id)
    text = await workspace.text("bob", "sources")
    assert "forgotten since" in text
    assert "Mina" not in text


@pytest.mark.parametrize("space", [ATTIC.room, OPEN], ids=["closed", "closed since"])
async def test_a_source_that_the_person_cannot_read_is_only_counted(workspace: Workspace, space: str) -> None:
    seen, secret = await workspace.post("ada", "Mina sells."), await workspace.post("ada", "Treasure!", ATTIC)
    await workspace.answer("a1", cite(1, seen), cite(2, secret, space), asker="ada")
    text = await workspace.text("bob", "sources")
    assert ("Mina sells." in text, "Treasure" in text, "#2" in text, HIDDEN in text) == (True, False, False, True)


async def test_the_button_shows_what_the_command_shows(workspace: Workspace) -> None:
    seen, secret = await workspace.post("ada", "Mina sells."), await workspace.post("ada", "Treasure!", ATTIC)
    await workspace.answer("a1", cite(1, seen), cite(2, secret, ATTIC.room))
    buttons = AnswerButtons(workspace.context, workspace.bot.metrics)
    for person in ("bob", "ada"):
        await buttons.handle(ButtonPressed("k1", ROOF, person, "sources", "a1", "h"))
        shown = workspace.platform.private_messages[-1][1].text
        assert shown == await workspace.text(person, "sources a1")
        assert (HIDDEN in shown, "Treasure!" in shown) == (person == "bob", person == "ada")
        assert "_You can see this because #roof is open to everyone of this workspace._" in shown
        assert ("because you are a member of #attic" in shown, "attic" in shown) == (person == "ada", person == "ada")


async def test_the_private_answer_of_another_person_has_no_sources_for_me(workspace: Workspace) -> None:
    message = await workspace.post("ada", "Mina sells tickets.")
    await workspace.answer("a1", cite(1, message), asker="ada", private=True)
    for line in ("sources", "sources a1"):
        with pytest.raises(InvalidQuestion, match="I haven't answered anything here"):
            await workspace.command("bob", line)
    assert "Mina" in await workspace.text("ada", "sources a1")


@pytest.mark.long
async def test_a_graph_is_a_picture_with_the_strongest_relations_in_words(workspace: Workspace) -> None:
    await workspace.post("ada", "Mina met Otto. Otto met Carla.")
    card = await workspace.command("bob", "graph mina")
    assert card.text.startswith("**Mina** (")
    assert "- **Otto**: " in card.text
    assert "Mina met Otto." in card.text
    assert card.picture is not None
    assert card.picture.data.startswith(b"\x89PNG")
    assert "Carla" in card.picture.alt_text


async def test_without_the_libraries_a_graph_is_text_and_once_says_how_to_get_pictures(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.graph_image.render.LIBRARIES", ("matplotlib", "no_such_library"))
    await workspace.post("ada", "Mina met Otto. Otto met Carla.")
    first, second = [await workspace.command("bob", "graph mina") for _ in range(2)]
    assert first.picture is second.picture is None
    assert first.text.startswith(second.text)
    assert "- **Otto**: " in second.text
    assert "pip install 'threadlore[pictures]'" in first.text
    assert "pip install" not in second.text


async def test_where_readers_are_unknown_there_is_no_picture(workspace: Workspace) -> None:
    await workspace.post("ada", "Mina met Otto.")
    workspace.platform.failing["channel"] = NotFound("It is not known who reads here.")
    card = await workspace.command("bob", "graph Mina")
    assert card.picture is None
    assert "can't draw a graph" in card.text
    assert "Otto" not in card.text


async def test_a_graph_without_a_name_is_answered_with_an_example(workspace: Workspace) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        await workspace.command("bob", "graph")
    assert "/threadlore graph Ada Lovelace" in caught.value.hint


async def rate(workspace: Workspace, id_: str, reply_ref: str = "", *, up: bool = False, **facts: Any) -> None:
    """Bob presses a thumb below an answer that stands in these messages."""
    await workspace.answer(id_, **facts)
    await workspace.context.store.answers.save_reply_ref(id_, reply_ref)
    await workspace.context.store.feedback.record(id_, "bob", up)


async def summary(workspace: Workspace, person: str = "ada") -> str:
    """What the status of a person says of answers."""
    _, heading, text = (await workspace.text(person, "status")).partition("**Answers")
    return heading + text


async def test_managers_see_how_many_answers_helped_and_links_to_the_others(workspace: Workspace) -> None:
    await rate(workspace, "a1", up=True)
    await rate(workspace, "a2", "ROOF:b7,b8")
    await rate(workspace, "a3", "ROOF:b9", up=True)
    assert await summary(workspace) == (
        "**Answers of the last 30 days**: 2 👍, 1 👎\n"
        "The latest with a 👎:\n"
        "- [#roof, 2 days ago](https://chat.example/T1/ROOF/b7)"
    )
    assert await summary(workspace, "bob") == ""
    workspace.context.audience.invalidate(ROOF.without_thread)
    workspace.platform.failing["person"] = PlatformError("Down.")
    assert await summary(workspace) == ""


async def test_without_thumbs_of_the_last_month_there_is_no_summary(workspace: Workspace) -> None:
    await workspace.answer("a1")
    await rate(workspace, "a2", time=NOW - FEEDBACK_PERIOD * 31 / 30)
    assert await summary(workspace) == ""


async def test_answers_that_the_manager_may_not_see_are_counted_without_a_link(workspace: Workspace) -> None:
    den = workspace.platform.add_channel("DEN", "bob", kind="closed")
    await workspace.context.store.channels.upsert(den, "den")
    await rate(workspace, "a1", "DEN:b7", private=True)
    await rate(workspace, "a2", "DEN:b7", location=den)
    assert await summary(workspace) == "**Answers of the last 30 days**: 0 👍, 2 👎"


async def test_the_question_is_linked_where_there_is_one_and_only_the_latest_are(workspace: Workspace) -> None:
    for number in range(MAX_DISLIKED + 1):
        time = NOW - FEEDBACK_PERIOD + FEEDBACK_PERIOD / 10 * (number + 1)
        await rate(workspace, f"a{number}", f"ROOF:b{number}", time=time, message_id=f"m{number}", location=ROOF)
    lines = (await summary(workspace)).splitlines()[2:]
    assert [line.rpartition("/")[2] for line in lines] == ["m3)", "m2)", "m1)"]
