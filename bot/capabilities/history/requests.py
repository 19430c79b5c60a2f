"""The request for the life of a fact, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from engine import Source  # noqa: TC001  - the socket reads the fields' types at run time
from engine.llm.offline.supersession.history import Step  # noqa: TC001  - as above


@dataclass(frozen=True, slots=True)
class GetHistory:
    """Get what you can read about a name, or about what a question asks: said, repeated, contradicted, replaced."""

    subject: Annotated[str, Field(min_length=1, max_length=500)]


@dataclass(frozen=True, slots=True)
class HistoryResult:
    """The steps of what was said about a subject, the oldest first; each cites one of the sources by its number.

    `has_more`: there are older ones.
    """

    subject: str
    steps: tuple[Step, ...] = ()
    sources: tuple[Source, ...] = ()
    has_more: bool = False

    @property
    def spaces(self) -> tuple[str, ...]:
        """The spaces of further facts: there are none."""
        return ()
