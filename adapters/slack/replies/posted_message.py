"""State of one posted message of an answer."""

from __future__ import annotations

from dataclasses import dataclass, field

KEEPALIVE_AFTER = 45.0  # seconds of silence before a keepalive; Slack ends idle streams


@dataclass(slots=True)
class PostedMessage:
    """A posted message. `text`: its content, None if unknown. `overflow_ids`: messages with the rest of a long text."""

    ts: str
    text: str | None
    is_streaming: bool
    updated_at: float
    overflow_ids: list[str] = field(default_factory=list)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the message and of its overflow messages."""
        return (self.ts, *self.overflow_ids)

    def is_silent(self, now: float) -> bool:
        """Whether the message is a stream that needs a keepalive."""
        return self.is_streaming and self.text is not None and now - self.updated_at >= KEEPALIVE_AFTER

    def can_grow_to(self, text: str) -> bool:
        """Whether the message is a stream whose text can be extended to `text`."""
        return self.is_streaming and self.text is not None and text.startswith(self.text)
