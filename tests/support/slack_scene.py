"""A fake Slack with people, channels and messages, for the tests of the fake itself; and blocks to send."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.support.slack_server import Entry, FakeSlack, File, PayloadLimits, RateSettings


def text_chunk(text: str) -> dict[str, Any]:
    return {"type": "markdown_text", "text": text}


def section(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def row(kind: str, *elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "elements": list(elements)}


def button(text: str, value: str = "v", **more: Any) -> dict[str, Any]:
    return {"type": "button", "text": {"type": "plain_text", "text": text}, "value": value, **more}


CITATION = {"type": "citation", "url": "https://a.example", "text": "1", "index": 1}
TRASH = button("Delete", type="icon_button", icon="trash")
VOTE = {"text": {"type": "plain_text", "text": "Good"}, "value": "up"}
FEEDBACK = {"type": "feedback_buttons", "positive_button": VOTE, "negative_button": VOTE}
MARKDOWN = {"type": "markdown", "text": "x" * 6000}


class Scene:
    """Ada and Bob in #roof with a thread and the app's messages. Tables use the capital `names` instead of ids."""

    def __init__(self, slack: FakeSlack) -> None:
        self.slack = slack
        self.client = AsyncWebClient(slack.space.app.bot_token, slack.base_url, retry_handlers=[])
        self.ada, self.bob, self.eve = slack.user("Ada"), slack.user("Bob"), slack.stranger("Eve")
        self.roof = slack.channel("roof", members=[self.ada, self.bob])
        self.outside = slack.channel("outside", members=[self.ada], bot=False)
        self.hidden = slack.channel("hidden", members=[self.ada], kind="private", bot=False)
        self.attic = slack.channel("attic", members=[self.ada])

    async def set_up(self) -> None:
        slack, ada = self.slack, self.ada
        self.single = await ada.says(self.roof, "single", files=[File("a.txt", b"hello")])
        self.root = await ada.says(self.roof, "root")
        self.reply = await ada.says(self.roof, "reply", thread=self.root)
        self.names = {
            "ROOF": self.roof.id, "OUTSIDE": self.outside.id, "HIDDEN": self.hidden.id, "ATTIC": self.attic.id,
            "DIRECT": ada.direct.id, "ADA": ada.id, "EVE": self.eve.id, "TEAM": slack.space.team,
            "HERS": self.single.ts, "ROOT": self.root.ts, "REPLY": self.reply.ts,
        }  # fmt: skip
        self.names["OWN"] = (await self.call("chat.postMessage", channel="ROOF", text="own"))["ts"]
        start = {"channel": "ROOF", "thread_ts": "ROOT", "recipient_user_id": "ADA", "recipient_team_id": "TEAM"}
        for name in ("STOPPED", "STREAM"):
            self.names[name] = (await self.call("chat.startStream", **start, chunks=[text_chunk("x")]))["ts"]
        await self.call("chat.stopStream", channel="ROOF", ts="STOPPED")
        await self.call("reactions.add", channel="ROOF", timestamp="OWN", name="eyes")
        self.attic.channel.archived = True

    async def call(self, method: str, **args: Any) -> Any:
        filled = {key: self.names.get(value, value) if isinstance(value, str) else value for key, value in args.items()}
        return await self.client.api_call(method, json=filled)

    async def find_error(self, method: str, **args: Any) -> str:
        """The error of a call; empty if it succeeds."""
        try:
            await self.call(method, **args)
        except SlackApiError as error:
            return str(error.response["error"])
        return ""

    def entry(self, name: str) -> Entry:
        """A message as Ada sees it."""
        return next(each for each in self.slack.sees(self.ada, self.roof).all_entries() if each.ts == self.names[name])


@asynccontextmanager
async def open_scene(limits: PayloadLimits | None = None) -> AsyncIterator[Scene]:
    async with FakeSlack(rates=RateSettings(on=False), limits=limits) as slack:
        scene = Scene(slack)
        await scene.set_up()
        yield scene
