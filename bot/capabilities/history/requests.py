"""Requests for the life of a fact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True, slots=True)
class GetHistory:
    """Get what you can read about a name, or about what a question asks: said, repeated, contradicted, replaced."""

    subject: Annotated[str, Field(min_length=1, max_length=500)]
