"""Messages on their way to a channel: posted and rewritten, paced, in the richest form that Slack takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.api.errors import code
from adapters.slack.api.retries import in_turn
from adapters.slack.replies import blocks
from adapters.slack.replies.blocks import OWN, Form
from adapters.slack.replies.mrkdwn import mrkdwn, plain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.api.rate_limits import Pace, Window
    from bot.platform.models import Button, Closing

log = structlog.get_logger(__name__)

ANSWER = f"{OWN}_answer"
CARD = f"{OWN}_card"
FALLBACK = 3000  # characters of the text that notifications show
FORM = frozenset(("invalid_blocks", "invalid_blocks_format", "invalid_arguments", "invalid_attachments"))
LONG = frozenset(("msg_too_long", "msg_blocks_too_long", "too_long", "markdown_text_too_long"))
POOR = 3  # messages in a row that were refused as rich ones, after which that is not tried any more
LITERAL: dict[str, Any] = {"parse": "none", "link_names": False}  # Slack makes no links of its own
QUIET: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}


@dataclass(frozen=True, slots=True)
class Letter:
    """A message: `text` is Markdown that mentions nobody; `end` and `buttons` stand below it; `about` is metadata."""

    text: str
    asker: str = ""
    end: Closing | None = None
    buttons: tuple[Button, ...] = ()
    about: Mapping[str, Any] = field(default_factory=lambda: {"event_type": CARD, "event_payload": {}})

    @property
    def fits(self) -> bool:
        """Whether all of it goes into one message."""
        return blocks.weight(self.blocks(Form.RICH)) <= blocks.WHOLE

    def blocks(self, form: Form) -> list[dict[str, Any]]:
        """The message as blocks."""
        row = blocks.buttons(self.buttons, form, block=f"{OWN}.card", asker=self.asker)
        return [*blocks.body(self.text, form), *self.below(form), *row]

    def below(self, form: Form) -> list[dict[str, Any]]:
        """What stands below an answer, as blocks."""
        if self.end is None:
            return []
        return blocks.closing(self.end, self.asker, form, room=blocks.WHOLE - len(self.text))

    def arguments(self, form: Form) -> dict[str, Any]:
        """What Slack is sent: the text alone has all of it, if there are no blocks."""
        if form is not Form.BARE:
            return {"text": plain(self.text, FALLBACK) or "…", "blocks": self.blocks(form)}
        whole = f"{mrkdwn(self.text)}\n\n{mrkdwn(blocks.below(self.end))}" if self.end else mrkdwn(self.text)
        return {"text": whole.strip() or "…"}


class Letters:
    """Posts and rewrites messages."""

    def __init__(self, client: AsyncWebClient, pace: Pace) -> None:
        self._client = client
        self._pace = pace
        self._least = Form.RICH
        self._poor = 0

    async def post(self, channel: str, thread: str, letter: Letter) -> str:
        """Post a message; gives its id. Raises what Slack refuses; `calls.lost`: it may stand there all the same."""

        async def send(given: Mapping[str, Any]) -> str:
            sent = await self._client.chat_postMessage(
                channel=channel, thread_ts=thread or None, metadata=dict(letter.about), **QUIET, **LITERAL, **given
            )
            return str(sent["ts"])

        return await self.formed(
            lambda form: self._turn(self._pace.posts(channel), send, letter.arguments(form), again=False)
        )

    async def update(self, channel: str, ts: str, letter: Letter, *, urgent: bool = False) -> None:
        """Rewrite a message; an urgent one comes before others. Raises what Slack refuses."""
        window = self._pace.urgent if urgent else self._pace.updates

        async def send(given: Mapping[str, Any]) -> str:
            await self._client.chat_update(
                channel=channel, ts=ts, metadata=dict(letter.about), **LITERAL, **{"blocks": [], **given}
            )
            return ts

        await self.formed(lambda form: self._turn(window, send, letter.arguments(form), again=True))

    async def formed(self, send: Callable[[Form], Awaitable[str]]) -> str:
        """Send in the richest form that is not refused. Raises what Slack refuses in every form."""
        for form in Form:
            if form < self._least:
                continue
            try:
                sent = await send(form)
            except SlackApiError as error:
                if code(error) not in FORM or form is Form.BARE:
                    raise
                log.warning("blocks_refused", form=form.name)
                continue
            self._note(form)
            return sent
        raise AssertionError

    def _note(self, form: Form) -> None:
        """Give the richest form up if it is refused again and again."""
        self._poor = self._poor + 1 if form > self._least else 0
        if self._poor >= POOR:
            self._least, self._poor = form, 0

    @staticmethod
    async def _turn(
        window: Window, send: Callable[[Mapping[str, Any]], Awaitable[str]], given: Mapping[str, Any], *, again: bool
    ) -> str:
        return await in_turn(window, lambda: send(given), again=again)
