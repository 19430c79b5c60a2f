"""Where the documents of a source belong, and who can read them: decided once, and said in words before it is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import BadSetting
from bot.i18n import gettext
from bot.permissions.audience import parse_workspace_space, workspace_space
from bot.platform.models import Location
from bot.text.format import format_duration, pluralize

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.ingest.sources.sync import SyncProgress
    from bot.platform.document_source import Noun
    from bot.store.schedules.sources import SourceRecord

SOURCE_PLATFORM = "source"  # in place of a platform, in the rooms of sources that belong to no channel
OPEN = "open"  # in place of a channel: all open channels of the workspace
_PLACE = re.compile(r"([a-z]{1,40}):([A-Za-z0-9]{1,40})(?::([A-Za-z0-9]{1,40}))?")
_NAME = re.compile(r"[^\w.-]+")
MAX_NAME = 40


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """Who reads a source: a space of the terminal, a channel, or with neither `channel` nor `terminal` a workspace."""

    terminal: str = ""
    channel: Location | None = None
    workspace: tuple[str, str] = ("", "")

    def find_space(self) -> str:
        """The space of its documents; of a channel the one that it alone reads, until its audience is looked up."""
        if self.terminal:
            return self.terminal
        return self.channel.room if self.channel is not None else workspace_space(*self.workspace)

    def build_room(self, id_: str, name: str) -> str:
        """The room of the documents: the channel, or one of the source."""
        return self.channel.room if self.channel is not None else f"{SOURCE_PLATFORM}:{id_}:{name}"


def parse_place(into: str, platforms: Collection[str]) -> SourcePlace:
    """A place such as `chat:T0123` (the open channels of a workspace) or `chat:T0123:C0456`. Raises BadSetting."""
    match = _PLACE.fullmatch(into)
    if match is None or match[1] not in platforms or (match[3] or "").casefold() in {OPEN, "adult", "dm"}:
        known = " or ".join(f"{platform}:ID" for platform in sorted(platforms))
        raise BadSetting(f"“{into}” is no workspace or channel.", hint=f"Write {known}, and :ID for a single channel.")
    if match[3]:
        return SourcePlace(channel=Location(match[1], match[2], match[3]))
    return SourcePlace(workspace=(match[1], match[2]))


def is_own_room(record: SourceRecord) -> bool:
    """Whether the documents of a source are alone in their room."""
    return record.room.startswith(f"{SOURCE_PLATFORM}:")


def find_workspace(record: SourceRecord) -> Location | None:
    """The workspace of the people who read a source, in none or one of its channels; None for a terminal."""
    if not is_own_room(record):
        return Location.from_room(record.room)
    workspace = parse_workspace_space(record.space)
    return Location(*workspace, "") if workspace else None


def clean_source_name(name: str, address: str) -> str:
    """A name without characters that separate words and parts of a room: the one given, or the end of the address."""
    last = name or address.rstrip("/").rpartition("/")[2].removesuffix(".git")
    cleaned = _NAME.sub("-", last).strip("-.")[:MAX_NAME].casefold()
    return cleaned or "source"


def describe_progress(noun: Noun, step: SyncProgress, seconds: float) -> str:
    """How far the reading of a source is after some seconds, and how long it takes yet, in the active language."""
    text = gettext("reading {done} of {total}").format(done=step.done, total=count_nouns(noun, step.total))
    if not step.done or step.done >= step.total:
        return text
    left = format_duration(seconds / step.done * (step.total - step.done))
    return gettext("{progress}, about {duration}").format(progress=text, duration=left)


def count_nouns(noun: Noun, count: int) -> str:
    """A number of documents by what they are, in the active language."""
    match noun:
        case "file":
            return pluralize(count, "{count} file", "{count} files")
        case "page":
            return pluralize(count, "{count} page", "{count} pages")
        case "message":
            return pluralize(count, "{count} message", "{count} messages")
    return pluralize(count, "{count} document", "{count} documents")
