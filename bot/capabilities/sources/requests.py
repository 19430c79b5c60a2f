"""Requests for sources of documents outside of the chat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

SourceName = Annotated[str, Field(min_length=1, max_length=100)]


@dataclass(frozen=True, slots=True)
class ListSources:
    """List the sources that are read for places that you can read."""


@dataclass(frozen=True, slots=True)
class AddSource:
    """Have the documents at an address read regularly; unless `confirmed`, only say who could find how much.

    `channel`: the id of a channel, whose readers find them; or, for all of the workspace, "open". `minutes`: between
    two readings; 0 for the usual ones.
    """

    address: Annotated[str, Field(min_length=1, max_length=2048)]
    channel: Annotated[str, Field(max_length=300)] = ""
    name: Annotated[str, Field(max_length=100)] = ""
    confirmed: bool = False
    source_kind: Annotated[str, Field(max_length=40)] = ""
    minutes: Annotated[int, Field(ge=0, le=43_200)] = 0
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RemoveSource:
    """Remove a source and forget its documents; unless `confirmed`, only say what would go."""

    name: SourceName
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class SyncSource:
    """Read a source now, or all. `forget_missing`: forget what is gone, even if that is most of it."""

    name: Annotated[str, Field(max_length=100)] = ""
    forget_missing: bool = False


@dataclass(frozen=True, slots=True)
class PauseSource:
    """Read a source no longer by itself; or, unless `paused`, regularly again. What was read of it stays."""

    name: SourceName
    paused: bool = True


@dataclass(frozen=True, slots=True)
class ListUnreadItems:
    """List what of a source was not read, and why."""

    name: SourceName


SourceRequest = ListSources | AddSource | RemoveSource | SyncSource | PauseSource | ListUnreadItems
