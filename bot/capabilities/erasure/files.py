"""Receipts as files, and the public key, for those who have neither engine nor data at hand."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from bot.ingest.erasure.keys import find_key_path, load_or_create_key
from bot.ingest.erasure.receipt import check_signature, dump_receipt, parse_receipt
from bot.text.format import format_utc

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from bot.settings import Settings


def read_public_key(settings: Settings) -> str:
    """The public key of this installation, which is made if there is none. Raises BadSetting and OSError."""
    path = find_key_path(settings.data_path, settings.receipt_key_file)
    path.parent.mkdir(parents=True, exist_ok=True)
    return load_or_create_key(path).public_key


def write_receipt_file(receipt: Mapping[str, Any], file: Path) -> None:
    """Write a receipt into a file. Raises OSError."""
    file.expanduser().write_text(dump_receipt(receipt), encoding="utf-8")


def check_elsewhere(text: str, public_key: str) -> str:
    """Check a receipt of any installation by its public key; returns a sentence. Raises InvalidQuestion."""
    receipt = parse_receipt(text)
    check_signature(receipt, public_key.strip())
    time = format_utc(datetime.fromisoformat(receipt["time"]))
    return f"The receipt {receipt['id']} of {time} is signed by this key, and unchanged."
