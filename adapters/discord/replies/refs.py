"""String forms of reply references and interaction handles, which the bot stores. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

TOKEN_LIFETIME = 14 * 60.0  # seconds; Discord accepts a token for fifteen minutes


@dataclass(frozen=True, slots=True)
class ReplyRef:
    """The messages of a reply, in order, and their channel.

    `handle`: the InteractionHandle, as a string, needed to edit ephemeral messages; empty for others.
    """

    channel: str
    messages: tuple[str, ...]
    handle: str = ""

    def __str__(self) -> str:
        suffix = f":{self.handle}" if self.handle else ""
        return f"{self.channel}:{','.join(self.messages)}{suffix}" if self.messages else ""

    @classmethod
    def parse(cls, text: str) -> ReplyRef:
        """Parse a reply reference."""
        channel, _, rest = text.partition(":")
        messages, _, handle = rest.partition(":")
        return cls(channel, tuple(part for part in messages.split(",") if part), handle)


@dataclass(frozen=True, slots=True)
class InteractionHandle:
    """How to respond to an interaction: its token and the expiry of that (Unix time).

    `is_button`: a pressed button, whose first response is no message; `is_private`: responses are ephemeral.
    """

    interaction: str
    application: str
    token: str
    expires_at: float
    is_private: bool
    is_button: bool

    def __str__(self) -> str:
        kind = f"{'p' if self.is_private else ''}{'c' if self.is_button else ''}"
        return f"{kind}:{self.expires_at:.0f}:{self.interaction}:{self.application}:{self.token}"

    @classmethod
    def parse(cls, text: str) -> InteractionHandle | None:
        """Parse a handle; None for an empty string."""
        if not text:
            return None
        kind, until, interaction, application, token = text.split(":", 4)
        return cls(interaction, application, token, float(until), "p" in kind, "c" in kind)


def build_nonce(answer: str, part: int) -> str:
    """Derive the nonce of a part: the same for each attempt, at most 25 characters."""
    return blake2b(f"{answer}:{part}".encode(), digest_size=12).hexdigest()
