"""Requests of managers of a workspace."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListChannels:
    """List the channels of the workspace that the manager can read."""


@dataclass(frozen=True, slots=True)
class GetChannel:
    """Get a channel with its settings."""

    room: str


@dataclass(frozen=True, slots=True)
class ChangeChannel:
    """Change settings of a channel, all or none: names and values as they are typed in the chat."""

    room: str
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ListQuestions:
    """List questions without a good answer: of open channels, and of one channel (`room`)."""

    room: str = ""


@dataclass(frozen=True, slots=True)
class VerifyAnswer:
    """Verify the answer to a question by the answer's id; with a text, in these words."""

    answer: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class PinAnswer:
    """Give an answer of one's own to a question in a channel; it replaces the verified one to the same question."""

    room: str
    question: str
    text: str


@dataclass(frozen=True, slots=True)
class ListVerified:
    """List the verified answers of a channel, or of all channels that the manager can read."""

    room: str = ""


@dataclass(frozen=True, slots=True)
class RemoveVerified:
    """Remove a verified answer of a channel."""

    room: str
    id: str


@dataclass(frozen=True, slots=True)
class GetUsage:
    """Get tokens, cost and feedback of the last days."""

    days: int = 30


@dataclass(frozen=True, slots=True)
class GetHealth:
    """Get the state of the program, its connections and its queues."""


ManagementRequest = (
    ListChannels
    | GetChannel
    | ChangeChannel
    | ListQuestions
    | VerifyAnswer
    | PinAnswer
    | ListVerified
    | RemoveVerified
    | GetUsage
    | GetHealth
)
