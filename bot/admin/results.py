"""What comes back while a request is worked on, as records which also travel over the local socket."""

from __future__ import annotations

from dataclasses import dataclass

from engine.models import Context, EntityRow, Message, RelationRow, Source  # noqa: TC001  - as below
from engine.storage.ledger.queries.stats import Listed, Status  # noqa: TC001  - the socket reads the fields' types at run time
from engine.usage import Usage  # noqa: TC001  - as above


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found for a question, before the first word of its answer."""

    entities: int
    relations: int
    passages: int


@dataclass(frozen=True, slots=True)
class Said:
    """The next piece of an answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Cited:
    """The answer has ended: its sources by number, what it took, and whether the model stopped before its end.

    `undated`: documents without a date were left out of the span of time that was asked about. `truncated`: of that
    span only the newest part was taken in. `filtered`: a content filter of the provider stopped the model.
    """

    sources: tuple[Source, ...]
    usage: tuple[Usage, ...]
    cut_off: bool = False
    undated: bool = False
    truncated: bool = False
    filtered: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A context without an answer."""

    context: Context


@dataclass(frozen=True, slots=True)
class Prompted:
    """What the model would be sent."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Advanced:
    """Some of the work is done: `done` of `total` in this stage; 0 of 0 while nobody knows how much there is.

    `trouble`: what it waits for, if anything keeps it from going on. `inside`: what is left within the things counted.
    """

    stage: str
    done: int = 0
    total: int = 0
    trouble: str = ""
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A file or document that could not be taken in, why, and what to do."""

    what: str
    error: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Ingested:
    """The end of an ingest; documents are files and conversations.

    `trouble`: why some of them are not indexed yet, if a model was out of reach too long.
    """

    files: int
    documents: int
    changed: int
    seconds: float
    failures: tuple[Failure, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """The numbers of some spaces."""

    status: Status


@dataclass(frozen=True, slots=True)
class Catalogued:
    """The documents of some spaces."""

    documents: tuple[Listed, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """An entity and its relations."""

    entity: EntityRow
    relations: tuple[RelationRow, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """What a verification found, in words; `repaired` if it was mended."""

    differences: tuple[str, ...]
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an export, without its end."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """It was done; a sentence says what."""

    text: str


Event = (
    Recalled | Said | Cited | Found | Prompted | Advanced | Ingested | Told | Catalogued | Seen | Compared | Line | Done
)
