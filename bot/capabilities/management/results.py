"""Results for managers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime  # noqa: TC003  - the socket reads the fields' types at run time
from typing import Literal

from bot.platform.forms import FormField  # noqa: TC001  - as above


@dataclass(frozen=True, slots=True)
class ChannelEntry:
    """A channel: its name, who can read it, whether and how much of it is read.

    `is_backfilling`: its past is being fetched.
    """

    room: str
    name: str
    kind: Literal["open", "closed"]
    is_read: bool
    documents: int
    is_backfilling: bool = False


@dataclass(frozen=True, slots=True)
class WorkspaceChannels:
    """The channels of a workspace."""

    channels: tuple[ChannelEntry, ...]


@dataclass(frozen=True, slots=True)
class ChannelResult:
    """A channel with the fields of its settings, by the titles of their groups."""

    channel: ChannelEntry
    groups: tuple[tuple[str, tuple[FormField, ...]], ...]


@dataclass(frozen=True, slots=True)
class QuestionEntry:
    """Questions that ask nearly the same and have no good answer: the newest, and how often it was asked.

    `answer`: the id of the newest one's answer, `text` what it says: empty if it found nothing, or if the manager may
    not read all of its sources. `reasons`: why it did not help. `room` and `channel`: empty, as `askers`, for one that
    was asked outside of the chat.
    """

    answer: str
    question: str
    room: str
    channel: str
    time: datetime
    link: str
    count: int
    votes_down: int
    askers: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class VerifiedEntry:
    """A verified answer. One that is `withdrawn` lost a source, and has neither question nor text anymore."""

    id: str
    room: str
    channel: str
    question: str
    text: str
    verifier: str
    verified_at: datetime
    link: str
    is_withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class QuestionList:
    """Questions without a good answer, the most frequent first, and verified answers to look at again."""

    questions: tuple[QuestionEntry, ...]
    withdrawn: tuple[VerifiedEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class VerifiedList:
    """Verified answers by channel, the newest first."""

    answers: tuple[VerifiedEntry, ...]


@dataclass(frozen=True, slots=True)
class DayUsage:
    """What a workspace used on a day (UTC): answers in the chat, tokens and cost (US dollars) of all its questions.

    `votes_up` and `votes_down`: of the answers of that day. `indexing_tokens` and `indexing_cost`: what extraction,
    summaries and embeddings took for what the workspace wrote.
    """

    day: date
    answers: int = 0
    tokens: int = 0
    cost: float = 0.0
    votes_up: int = 0
    votes_down: int = 0
    indexing_tokens: int = 0
    indexing_cost: float = 0.0


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The usage of a workspace, or of a space of the terminal, by day, the oldest first."""

    workspace: str
    days: tuple[DayUsage, ...]


@dataclass(frozen=True, slots=True)
class PlatformState:
    """A platform, and the seconds since its last sign of life; None if there was none."""

    name: str
    silent_seconds: float | None


@dataclass(frozen=True, slots=True)
class CheckedModel:
    """What the last check found of the model of a role: what it can do, and problems with what to change."""

    role: str
    model: str
    summary: str
    problems: tuple[str, ...]
    checked_at: datetime


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The state of the program, as far as it concerns a manager.

    `status`: ok, degraded or failing, with its `reasons`. `waiting_events`: of all workspaces, for the owner only.
    `oldest_event_seconds`: of the manager's workspace, or of all. `models`: by purpose. `checks`: of them, and
    `languages`: which are in force and why, for the owner only.
    """

    status: str
    reasons: tuple[str, ...]
    version: str
    platforms: tuple[PlatformState, ...]
    models: tuple[tuple[str, str], ...]
    waiting_events: int | None = None
    oldest_event_seconds: float | None = None
    checks: tuple[CheckedModel, ...] = ()
    languages: str = ""


@dataclass(frozen=True, slots=True)
class ReviewPlace:
    """A channel in which answers can be verified."""

    room: str
    name: str
    is_closed: bool


@dataclass(frozen=True, slots=True)
class ExpertChoice:
    """A person to ask about a topic, in the channel where they were named."""

    person: str
    name: str
    topic: str
    room: str
    channel: str


@dataclass(frozen=True, slots=True)
class AnswerActions:
    """What somebody may do with an answer: verify or correct it in these channels, ask one of these experts.

    `has_sources`: it says something that can be verified as it is.
    """

    question: str = ""
    text: str = ""
    has_sources: bool = False
    places: tuple[ReviewPlace, ...] = ()
    experts: tuple[ExpertChoice, ...] = ()


ManagementResult = (
    AnswerActions | WorkspaceChannels | ChannelResult | QuestionList | VerifiedList | UsageReport | HealthReport
)
