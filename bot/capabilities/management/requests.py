"""Requests of managers. `subject` is that of the access token; a person has to be a manager of their workspace."""

from __future__ import annotations

from dataclasses import dataclass

from bot.capabilities.documents.requests import OF_TOKEN
from bot.store import Subject  # noqa: TC001  - the socket reads the fields' types at run time


@dataclass(frozen=True, slots=True)
class ListChannels:
    """List the channels of the workspace that the manager can read."""

    subject: Subject = OF_TOKEN


@dataclass(frozen=True, slots=True)
class GetChannel:
    """Get a channel with its settings."""

    room: str
    subject: Subject = OF_TOKEN


@dataclass(frozen=True, slots=True)
class ChangeChannel:
    """Change settings of a channel, all or none: names and values as they are typed in the chat."""

    room: str
    values: tuple[tuple[str, str], ...]
    subject: Subject = OF_TOKEN


@dataclass(frozen=True, slots=True)
class ListQuestions:
    """List questions without a good answer: of open channels, and of one channel (`room`)."""

    room: str = ""
    subject: Subject = OF_TOKEN


@dataclass(frozen=True, slots=True)
class VerifyAnswer:
    """Verify the answer to a question by the answer's id; with a text, in these words."""

    answer: str
    text: str = ""
    subject: Subject = OF_TOKEN


@dataclass(frozen=True, slots=True)
class PinAnswer:
    """Give an answer of one's own to a question in a channel; it replaces the verified one to the same question."""

    room: str
    question: str
    text: str
    subject: Subject = OF_TOKEN


@dataclass(frozen=True, slots=True)
class ListVerified:
    """List the verified answers of a channel, or of all channels that the manager can read."""

    room: str = ""
    subject: Subject = OF_TOKEN


@dataclass(frozen=True, slots=True)
class RemoveVerified:
    """Remove a verified answer of a channel."""

    room: str
    id: str
    subject: Subject = OF_TOKEN


@dataclass(frozen=True, slots=True)
class GetUsage:
    """Get tokens, cost and feedback of the last days."""

    days: int = 30
    subject: Subject = OF_TOKEN


@dataclass(frozen=True, slots=True)
class GetHealth:
    """Get the state of the program, its connections and its queues."""

    subject: Subject = OF_TOKEN


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
