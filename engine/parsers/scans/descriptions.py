"""Turn the descriptions of pictures into passages, cited as the picture or its page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import EmptyDocument
from engine.models import Passage
from engine.parsers.passages import group_blocks, join_blocks
from engine.text.cleanup import clean_multiline

if TYPE_CHECKING:
    from engine.parsers.base import ParsedFile, PictureDescriber, UnreadPicture


async def add_descriptions(parsed: ParsedFile, describer: PictureDescriber) -> ParsedFile:
    """The document with its pictures as passages; one that cannot be described is left out.

    Raises EmptyDocument if nothing else is in it, and ModelError if a later call may succeed.
    """
    passages, failure = list(parsed.passages), None
    for picture in parsed.pictures:
        try:
            passages += build_passages(picture, await describer.describe(picture.data))
        except EmptyDocument as error:
            failure = error
    if failure and not passages:
        raise failure
    ordered = sorted(passages, key=lambda passage: passage.position)
    return replace(parsed, passages=tuple(ordered), pictures=())


def build_passages(picture: UnreadPicture, description: str) -> list[Passage]:
    """The passages of a picture, of the usual length."""
    from engine.parsers.markdown import parse_blocks  # noqa: PLC0415 - loads a library that few processes need

    texts = (clean_multiline(join_blocks(group)) for group in group_blocks(parse_blocks(description)))
    return [
        Passage(f"{picture.key}-{part}", text, picture.label, position=picture.position + part - 1)
        for part, text in enumerate(filter(None, texts), 1)
    ]
