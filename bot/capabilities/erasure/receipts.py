"""List the receipts that were kept, and compare a receipt with what is stored now."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.capabilities.documents.forget import erase_bytes
from bot.capabilities.results import Listing, ProgressUpdate, ReceiptChecked, ReceiptFound
from bot.errors import NotPermitted
from bot.i18n import gettext
from bot.ingest.erasure.receipt import check_signature, describe_counts, parse_receipt
from bot.text.format import format_list, format_utc, pluralize
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.erasure.requests import ListReceipts, VerifyReceipt
    from bot.capabilities.results import OperationResult
    from bot.ingest.erasure.service import Erasures
    from bot.store.erasure.receipts import StoredReceipt

COLUMNS = ("id", "time", "action", "erased")


async def list_receipts(deps: Deps, caller: Caller, request: ListReceipts) -> AsyncGenerator[OperationResult]:
    """Yield the caller's receipts as a list, or one. Raises NotFound."""
    if request.id:
        found = await _find_receipt(deps, caller, request.id)
        yield ReceiptFound(_describe(found), json.loads(found.document))
        return
    parts = await deps.parts.open()
    rows = await parts.store.receipts.list_newest(_find_owner(parts.ingest.erasures, caller))
    yield Listing(COLUMNS, tuple((row.id, format_utc(row.time), row.action, _count(row)) for row in rows))


async def verify_receipt(deps: Deps, caller: Caller, request: VerifyReceipt) -> AsyncGenerator[OperationResult]:
    """Yield whether something of a receipt is stored. Raises InvalidQuestion, NotFound and NotPermitted."""
    if request.erase_again and not caller.is_owner:
        raise NotPermitted(gettext("Only whoever runs the program erases again what a restored backup brought back."))
    text = request.receipt
    if not text.lstrip().startswith("{"):
        text = (await _find_receipt(deps, caller, text.strip())).document
    receipt, ingest = parse_receipt(text), (await deps.parts.open()).ingest
    check_signature(receipt, ingest.erasures.load_key().public_key)
    yield ProgressUpdate("verifying")
    remaining = await ingest.erasures.find_remaining(receipt)
    counts = {
        "documents": len(remaining.documents),
        "messages": len(remaining.messages),
        "answers": len(remaining.answers),
    }
    if not remaining or not request.erase_again:
        yield ReceiptChecked(_say_remaining(receipt, counts), counts)
        return
    await ingest.erase_again(remaining)
    async for step in erase_bytes(deps):
        yield step
    left = await ingest.erasures.find_remaining(receipt)
    again = gettext("It was erased again.") if not left else gettext("Not all of it could be erased again.")
    yield ReceiptChecked(f"{_say_remaining(receipt, counts)} {again}", counts, erased_again=not left)


def _say_remaining(receipt: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    signed = gettext("The receipt {id} of {time} is signed by this installation.").format(
        id=receipt["id"], time=format_utc(datetime.fromisoformat(receipt["time"]))
    )
    kinds = (
        (counts["documents"], pluralize(counts["documents"], "{count} document", "{count} documents")),
        (counts["messages"], pluralize(counts["messages"], "{count} message", "{count} messages")),
        (counts["answers"], pluralize(counts["answers"], "{count} answer", "{count} answers")),
    )
    there = [words for count, words in kinds if count]
    if not there:
        return f"{signed} " + gettext("Nothing that it names is stored.")
    return f"{signed} " + gettext("Stored again of what it names: {what}.").format(what=format_list(there))


def _find_owner(erasures: Erasures, caller: Caller) -> str | None:
    """The keyed name of the caller, of whom receipts are listed; None for the operator."""
    if caller.is_owner:
        return None
    return erasures.name_owner(erasures.load_key(), caller.subject)


async def _find_receipt(deps: Deps, caller: Caller, id_: str) -> StoredReceipt:
    parts = await deps.parts.open()
    found, owner = await parts.store.receipts.get(id_), _find_owner(parts.ingest.erasures, caller)
    if found is None or (owner is not None and found.owner != owner):
        raise NotFound(gettext("You have no receipt {id}.").format(id=id_))
    return found


def _count(receipt: StoredReceipt) -> str:
    return describe_counts(json.loads(receipt.document)["counts"])


def _describe(receipt: StoredReceipt) -> str:
    return gettext("Receipt {id} of {time}, {action}: {what}.").format(
        id=receipt.id,
        time=format_utc(receipt.time),
        action=receipt.action,
        what=_count(receipt) or gettext("nothing"),
    )
