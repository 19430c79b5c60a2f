"""Payloads as Slack sends them."""

from __future__ import annotations

from typing import Any

from adapters.slack.identity import BotIdentity

US = BotIdentity(team="T1", user="UBOT", bot="BBOT", url="https://small.slack.com/")


def envelope(event: dict[str, Any], event_id: str = "Ev1") -> dict[str, Any]:
    return {"type": "event_callback", "team_id": "T1", "event_id": event_id, "event": event}


def message(text: str = "hello", **more: Any) -> dict[str, Any]:
    said = {"type": "message", "channel": "C1", "channel_type": "channel", "user": "UADA", "ts": "1700000000.000100"}
    return {**said, "text": text, **more}
