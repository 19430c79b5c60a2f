"""Sources for the tests of the embedded language."""

from __future__ import annotations

from datetime import datetime

from engine.models import Source


def source(number: int, text: str, document: str = "", title: str = "", label: str = "") -> Source:
    """A numbered passage; of a chat line its author and time are taken from it."""
    author = text[19:].partition(":")[0] if text.startswith("[2") else ""
    time = datetime.fromisoformat(f"{text[1:17]}:00+00:00") if text.startswith("[2") else None
    return Source(
        number, document or f"d{number}", f"p{number}", title, label, "", author, time, text, "s", "r", f"c{number}"
    )
