"""What is deleted or edited is no longer known, whether the bot is there or away; what only fails to load stays."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot, file_of, password, reply
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import QUESTION, SECRETS, find_secrets

Make = Callable[[Any, str], Awaitable[Any]]
Remove = Callable[[Any, Any], Awaitable[object]]

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLACK, DISCORD = pytest.mark.platforms("slack"), pytest.mark.platforms("discord")
EDITED = SECRETS[-1]
AGAIN = f"Again: {QUESTION}"  # the question in the words of an earlier one may come from the cache


async def whole_thread(town: SlackTown, word: str) -> list[Any]:
    root = await town.say("ada", "square", "Let us talk about the safe.")
    return [await town.say("ada", "square", password(word), thread=root), root]


async def delete_all(town: Any, messages: list[Any]) -> None:
    for message in messages:
        await town.delete(message)


async def question_with_file(town: DiscordTown, word: str) -> Any:
    """A file beside a question in a channel that is not indexed."""
    mention = town.bot_member.mention
    return await town.say("ada", "quiet", f"{mention} what is in it?", files=[file_of(word)])


async def open_thread(town: DiscordTown, word: str) -> Any:
    root = await town.say("ada", "square", "Let us talk about the safe.")
    thread = await town.person("ada").opens_thread(root, "The safe")
    await town.person("ada").says(thread, password(word))
    return thread


async def forum_post(town: DiscordTown, word: str) -> Any:
    post = await town.person("ada").posts(town.channels["ideas"], f"The {word} safe", password(word))
    return post.channel


async def remove_channel(town: DiscordTown, channel: Any) -> None:
    town.discord.removes_channel(channel)


DELETIONS: dict[str, tuple[Make, Remove]] = {
    "message": (lambda town, word: town.say("ada", "square", password(word)), lambda town, said: town.delete(said)),
    "edited message": (
        lambda town, word: town.say("ada", "square", password(word)),
        lambda town, said: town.edit(said, password(EDITED)),
    ),
    "reply": (reply, lambda town, said: town.delete(said)),
    "file": (
        lambda town, word: town.say("ada", "square", "Read it.", files=[file_of(word)]),
        lambda town, said: town.delete(said),
    ),
    "file for the bot alone": (
        lambda town, word: town.say("ada", "", "Read it.", files=[file_of(word)]),
        lambda town, said: town.delete(said),
    ),
}
ONLY_ON_SLACK: dict[str, tuple[Make, Remove]] = {
    "thread": (whole_thread, delete_all),
    "file out of its message": (
        lambda town, word: town.say("ada", "", "Read it.", files=[file_of(word)]),
        lambda town, said: town.person("ada").deletes_file(said.files[0]),
    ),
}
ONLY_ON_DISCORD: dict[str, tuple[Make, Remove]] = {
    "bulk": (
        lambda town, word: town.say("ada", "square", password(word)),
        lambda town, said: town.owner.purges([said]),
    ),
    "thread": (open_thread, remove_channel),
    "forum post": (forum_post, remove_channel),
    "file with a question": (question_with_file, lambda town, said: town.delete(said)),
}
OF_PLATFORM = {"slack": DELETIONS | ONLY_ON_SLACK, "discord": DELETIONS | ONLY_ON_DISCORD}


@pytest.mark.long
@pytest.mark.usefixtures("pretend_hour_passed")
@pytest.mark.parametrize("away", [pytest.param(False, marks=pytest.mark.long), True], ids=[None, "away"])
async def test_deleted_things_are_no_longer_known(live: LiveBot[Any], *, away: bool) -> None:
    town, kinds = live.town, OF_PLATFORM[live.town.platform]
    town.add_channel("square", "ada")
    if isinstance(town, DiscordTown):
        town.add_channel("ideas", kind="forum")
        town.add_channel("quiet")
        before = await town.person("ada").posts(town.channels["ideas"], "Old", "An old idea.")
        town.channels["post"] = before.channel
    await live.read(*(["square", "post"] if isinstance(town, DiscordTown) else ["square"]))
    kept, gone = (dict(zip(kinds, SECRETS[start:-1:2], strict=False)) for start in (0, 1))
    for name, (make, _) in kinds.items():
        await make(town, kept[name])
    doomed = {name: await make(town, gone[name]) for name, (make, _) in kinds.items()}
    await live.wait_until_idle()
    known = await live.ask("ada", "square", way="private")
    assert [name for name in kinds if kept[name] not in known or gone[name] not in known] == []
    if away:
        await live.stop()
    for name, (_, remove) in kinds.items():
        await remove(town, doomed[name])
    if away:
        await live.restart_and_reconcile()
        await live.wait_for_sync()
    await live.wait_until_idle()
    left = await live.ask("ada", "square", AGAIN, way="private")
    assert [name for name in kinds if kept[name] not in left] == []
    assert [name for name in kinds if gone[name] in left] == []
    assert EDITED in left


async def test_deleted_things_leave_sources_and_follow_ups(live: LiveBot[Any]) -> None:
    live.town.add_channel("square", "ada")
    said = (await live.post_passwords(square="agate"))["square"]
    await live.town.say_fact("square", password("beryl"))
    asked = await live.town.ask("ada", "square")
    assert find_secrets(await live.answer(asked)) == "agate beryl"
    await live.town.delete(said)
    await live.wait_for_corrections()
    [posted] = live.town.posts(asked)
    assert posted.body.lstrip("_* ").startswith("Changed since ")
    assert find_secrets(posted.body) == "beryl"
    again = await live.town.follow_up("ada", asked)
    assert find_secrets(await live.answer(again)) == "beryl"
    assert find_secrets(await live.run_command("ada", "square", "sources")) in {"", "beryl"}
