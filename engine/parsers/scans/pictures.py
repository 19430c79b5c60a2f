"""Parse pictures: they hold no text of their own."""

from __future__ import annotations

from typing import NoReturn

from engine.errors import EmptyDocument


def parse(name: str, data: bytes) -> NoReturn:  # noqa: ARG001 - the bytes are looked at by recognition alone
    """Raise EmptyDocument, so that the picture is read as a scan, or refused."""
    raise EmptyDocument(f"There is no text in {name}: it is a picture.")
