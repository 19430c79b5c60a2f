from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands.feedback_summary import MAX_LISTED, SUMMARY_PERIOD
from bot.errors import PlatformError
from bot.store import StoredAnswer
from tests.bot.commands.conftest import NOW

if TYPE_CHECKING:
    from bot.platform.models import Location
    from tests.bot.commands.conftest import Workspace


async def judged(workspace: Workspace, id_: str, *, mark: str = "", up: bool = False) -> None:
    """Bob thinks so of an answer that stands in these messages."""
    await workspace.context.store.answers.save_reply_ref(id_, mark)
    await workspace.context.store.feedback.record(id_, "bob", up)


async def told(workspace: Workspace, person: str, place: Location | None = None) -> str:
    """What somebody's status says of answers."""
    text = (await workspace.command(person, "status", place)).text
    return text[text.index("**Answers") :] if "**Answers" in text else ""


async def test_managers_are_told_how_many_answers_helped_and_where_those_stand_that_did_not(
    workspace: Workspace,
) -> None:
    for id_ in ("a1", "a2", "a3"):
        await workspace.answered(id_)
    await judged(workspace, "a1", up=True)
    await judged(workspace, "a2", mark="SQUARE:b7,b8")
    await judged(workspace, "a3", mark="SQUARE:b9", up=True)
    assert await told(workspace, "ada") == (
        "**Answers of the last 30 days**: 2 👍, 1 👎\n"
        "The latest with a 👎:\n"
        "- [#square, 2 days ago](https://chat.example/T1/SQUARE/b7)"
    )


async def test_others_are_not(workspace: Workspace) -> None:
    await workspace.answered("a1")
    await judged(workspace, "a1", mark="SQUARE:b7")
    assert await told(workspace, "bob") == ""
    workspace.platform.failing["person"] = PlatformError("Down.")
    assert await told(workspace, "ada") == ""


async def test_where_nobody_pressed_a_thumb_nothing_is_told(workspace: Workspace) -> None:
    await workspace.answered("a1")
    assert await told(workspace, "ada") == ""


async def test_a_private_answer_and_one_in_a_channel_that_the_manager_is_not_in_are_counted_alone(
    workspace: Workspace,
) -> None:
    den = workspace.platform.add_channel("DEN", "bob", kind="closed")
    await workspace.context.store.channels.upsert(den, "den")
    await workspace.answered("a1", private=True)
    await workspace.answered("a2", channel="DEN")
    for id_ in ("a1", "a2"):
        await judged(workspace, id_, mark="DEN:b7")
    assert await told(workspace, "ada") == "**Answers of the last 30 days**: 0 👍, 2 👎"


async def test_the_question_is_linked_where_there_is_one_and_only_the_latest_are(workspace: Workspace) -> None:
    answers = workspace.context.store.answers
    for number in range(MAX_LISTED + 1):
        time = NOW - SUMMARY_PERIOD + SUMMARY_PERIOD / 10 * (number + 1)
        await answers.begin(StoredAnswer(f"a{number}", workspace.square, "bob", "What?", time, f"m{number}"))
        await workspace.answered(f"a{number}")
        await judged(workspace, f"a{number}", mark=f"SQUARE:b{number}")
    text = await told(workspace, "ada")
    assert [line.rpartition("/")[2] for line in text.splitlines()[2:]] == ["m3)", "m2)", "m1)"]


async def test_what_is_older_than_a_month_is_not_told(workspace: Workspace) -> None:
    time = NOW - SUMMARY_PERIOD - SUMMARY_PERIOD / 30
    await workspace.context.store.answers.begin(StoredAnswer("a1", workspace.square, "bob", "What?", time, "m1"))
    await judged(workspace, "a1")
    assert await told(workspace, "ada") == ""
