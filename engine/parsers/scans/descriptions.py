"""Turn the descriptions of pictures into passages, cited as the picture or its page."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import EmptyDocument
from engine.models import Omission, Passage
from engine.parsers.base import word_reason
from engine.parsers.passages import group_blocks, join_blocks
from engine.text.cleanup import clean_multiline

if TYPE_CHECKING:
    from engine.parsers.base import ParsedFile, PictureDescriber, UnreadPicture

MAX_DESCRIBED_PICTURES = 50  # of a file with all its attachments: each is a call of a model
PICTURES_AT_ONCE = 4  # of a file that a model describes


async def add_descriptions(parsed: ParsedFile, describer: PictureDescriber) -> ParsedFile:
    """The document with its pictures as passages; one that cannot be described is an omission.

    Raises EmptyDocument if nothing else is in it, and ModelError if a later call may succeed.
    """
    passages, omissions, failure = list(parsed.passages), list(parsed.omissions), None
    for start in range(0, len(parsed.pictures), PICTURES_AT_ONCE):
        batch = parsed.pictures[start : start + PICTURES_AT_ONCE]
        outcomes = await asyncio.gather(
            *(describer.describe(waiting.data) for waiting in batch), return_exceptions=True
        )
        for picture, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, str):
                passages += build_passages(picture, outcome)
            elif isinstance(outcome, EmptyDocument):
                failure = outcome
                omissions.append(Omission(picture.label, word_reason(outcome)))
            else:
                raise outcome
    if failure and not passages:
        raise failure
    ordered = sorted(passages, key=lambda passage: passage.position)
    return replace(parsed, passages=tuple(ordered), pictures=(), omissions=tuple(omissions))


def build_passages(picture: UnreadPicture, description: str) -> list[Passage]:
    """The passages of a picture, of the usual length."""
    from engine.parsers.markdown import parse_blocks  # noqa: PLC0415 - loads a library that few processes need

    texts = (clean_multiline(join_blocks(group)) for group in group_blocks(parse_blocks(description)))
    return [
        Passage(f"{picture.key}-{part}", text, picture.label, position=picture.position + part - 1)
        for part, text in enumerate(filter(None, texts), 1)
    ]
