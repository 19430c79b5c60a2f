"""Progress of long work as people read it: "reading 3 of 42 files, about 2 minutes". Pure."""

from __future__ import annotations

from dataclasses import dataclass

NARROW = 60  # columns below which the counted things are not named
MIN_SECONDS = 3.0  # of work, before an estimate of the rest
STAGES = {  # what is done, and with what
    "parsing": ("reading", "file", "files"),
    "indexing": ("indexing", "document", "documents"),
    "importing": ("importing", "channel", "channels"),
    "estimating": ("estimating", "", ""),
    "reindexing": ("rebuilding", "index entry", "index entries"),
    "forgetting": ("forgetting", "document", "documents"),
    "applying": ("applying", "document", "documents"),
}


def describe_progress(stage: str, done: int, total: int, *, width: int = NARROW) -> str:
    """What is done, and how much of it, within so many columns."""
    verb, one, many = STAGES.get(stage, (stage, "", ""))
    if not total:
        return verb
    things = f" {one if total == 1 else many}" if many and width >= NARROW else ""
    return f"{verb} {done:,} of {total:,}{things}"


def describe_time(seconds: float) -> str:
    """About how long it takes."""
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {round(seconds / 10) * 10} seconds"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"about {minutes} minutes"
    hours = round(seconds / 3600)
    return f"about {hours} hours" if hours < 48 else f"about {round(hours / 24)} days"


@dataclass(slots=True)
class RemainingTime:
    """Estimates how long a stage still takes, from how fast what is left became less. Times in seconds."""

    stage: str = ""
    most: int = 0
    since: float = 0.0

    def estimate(self, stage: str, left: int, now: float) -> float | None:
        """The seconds that are left; None while too little is known. Work that grows starts the estimate anew."""
        if stage != self.stage or left > self.most:
            self.stage, self.most, self.since = stage, left, now
        done, seconds = self.most - left, now - self.since
        return left * seconds / done if left and done and seconds >= MIN_SECONDS else None
