"""HTTP mode: payloads are posted to the request URL of the app, signed with its secret."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import aiohttp
from slack_sdk.signature import SignatureVerifier

if TYPE_CHECKING:
    from engine import Clock
    from tests.support.slack_server.state import JSON

SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"


def encode_payload(kind: str, payload: JSON) -> tuple[str, str]:
    """The body and the content type of a payload."""
    if kind == "events_api":
        return json.dumps(payload), "application/json"
    form = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
    return urlencode(form), "application/x-www-form-urlencoded"


def sign(body: str, now: float, secret: str = SIGNING_SECRET) -> dict[str, str]:
    """The headers of a request that Slack signs now."""
    timestamp = str(int(now))
    signature = SignatureVerifier(secret).generate_signature(timestamp=timestamp, body=body)
    return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": signature or ""}


@dataclass(frozen=True, slots=True)
class RequestUrl:
    """Where the app receives requests."""

    url: str
    clock: Clock
    secret: str = SIGNING_SECRET

    async def post(
        self,
        kind: str,
        payload: JSON,
        attempt: int,
        reason: str,
        timeout: float,  # noqa: ASYNC109
    ) -> tuple[str, JSON | None]:
        """Post once; gives the reason of a failure, and the JSON of the answer if it has one."""
        body, content_type = encode_payload(kind, payload)
        headers = {"Content-Type": content_type, **sign(body, self.clock.time(), self.secret)}
        if attempt:
            headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": reason}
        limit = aiohttp.ClientTimeout(total=timeout)
        try:
            async with (
                aiohttp.ClientSession(timeout=limit) as session,
                session.post(self.url, data=body.encode(), headers=headers) as response,
            ):
                text = await response.text()
        except TimeoutError:
            return "http_timeout", None
        except aiohttp.ClientError:
            return "connection_failed", None
        if response.status >= 300:
            return "http_error", None
        return "", json.loads(text) if text.startswith("{") else None
