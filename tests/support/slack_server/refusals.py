"""How Slack says no."""

from __future__ import annotations

from typing import Any


class SlackError(Exception):
    """A call is answered with `ok: false`; `status` is 200 but for rate limits and broken servers."""

    def __init__(self, error: str, *messages: str, status: int = 200, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.retry_after = 0
        self.more = more
        if messages:
            self.more["response_metadata"] = {"messages": [f"[ERROR] {message}" for message in messages]}

    @property
    def body(self) -> dict[str, Any]:
        return {"ok": False, "error": self.error, **self.more}
