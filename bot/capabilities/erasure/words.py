"""Say in one sentence what an erasure took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.i18n import gettext
from bot.ingest.erasure.receipt import describe_counts

if TYPE_CHECKING:
    from collections.abc import Mapping


def say_receipt(receipt: Mapping[str, Any]) -> str:
    """A receipt in one sentence; "" without one."""
    if not receipt:
        return ""
    what = describe_counts(receipt["counts"]) or gettext("nothing")
    return gettext("Receipt {id}: {what}.").format(id=receipt["id"], what=what)
