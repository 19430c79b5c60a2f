from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from bot.errors import NotAllowed, PermissionDenied
from bot.store import ChannelSettings
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from tests.bot.commands.conftest import Workspace


async def kept(workspace: Workspace) -> ChannelSettings:
    return await workspace.context.get_channel_settings(workspace.square.room)


@pytest.mark.parametrize("line", ["settings", "settings reply-to all", "backfill 3"])
async def test_only_managers_decide_for_a_channel(workspace: Workspace, line: str) -> None:
    with pytest.raises(NotAllowed, match="Only managers"):
        await workspace.command("bob", line)
    assert await kept(workspace) == ChannelSettings()


async def test_settings_are_shown_with_what_holds_by_default(workspace: Workspace) -> None:
    text = (await workspace.command("ada", "settings")).text
    assert "- `reply-to` is **thread** (by default): " in text
    assert "- `language` is not set: " in text
    assert "- `ingest` is **on**: " in text


async def test_each_setting_can_be_changed_and_taken_back(workspace: Workspace) -> None:
    for line in ("mode Hybrid", "style “short and friendly”", "language German", "reply-to ALL"):
        await workspace.command("ada", f"settings {line}")
    assert await kept(workspace) == ChannelSettings("hybrid", "short and friendly", "German", "all")
    for name in ("mode", "style", "language", "reply-to"):
        await workspace.command("ada", f"settings {name} default")
    assert await kept(workspace) == ChannelSettings()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("colour blue", "no setting “colour”"),
        ("reply-to never", "“never” is not a value"),
        ("mode", "What should “mode” be"),
        ("ingest maybe", "“maybe” is not a value"),
        (f"style {'very ' * 60}", "too long"),
    ],
)
async def test_what_a_setting_cannot_be_is_told(workspace: Workspace, line: str, told: str) -> None:
    with pytest.raises(InvalidQuestion, match=told):
        await workspace.command("ada", f"settings {line}")
    assert await kept(workspace) == ChannelSettings()


async def test_a_talk_with_the_bot_alone_is_not_switched_on(workspace: Workspace) -> None:
    alone = workspace.platform.add_channel("ALONE", "bob", kind="direct")
    with pytest.raises(InvalidQuestion, match="not the messages"):
        await workspace.command("bob", "settings ingest on", alone)
    assert "ingest" not in (await workspace.command("bob", "settings", alone)).text


async def test_a_channel_in_which_the_bot_may_not_say_so_is_not_read_yet(workspace: Workspace) -> None:
    await workspace.command("ada", "settings ingest off")
    assert not (await kept(workspace)).ingest
    assert workspace.platform.posts == []
    workspace.platform.failing["post"] = PermissionDenied("Not here.")
    assert "once I'm allowed to post here" in (await workspace.command("ada", "settings ingest on")).text


async def test_what_it_reads_of_the_past_is_told(workspace: Workspace) -> None:
    await workspace.command("ada", "settings ingest off")
    assert "the last 90 days" in (await workspace.command("ada", "settings ingest on")).text
    [(place, card)] = workspace.platform.posts
    assert place == workspace.square
    assert "`/threadlore forget-me`" in card.text
    assert "`/threadlore settings ingest off`" in card.text
    assert "already" in (await workspace.command("ada", "settings ingest on")).text
    await workspace.command("ada", "settings ingest off")
    assert "`/threadlore backfill` fetches" in (await workspace.command("ada", "settings ingest on")).text


async def test_the_past_of_a_channel_is_read_as_far_as_wanted(workspace: Workspace) -> None:
    card = await workspace.command("ada", "backfill 30 days")
    assert "the last 30 days" in card.text
    horizon = await workspace.context.store.channels.get_horizon(workspace.square.room)
    assert horizon is not None
    assert abs(datetime.now(UTC) - timedelta(days=30) - horizon) < timedelta(minutes=1)


@pytest.mark.parametrize("days", ["0", "many", "99999", "-1"])
async def test_a_number_of_days_that_is_none_is_told(workspace: Workspace, days: str) -> None:
    with pytest.raises(InvalidQuestion, match="not a number of days"):
        await workspace.command("ada", f"backfill {days}")


async def test_nothing_is_fetched_where_reading_is_switched_off(workspace: Workspace) -> None:
    await workspace.command("ada", "settings ingest off")
    with pytest.raises(InvalidQuestion, match="turned off"):
        await workspace.command("ada", "backfill 3")
