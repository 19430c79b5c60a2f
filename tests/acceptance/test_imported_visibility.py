"""The past of a platform that the bot does not serve is read where the person who imports it says, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.capabilities.requests import ImportHistory
from bot.capabilities.results import HistoryImportResult
from bot.capabilities.run import run
from bot.ingest.sync.history_import import NO_READERS, NOT_CLOSED, WAS_CLOSED
from tests.acceptance.test_verified_answers import AGAIN, ask_publicly
from tests.support.exports import MattermostExportFiles, mattermost_post
from tests.support.town.live_bot import LiveBot, password
from tests.support.verbatim_language import find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")
URL = "https://chat.example.org"
WORDS = {"roof": "jasper", "vault": "obsidian", "crypt": "pearl", "cave": "ruby"}  # what was said on Mattermost


async def import_town(live: LiveBot[Any], path: Path, *channel_map: str, opened: str = "roof") -> dict[str, int]:
    """Import an export with an open and three private channels into the town; returns what was left out."""
    files = MattermostExportFiles()
    files.channels = [{"team": "town", "name": name, "type": "O" if name in opened.split() else "P"} for name in WORDS]
    for minute, (name, word) in enumerate(WORDS.items()):
        files.posts.append(mattermost_post("ada", minute, password(word), channel=name))
    home = live.town.location("square")
    request = ImportHistory(
        "mattermost",
        str(files.write_zip(path / "export.zip")),
        url=URL,
        into=f"{home.platform}:{home.workspace}",
        channel_map=channel_map,
    )
    [result] = [each async for each in run(live.bot.deps, request) if isinstance(each, HistoryImportResult)]
    return dict(result.omissions)


@pytest.mark.long
async def test_an_imported_past_is_read_by_those_whom_the_importer_names(live: LiveBot[Any], tmp_path: Path) -> None:
    town = live.town
    live.add_manager("mayor")
    town.add_channel("square", "ada bob mayor")
    town.add_channel("cellar", "ada", "private")
    await live.post_passwords(square="agate", cellar="beryl")
    cellar, square = town.location("cellar").channel, town.location("square").channel
    left_out = await import_town(live, tmp_path, f"vault={cellar}", f"cave={square}", "crypt=NOWHERE")
    assert left_out == {NOT_CLOSED: 2}  # an open channel, and an unknown one
    answer = await live.ask("bob", "square")
    assert find_secrets(answer) == "agate jasper"
    assert f"{URL}/town/channels/roof" in answer
    assert find_secrets(await live.ask("bob", "square", way="private")) == "agate jasper"
    assert find_secrets(await live.ask("ada", "cellar")) == "agate beryl jasper obsidian"
    assert find_secrets(await live.ask("ada", "square", "in:#roof What is the password of the safe?")) == "jasper"
    assert find_secrets(await live.ask("bob", "square", "in:#vault What is the password of the safe?")) == ""
    # An answer that rests on it can be verified.
    assert "Verified." in await live.improve("mayor", await ask_publicly(live, "square"), "Verify")
    shown = await live.ask("bob", "square", AGAIN)
    assert "Verified by" in shown
    assert find_secrets(shown) == "agate jasper"
    # The channel of its readers opens, as Slack and Discord allow: what was private on Mattermost stays unread.
    if town.platform == "discord":
        await town.make_public("cellar")
        await live.wait_until_idle()
        assert "obsidian" not in await live.ask("bob", "square")
    assert await import_town(live, tmp_path, opened="roof vault") == {NO_READERS: 2, WAS_CLOSED: 1}


@pytest.mark.platforms("slack")
async def test_guests_and_other_workspaces_read_nothing_of_an_imported_open_channel(
    live: LiveBot[Any], tmp_path: Path
) -> None:
    town = live.town
    town.add_person("gil", kind="guest")
    town.add_person("eve", stranger=True)
    town.add_channel("square", "ada bob")
    town.add_channel("fair", "ada gil")
    town.add_channel("bridge", "ada eve", "shared")
    await live.post_passwords(square="agate", fair="beryl", bridge="coral")
    assert await import_town(live, tmp_path) == {NO_READERS: 3}
    assert find_secrets(await live.ask("ada", "square")) == "agate beryl jasper"
    assert find_secrets(await live.ask("ada", "fair")) == "beryl"
    assert find_secrets(await live.ask("gil", "fair", way="private")) == "beryl"
    assert find_secrets(await live.ask("ada", "bridge")) == "coral"
    assert "jasper" not in town.bot_text("gil") + town.bot_text("eve")
