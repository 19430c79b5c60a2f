"""Requests of managers of a workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from bot.capabilities.answers.requests import AnswerId  # noqa: TC001  - read at run time

ChannelId = Annotated[str, Field(min_length=1, max_length=300)]
PersonId = Annotated[str, Field(min_length=1, max_length=100)]
ScheduleWords = Annotated[str, Field(max_length=100)]


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
    """Verify the answer to a question by the answer's id; with a text or a question, in these words.

    `channel` (its id): where an answer is verified that was given outside of the chat.
    """

    answer: str
    text: str = ""
    question: str = ""
    channel: str = ""


@dataclass(frozen=True, slots=True)
class GetAnswerActions:
    """List what you may do with an answer (its id) that you got outside of the chat."""

    answer: AnswerId


@dataclass(frozen=True, slots=True)
class AskExpert:
    """Ask an expert (their id) your question by the answer's id, in a channel (its id) where its readers see it."""

    answer: AnswerId
    channel: ChannelId
    person: PersonId


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
class ForgetChannel:
    """Have a channel (its id) forgotten for good: all of it, or only its messages or its files.

    `dry_run`: only say what would go.
    """

    channel: ChannelId
    content: Literal["", "messages", "files"] = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class BackfillChannel:
    """Read the history of a channel (its id), of so many days; without a number as many as the settings say."""

    channel: ChannelId
    days: Annotated[int, Field(ge=0, le=3650)] = 0


@dataclass(frozen=True, slots=True)
class SchedulePersonalDigest:
    """Schedule digests of what one can read, or end them (off); without a schedule: say what is scheduled."""

    schedule: ScheduleWords = ""


@dataclass(frozen=True, slots=True)
class ScheduleChannelDigest:
    """Schedule digests of a channel (its id), or end them (off); without a schedule: say what is scheduled."""

    channel: ChannelId
    schedule: ScheduleWords = ""


@dataclass(frozen=True, slots=True)
class ListExperts:
    """List the people to ask about a topic, of a channel (its id)."""

    channel: ChannelId


@dataclass(frozen=True, slots=True)
class AddExpert:
    """Name a person (their id) to ask about a topic in a channel (its id); they may verify answers there."""

    channel: ChannelId
    person: PersonId
    topic: Annotated[str, Field(min_length=1, max_length=60)]


@dataclass(frozen=True, slots=True)
class RemoveExpert:
    """Ask a person (their id) no more about a topic in a channel (its id), or about any."""

    channel: ChannelId
    person: PersonId
    topic: Annotated[str, Field(max_length=60)] = ""


@dataclass(frozen=True, slots=True)
class GetReport:
    """Get the report of the last seven days, in Markdown, about what you can read.

    What was asked, also in vain and of experts, what disagrees, and which files were not read.
    """


@dataclass(frozen=True, slots=True)
class ScheduleReport:
    """Be sent that report every week in direct messages, or no more."""

    schedule: Literal["weekly", "off"]


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
    | GetAnswerActions
    | AskExpert
    | PinAnswer
    | ListVerified
    | RemoveVerified
    | ForgetChannel
    | BackfillChannel
    | SchedulePersonalDigest
    | ScheduleChannelDigest
    | ListExperts
    | AddExpert
    | RemoveExpert
    | GetReport
    | ScheduleReport
    | GetUsage
    | GetHealth
)
