"""What the bot keeps of a reply and of an interaction, as strings. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

TOKEN_LIFETIME = 14 * 60.0  # seconds; Discord takes an interaction's token for fifteen minutes


@dataclass(frozen=True, slots=True)
class ReplyRef:
    """The messages of a reply, in order, and the channel they stand in.

    `handle`: of the interaction that alone can change them (a Handle as a string), empty if they are in a channel.
    """

    channel: str
    messages: tuple[str, ...]
    handle: str = ""

    def __str__(self) -> str:
        suffix = f":{self.handle}" if self.handle else ""
        return f"{self.channel}:{','.join(self.messages)}{suffix}" if self.messages else ""

    @classmethod
    def parse(cls, text: str) -> ReplyRef:
        """The mark that a string was made of."""
        channel, _, rest = text.partition(":")
        messages, _, handle = rest.partition(":")
        return cls(channel, tuple(part for part in messages.split(",") if part), handle)


@dataclass(frozen=True, slots=True)
class InteractionHandle:
    """How to answer an interaction: its token, and until when (a time of the clock) that is taken.

    `click`: of a button, whose first response was no message; `private`: only one person sees what it answers.
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
        """The handle that a string was made of; None of an empty one."""
        if not text:
            return None
        kind, until, interaction, application, token = text.split(":", 4)
        return cls(interaction, application, token, float(until), "p" in kind, "c" in kind)


def build_nonce(answer: str, part: int) -> str:
    """What makes a message one and the same however often it is sent: at most 25 characters."""
    return blake2b(f"{answer}:{part}".encode(), digest_size=12).hexdigest()
