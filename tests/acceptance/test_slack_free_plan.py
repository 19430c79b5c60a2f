"""The whole bot in a workspace without Slack's agent features: no streams, no status, no prompts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.demos.slack_day import load_manifest
from tests.support.slack_server import FakeSlack
from tests.support.town import slack_bot as slack_house
from tests.support.verbatim_language import find_secrets

if TYPE_CHECKING:
    from pathlib import Path

    from bot.bootstrap import EngineModels

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_everything_works_on_a_free_plan(tmp_path: Path, able: EngineModels) -> None:
    async with slack_house.open_slack_bot(
        tmp_path / "free", able, FakeSlack(load_manifest("manifest-free.json"))
    ) as house:
        slack = house.slack
        ada = slack.user("Ada")
        square = slack.channel("square", members=[ada])
        await house.post_passwords({square: "agate"})
        go = house.script_answer("Slowly", "From", " what is said here, it is agate [1]. ", "And so on. " * 50)
        asked = await ada.mentions(square, "Slowly: what is the password?")
        await slack.wait_for(lambda: slack.calls_to("reactions.add"), slack_house.PATIENCE, "for the eyes")
        await asyncio.sleep(0.5)
        assert slack.replies(ada, square, asked.root) == []
        go.set()
        await house.wait_until_idle()
        [answer] = slack.replies(ada, square, asked.root)
        posted = [call for call in slack.calls_to("chat.postMessage") if call.args.get("thread_ts") == asked.root]
        assert len(str(posted[0].args["text"]).split()) > 3, "a notification shows it"
        assert "it is agate" in answer.text
        assert {"Sources", "Delete"} <= set(answer.buttons)
        [said] = [each for each in slack.sees(ada, square).entries if each.ts == asked.ts]
        assert not said.reactions
        assert find_secrets(await house.ask_by_mention(ada, square)) == "agate"
        assert find_secrets(await house.ask_in_dm(ada)) == "agate"
        assert find_secrets(await house.ask_privately(ada, square)) == "agate"
        assert "/threadlore ask" in await house.run_command(ada, square, "help")
        assert "#square" in await house.home_text(ada)
        assert not slack.calls_to("chat.appendStream")
