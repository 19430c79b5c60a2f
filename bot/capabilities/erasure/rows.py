"""The rows of the table of capabilities that are about receipts of erasures."""

from __future__ import annotations

from bot.capabilities.erasure import requests as erasure
from bot.capabilities.row import Capability, Surface

KEPT_RECEIPTS = (
    "The chat sends one that was kept as a file, and compares it at once; the terminal and programs have its text. Only"
    " the terminal erases again what a restored backup brought back."
)
ERASURE_ROWS = (
    Capability(
        "receipts",
        erasure.ListReceipts,
        ".erasure.receipts:list_receipts",
        Surface.CHAT | Surface.CLI | Surface.HTTP,
        permission="read",
        summary="receipts of what you had forgotten",
        derived=Surface.HTTP,
        kept=KEPT_RECEIPTS,
    ),
    Capability(
        "verify-receipt",
        erasure.VerifyReceipt,
        ".erasure.receipts:verify_receipt",
        Surface.CHAT | Surface.CLI | Surface.HTTP,
        permission="read",
        summary="check that what was forgotten is not stored",
        derived=Surface.HTTP,
        kept=KEPT_RECEIPTS,
    ),
)
