"""Requests that erase something, those about the receipts of that, and their results."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  - read at run time
from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003  - read at run time
from typing import Annotated, Any

from pydantic import Field


@dataclass(frozen=True, slots=True)
class Forget:
    """Forget one document by key, title, link or path (relative to `working_dir`), also from the bytes of the files.

    The path of a chat export means all its conversations, a person's link to a message that message. `dry_run`: only
    say what would go.
    """

    document: str
    working_dir: str = "/"
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ForgetWorkspace:
    """Forget everything of a workspace that the bot left; its bytes leave the files too. `dry_run` as in Forget."""

    platform: str
    workspace: str
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ForgetMe:
    """Forget what the person wrote, shared and asked, and read their messages no more; they remain in the chat.

    `dry_run`: only say what would go.
    """

    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ListReceipts:
    """List the receipts of what you had forgotten, or get the one with this `id`; the operator sees all of them."""

    id: Annotated[str, Field(max_length=100)] = ""


@dataclass(frozen=True, slots=True)
class VerifyReceipt:
    """Check the signature of a receipt (its JSON, or the id of one that is kept), and that nothing it names is stored.

    `erase_again`: what is stored again, such as after the restore of an older backup; only the operator may ask for it.
    """

    receipt: Annotated[str, Field(min_length=1, max_length=64 * 1024 * 1024)]
    erase_again: bool = False


ErasureRequest = Forget | ForgetWorkspace | ForgetMe | ListReceipts | VerifyReceipt


@dataclass(frozen=True, slots=True)
class Completed:
    """The request is completed; the text is a sentence for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Forgotten(Completed):
    """A document of a room that was forgotten, with its title; or a message, with its time.

    `keys`: of the documents or the message; of what one person shared with the bot alone there is only the number,
    `private`, because its keys name them.
    """

    title: str = ""
    passages: int = 0
    room: str = ""
    time: datetime | None = None
    keys: tuple[str, ...] = ()
    private: int = 0
    receipt: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Erased(Completed):
    """A completed erasure. `receipt`: signed; empty if it could not be signed."""

    receipt: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ErasureRehearsal(Completed):
    """What an erasure would take: how much by kind, and the questions of answers that the caller may see."""

    counts: Mapping[str, int] = field(default_factory=dict)
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReceiptFound(Completed):
    """A receipt that was kept."""

    receipt: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReceiptChecked(Completed):
    """A signed receipt was compared with what is stored. `remaining`: how much of it is there, by kind."""

    remaining: Mapping[str, int] = field(default_factory=dict)
    erased_again: bool = False
