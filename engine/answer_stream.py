"""What is done to the deltas of a model before they are an answer."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from engine.boundary import well_formed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


async def well_formed_deltas(deltas: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
    """The deltas as UTF-8 can hold them, also where a surrogate pair is split over two; closes `deltas`."""
    half = ""
    async with aclosing(deltas):
        async for delta in deltas:
            text = half + delta
            half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
            yield well_formed(text[: len(text) - len(half)])
    if half:
        yield well_formed(half)
