"""The bot is killed as the power kills: between a question and its answer, in mid-stream, during a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.town.killable import life

if TYPE_CHECKING:
    from pathlib import Path

TALK = "#vault"  # where it was said
QUESTION = "What is the password of the safe?"
KILN, ABOUT_KILN = "kiln.md", "At how many degrees is stoneware fired in Vesta?"
LOOM, ABOUT_LOOM = "loom.md", "Which shuttle does the loom Selma need?"


@pytest.mark.parametrize("platform", ["slack", "discord"])
async def test_killed_at_any_moment_it_gives_each_answer_and_takes_each_file_once(
    platform: str, tmp_path: Path
) -> None:
    async with life(platform, tmp_path / "home") as lived:
        town = lived.town

        # One answer has begun; of another question nothing is seen yet; a file is being fetched.
        middle = await lived.begun(QUESTION)
        town.hang_download()
        kiln = await town.drop(KILN, "# The kiln\n\nStoneware is fired in the kiln called Vesta at 1240 degrees.\n")
        await lived.until(lambda: town.signs(kiln))
        working = town.signs(kiln)
        tried = town.hang_first_reply()
        early = await town.ask(f"Tell me: {QUESTION}")
        await lived.until(tried)
        await lived.kill()
        assert not town.answers(early)
        await lived.restart()
        await lived.whole(early, TALK)
        await lived.whole(middle, TALK)
        await lived.until(lambda: town.signs(kiln) not in ([], working))
        done = town.signs(kiln)
        assert len(done) == 1

        # The last words are shown, but the bot was not told so; a file was taken, but not signed.
        town.lose_last_write()
        late = await town.ask(ABOUT_KILN)
        loom = await town.drop(LOOM, "# The loom\n\nThe loom called Selma needs a shuttle of boxwood.\n")
        await lived.until(lambda: town.signs(loom) == working)
        await lived.until(town.hang_signs())
        await lived.until(lambda: any(each.whole for each in town.answers(late)))
        await lived.kill()
        assert town.signs(loom) != done
        await lived.restart()
        await lived.whole(late, KILN)
        await lived.signed(loom, done)

        # It is told to end while it answers, and finishes first.
        last = await lived.begun(ABOUT_LOOM)
        assert await lived.terminate() == 0
        for asked, source in ((early, TALK), (middle, TALK), (late, KILN), (last, LOOM)):
            await lived.whole(asked, source)
        assert town.signs(kiln) == done
        assert town.signs(loom) == done
        assert lived.files() == [KILN, LOOM]
        assert not town.pings
