"""The whole bot in a workspace without Slack's agent features: no streams, no status, no prompts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.demos.slack_day import manifest
from tests.support.gossip import told
from tests.support.slack_server import FakeSlack
from tests.support.town import slack as slack_house

if TYPE_CHECKING:
    from pathlib import Path

    from bot.bootstrap import Skills

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_everything_works_on_a_free_plan(tmp_path: Path, able: Skills) -> None:
    async with slack_house.living(tmp_path / "free", able, FakeSlack(manifest("manifest-free.json"))) as house:
        slack = house.slack
        ada = slack.user("Ada")
        square = slack.channel("square", members=[ada])
        await house.safe({square: "agate"})
        go = house.script("Slowly", "From", " what is said here, it is agate [1]. ", "And so on. " * 50)
        asked = await ada.mentions(square, "Slowly: what is the password?")
        await slack.until(lambda: slack.called("reactions.add"), slack_house.PATIENCE, "for the eyes")
        await asyncio.sleep(0.5)
        assert slack.replies(ada, square, asked.root) == []
        go.set()
        await house.settled()
        [answer] = slack.replies(ada, square, asked.root)
        posted = [call for call in slack.called("chat.postMessage") if call.args.get("thread_ts") == asked.root]
        assert len(str(posted[0].args["text"]).split()) > 3, "a notification shows it"
        assert "it is agate" in answer.text
        assert {"Sources", "Delete"} <= set(answer.buttons)
        [said] = [each for each in slack.sees(ada, square).entries if each.ts == asked.ts]
        assert not said.reactions
        assert told(await house.asks(ada, square)) == "agate"
        assert told(await house.in_private(ada)) == "agate"
        assert told(await house.whispers(ada, square)) == "agate"
        assert "/threadlore ask" in await house.calls(ada, square, "help")
        assert "#square" in await house.home(ada)
        assert not slack.called("chat.appendStream")
