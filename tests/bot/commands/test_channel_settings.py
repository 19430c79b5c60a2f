from __future__ import annotations

from datetime import timedelta

import pytest

from bot.errors import NotAllowed, PermissionDenied
from bot.store import ChannelSettings
from engine.errors import InvalidQuestion
from tests.bot.commands.conftest import Workspace
from tests.support.builders import ROOF


async def stored(workspace: Workspace) -> ChannelSettings:
    return await workspace.context.get_channel_settings(ROOF.room)


@pytest.mark.parametrize(
    ("person", "line", "error", "words"),
    [
        *(
            ("bob", line, NotAllowed, "Only managers")
            for line in ("settings", "settings reply-to all", "settings ingest off", "backfill 3")
        ),
        ("ada", "settings colour blue", InvalidQuestion, "no setting “colour”"),
        ("ada", "settings reply-to never", InvalidQuestion, "“never” is not a value"),
        ("ada", "settings mode", InvalidQuestion, "What should “mode” be"),
        ("ada", "settings ingest maybe", InvalidQuestion, "“maybe” is not a value"),
        ("ada", f"settings style {'very ' * 60}", InvalidQuestion, "too long"),
        *(("ada", f"backfill {days}", InvalidQuestion, "not a number of days") for days in ("0", "many", "99999")),
    ],
)
async def test_a_refused_command_changes_nothing(
    workspace: Workspace, person: str, line: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        await workspace.command(person, line)
    assert await stored(workspace) == ChannelSettings()


async def test_settings_are_shown_with_their_defaults(workspace: Workspace) -> None:
    text = await workspace.text("ada", "settings")
    for line in ("- `reply-to` is **thread** (by default): ", "- `language` is not set: ", "- `ingest` is **on**: "):
        assert line in text


async def test_each_setting_can_be_changed_and_reset(workspace: Workspace) -> None:
    for line in ("mode Hybrid", "style “short and friendly”", "language German", "reply-to ALL"):
        await workspace.command("ada", f"settings {line}")
    assert await stored(workspace) == ChannelSettings("hybrid", "short and friendly", "German", "all")
    for name in ("mode", "style", "language", "reply-to"):
        await workspace.command("ada", f"settings {name} default")
    assert await stored(workspace) == ChannelSettings()


async def test_a_direct_message_has_no_setting_for_indexing(workspace: Workspace) -> None:
    alone = workspace.platform.add_channel("ALONE", "bob", kind="direct")
    with pytest.raises(InvalidQuestion, match="not the messages"):
        await workspace.command("bob", "settings ingest on", alone)
    assert "ingest" not in await workspace.text("bob", "settings", alone)


async def test_a_channel_in_which_the_bot_may_not_post_is_not_indexed_yet(workspace: Workspace) -> None:
    await workspace.command("ada", "settings ingest off")
    assert not (await stored(workspace)).ingest
    assert workspace.platform.posts == []
    with pytest.raises(InvalidQuestion, match="turned off"):
        await workspace.command("ada", "backfill 3")
    workspace.platform.failing["post"] = PermissionDenied("Not here.")
    assert "once I'm allowed to post here" in await workspace.text("ada", "settings ingest on")


async def test_a_channel_that_is_turned_on_is_told_what_is_read(workspace: Workspace) -> None:
    await workspace.command("ada", "settings ingest off")
    for shown in ("the last 90 days", "already"):
        assert shown in await workspace.text("ada", "settings ingest on")
    [(place, card)] = workspace.platform.posts
    assert place == ROOF
    assert "`/threadlore forget-me`" in card.text
    assert "`/threadlore settings ingest off`" in card.text
    await workspace.command("ada", "settings ingest off")
    assert "`/threadlore backfill` fetches" in await workspace.text("ada", "settings ingest on")


async def test_history_is_read_for_as_many_days_as_asked_for(workspace: Workspace) -> None:
    assert "the last 30 days" in await workspace.text("ada", "backfill 30 days")
    horizon = await workspace.context.store.channels.get_horizon(ROOF.room)
    assert horizon == workspace.platform.current_time() - timedelta(days=30)
