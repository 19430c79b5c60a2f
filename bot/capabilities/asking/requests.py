"""Requests to search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field


@dataclass(frozen=True, slots=True)
class Search:
    """Search what you can read for words, of a `type` (conversation or file); empty fields do not filter.

    `channel` and `person`: names. `since` and `until`: days or other times, as typed in a question. `file`: a part of a
    title. `zone`, `as_of` as in Ask. `limit` of the passages from number `offset` on.
    """

    text: Annotated[str, Field(max_length=500)] = ""
    channel: Annotated[str, Field(max_length=80)] = ""
    person: Annotated[str, Field(max_length=80)] = ""
    since: Annotated[str, Field(max_length=40)] = ""
    until: Annotated[str, Field(max_length=40)] = ""
    type: Literal["", "conversation", "file"] = ""
    file: Annotated[str, Field(max_length=200)] = ""
    offset: Annotated[int, Field(ge=0, le=10_000)] = 0
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    zone: Annotated[str, Field(max_length=64)] = ""
    as_of: Annotated[str, Field(max_length=40)] = ""
