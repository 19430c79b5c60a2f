"""Requests that erase something, and those about the receipts of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

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
