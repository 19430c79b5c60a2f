"""Requests for the page of frequent questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True, slots=True)
class GetFaq:
    """Write a FAQ page in Markdown: verified answers with their sources, then questions that have no answer yet.

    `room`: the id of a channel, for a page that everyone there can read; without it, of all that you can read.
    """

    room: Annotated[str, Field(max_length=300)] = ""
