"""The bot is killed as the power kills: between a question and its answer, in mid-stream, during a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.town.bot_process import open_bot_process

if TYPE_CHECKING:
    from pathlib import Path

CHANNEL_NAME = "#vault"  # where it was said
QUESTION = "What is the password of the safe?"
KILN, ABOUT_KILN = "kiln.md", "At how many degrees is stoneware fired in Vesta?"
LOOM, ABOUT_LOOM = "loom.md", "Which shuttle does the loom Selma need?"


@pytest.mark.parametrize("platform", ["slack", "discord"])
async def test_killed_at_any_moment_it_gives_each_answer_and_takes_each_file_once(
    platform: str, tmp_path: Path
) -> None:
    async with open_bot_process(platform, tmp_path / "home") as lived:
        town = lived.town

        # One answer has begun; of another question nothing is seen yet; a file is being fetched.
        middle = await lived.ask_and_hold(QUESTION)
        town.hang_download()
        kiln = await town.share_file(
            KILN, "# The kiln\n\nStoneware is fired in the kiln called Vesta at 1240 degrees.\n"
        )
        await lived.wait_for(lambda: town.list_reactions(kiln))
        working = town.list_reactions(kiln)
        tried = town.hang_first_reply()
        early = await town.ask(f"Tell me: {QUESTION}")
        await lived.wait_for(tried)
        await lived.kill()
        assert not town.answers(early)
        await lived.restart()
        await lived.check_answer(early, CHANNEL_NAME)
        await lived.check_answer(middle, CHANNEL_NAME)
        await lived.wait_for(lambda: town.list_reactions(kiln) not in ([], working))
        done = town.list_reactions(kiln)
        assert len(done) == 1

        # The last words are shown, but the bot was not told so; a file was taken, but not signed.
        town.lose_last_write()
        late = await town.ask(ABOUT_KILN)
        loom = await town.share_file(LOOM, "# The loom\n\nThe loom called Selma needs a shuttle of boxwood.\n")
        await lived.wait_for(lambda: town.list_reactions(loom) == working)
        await lived.wait_for(town.hang_reactions())
        await lived.wait_for(lambda: any(each.is_complete for each in town.answers(late)))
        await lived.kill()
        assert town.list_reactions(loom) != done
        await lived.restart()
        await lived.check_answer(late, KILN)
        await lived.check_reactions(loom, done)

        # It is told to end while it answers, and finishes first.
        last = await lived.ask_and_hold(ABOUT_LOOM)
        assert await lived.terminate() == 0
        for asked, source in ((early, CHANNEL_NAME), (middle, CHANNEL_NAME), (late, KILN), (last, LOOM)):
            await lived.check_answer(asked, source)
        assert town.list_reactions(kiln) == done
        assert town.list_reactions(loom) == done
        assert lived.file_titles() == [KILN, LOOM]
        assert not town.pings
