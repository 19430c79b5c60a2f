"""What is done to the deltas of a model before they are an answer."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from engine.boundary import well_formed
from engine.fence_unwrapper import FenceUnwrapper
from engine.visibility import VisibleHead

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from engine.citing import Citing


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


class ShownText:
    """Fed with the deltas of an answer, gives what its reader sees; nothing until something of that can be seen."""

    def __init__(self, citing: Citing) -> None:
        self._citing = citing
        self._unwrapper = FenceUnwrapper()
        self._head = VisibleHead()

    @property
    def visible(self) -> bool:
        """Whether anything can be seen of what was given."""
        return self._head.seen

    def feed(self, delta: str) -> str:
        """What can be shown once `delta` has come, too."""
        return self._head.feed(self._citing.feed(self._unwrapper.feed(delta)))

    def close(self) -> str:
        """The rest, at the end of the answer."""
        return self._head.feed(self._citing.feed(self._unwrapper.close()) + self._citing.close())
