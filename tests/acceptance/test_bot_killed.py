"""The bot is killed as the power kills: between a question and its answer, in mid-stream, during a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.texts.control import NOT_THE_ASKER_OR_MANAGER, STOP_BUTTON
from tests.support.town.bot_process import ANSWER, CHANNEL, Town, open_bot_process
from tests.support.town.protocol import TownFile
from tests.support.verbatim_language import QUESTION

CHANNEL_NAME = f"#{CHANNEL}"
KILN, ABOUT_KILN = "kiln.md", "At how many degrees is stoneware fired in Vesta?"
LOOM, ABOUT_LOOM = "loom.md", "Which shuttle does the loom Selma need?"


async def share_file(town: Town, name: str, text: str) -> Any:
    return await town.say("ada", CHANNEL, "Read this.", files=[TownFile(name, text)])


@pytest.mark.long
async def test_killed_in_the_middle_of_an_answer_it_gives_it_once(tmp_path: Path) -> None:
    async with open_bot_process("slack", tmp_path / "home") as lived:
        asked = await lived.ask_and_hold(QUESTION)
        await lived.kill()
        await lived.restart()
        await lived.check_answer(asked, CHANNEL_NAME)


@pytest.mark.long
async def test_killed_at_any_moment_it_gives_each_answer_and_takes_each_file_once(
    platform: str, tmp_path: Path
) -> None:
    async with open_bot_process(platform, tmp_path / "home") as lived:
        town = lived.town

        # One answer has begun; of another question nothing is seen yet; a file is being fetched.
        middle = await lived.ask_and_hold(QUESTION)
        town.hang_download()
        kiln = await share_file(
            town, KILN, "# The kiln\n\nStoneware is fired in the kiln called Vesta at 1240 degrees.\n"
        )
        await lived.wait_for(lambda: town.reactions(kiln))
        working = town.reactions(kiln)
        tried = town.hang_first_reply()
        early = await town.ask("ada", CHANNEL, f"Tell me: {QUESTION}")
        await lived.wait_for(tried)
        await lived.kill()
        assert not town.posts(early)
        await lived.restart()
        await lived.check_answer(early, CHANNEL_NAME)
        await lived.check_answer(middle, CHANNEL_NAME)
        await lived.wait_for(lambda: town.reactions(kiln) not in ([], working))
        done = town.reactions(kiln)
        assert len(done) == 1

        # The last words are shown, but the bot was not told so; a file was taken, but not signed.
        town.lose_last_write()
        late = await town.ask("ada", CHANNEL, ABOUT_KILN)
        loom = await share_file(town, LOOM, "# The loom\n\nThe loom called Selma needs a shuttle of boxwood.\n")
        await lived.wait_for(lambda: town.reactions(loom) == working)
        await lived.wait_for(town.hang_reactions())
        await lived.wait_for(lambda: any(post.is_complete for post in town.posts(late)))
        await lived.kill()
        assert town.reactions(loom) != done
        await lived.restart()
        await lived.check_answer(late, KILN)
        await lived.check_reactions(loom, done)
        await lived.wait_until_answered()  # the late answer is written once more

        # An answer is stopped while the model writes: only by its asker, and no word follows.
        stopped = await lived.ask_and_hold(f"Again: {ABOUT_KILN}")
        [begun] = town.posts(stopped)
        assert begun.buttons == (STOP_BUTTON,)
        refused = await town.click("bob", begun, STOP_BUTTON)
        await lived.wait_for(lambda: NOT_THE_ASKER_OR_MANAGER in lived.answer_text(refused))
        await town.click("ada", begun, STOP_BUTTON)
        await lived.wait_for(lambda: all(post.is_complete for post in town.posts(stopped)))
        assert "Stopped by " in lived.answer_text(stopped)
        assert ANSWER not in lived.answer_text(stopped)
        await lived.wait_for(lambda: not lived.model.has_held_streams)
        lived.model.release()

        # It is told to end while it answers, and finishes first.
        last = await lived.ask_and_hold(ABOUT_LOOM)
        assert await lived.terminate() == 0
        for asked, source in ((early, CHANNEL_NAME), (middle, CHANNEL_NAME), (late, KILN), (last, LOOM)):
            await lived.check_answer(asked, source)
        assert town.reactions(kiln) == done
        assert town.reactions(loom) == done
        assert lived.file_titles() == [KILN, LOOM]
        assert not town.pings
