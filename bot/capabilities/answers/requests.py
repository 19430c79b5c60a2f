"""Requests about answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

AnswerId = Annotated[str, Field(min_length=1, max_length=100)]
MAX_COMMENT_LENGTH = 500  # characters


@dataclass(frozen=True, slots=True)
class RateAnswer:
    """Say whether an answer (its id) helped, and if it did not, why (optional)."""

    answer: AnswerId
    helpful: bool
    reason: Literal["", "wrong", "outdated", "missing-source", "unclear"] = ""
    comment: Annotated[str, Field(max_length=MAX_COMMENT_LENGTH)] = ""


AnswerRequest = RateAnswer
