"""Tell the texts at which the model fails from an outage of the model. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.errors import PROVIDER_ERRORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.errors import ModelError
    from engine.storage.ledger.records import UnextractedChunk


@dataclass(slots=True)
class Suspects:
    """The texts of calls that failed as in an outage. If the call of another text succeeds next, the text is at fault.

    `tried`: the chunks with which the model was tested in vain, so that the next test takes another one; `alone`:
    chunks of a shared call that failed because of one of them.
    """

    tried: set[int] = field(default_factory=set)
    alone: set[int] = field(default_factory=set)
    _last: tuple[Sequence[UnextractedChunk], ModelError] | None = None

    def record_failure(self, chunks: Sequence[UnextractedChunk], error: ModelError) -> None:
        """Record that a call failed as in an outage; only a timeout or an error of the server may be due to a text."""
        self.tried.update(chunk.id for chunk in chunks)
        self._last = None if isinstance(error, PROVIDER_ERRORS) else (chunks, error)

    def record_success(self, chunks: Sequence[UnextractedChunk]) -> tuple[UnextractedChunk, ModelError] | None:
        """Record that the model replied to the texts of a call; returns the one at fault for its last error."""
        self.tried.clear()
        self.alone.difference_update(chunk.id for chunk in chunks)
        if self._last is None:
            return None
        (failed, error), self._last, texts = self._last, None, {chunk.text for chunk in chunks}
        blamed = [chunk for chunk in failed if chunk.text not in texts]
        if len(failed) == 1:
            return (blamed[0], error) if blamed else None
        self.alone.update(chunk.id for chunk in blamed)
        return None

    @property
    def latest(self) -> UnextractedChunk | None:
        """A text of the last call that failed, if a text may be at fault, until each was tried once more."""
        return self._last[0][0] if self._last and self.tried else None

    def begin_round(self) -> None:
        """Test with the same texts again, since there are no others."""
        self.tried.clear()
