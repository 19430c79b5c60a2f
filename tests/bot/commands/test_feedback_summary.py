from __future__ import annotations

from typing import Any

from bot.commands.feedback_summary import MAX_LISTED, SUMMARY_PERIOD
from bot.errors import PlatformError
from tests.bot.commands.conftest import NOW, Workspace
from tests.support.builders import ROOF


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
    await rate(workspace, "a2", time=NOW - SUMMARY_PERIOD * 31 / 30)
    assert await summary(workspace) == ""


async def test_answers_that_the_manager_may_not_see_are_counted_without_a_link(workspace: Workspace) -> None:
    den = workspace.platform.add_channel("DEN", "bob", kind="closed")
    await workspace.context.store.channels.upsert(den, "den")
    await rate(workspace, "a1", "DEN:b7", private=True)
    await rate(workspace, "a2", "DEN:b7", location=den)
    assert await summary(workspace) == "**Answers of the last 30 days**: 0 👍, 2 👎"


async def test_the_question_is_linked_where_there_is_one_and_only_the_latest_are(workspace: Workspace) -> None:
    for number in range(MAX_LISTED + 1):
        time = NOW - SUMMARY_PERIOD + SUMMARY_PERIOD / 10 * (number + 1)
        await rate(workspace, f"a{number}", f"ROOF:b{number}", time=time, message_id=f"m{number}", location=ROOF)
    lines = (await summary(workspace)).splitlines()[2:]
    assert [line.rpartition("/")[2] for line in lines] == ["m3)", "m2)", "m1)"]
