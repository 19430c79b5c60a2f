"""The files within an archive: their names without what leads elsewhere, and the document that lists them. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.errors import EmptyDocument, EncryptedFile
from engine.models import Passage
from engine.parsers.base import Omission, ParsedFile
from engine.parsers.passages import Block, format_span, group_blocks, join_blocks
from engine.text.cleanup import clean_single_line, shorten_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.parsers.base import PackedFile

MAX_MEMBERS = 1000  # of an upload that become documents, whatever archives they are in
LOCKED = "it is locked with a password"
_DRIVE = re.compile(r"\A[A-Za-z]:")
# What systems add to folders: none of it is of a person.
_SYSTEM_FILES = re.compile(r"(?:\A|/)(?:__MACOSX/|\.DS_Store\Z|\._|Thumbs\.db\Z|desktop\.ini\Z)", re.IGNORECASE)


def clean_path(name: str) -> str:
    """The path of a member within its archive, whatever folder outside of it the name leads to; shortened if long."""
    path = _DRIVE.sub("", name.replace("\\", "/"))
    parts = (clean_single_line(part) for part in path.split("/"))
    return shorten_name("/".join(part for part in parts if part not in {"", ".", ".."}))


def is_system_file(path: str) -> bool:
    """Whether a system added the file, such as the index of a folder."""
    return bool(_SYSTEM_FILES.search(path))


def list_members(name: str, members: Sequence[PackedFile], omissions: Sequence[Omission]) -> ParsedFile:
    """The archive as a document that lists its files, which are its attachments.

    Raises EncryptedFile if all are locked, and EmptyDocument if there is none.
    """
    if not members and omissions and all(omission.reason == LOCKED for omission in omissions):
        raise EncryptedFile("The archive is locked with a password.")
    if not members and not omissions:
        raise EmptyDocument(f"There are no files in {name}.", hint="Check that it was packed completely.")
    late = tuple(
        Omission(member.name, f"only the first {MAX_MEMBERS} files of an archive are read")
        for member in members[MAX_MEMBERS:]
    )
    names = [*(member.name for member in members), *(omission.part for omission in omissions)]
    return ParsedFile(name, _list_names(names), attachments=tuple(members[:MAX_MEMBERS]), omissions=(*omissions, *late))


def _list_names(names: Sequence[str]) -> tuple[Passage, ...]:
    blocks = [Block(f"- {name}", at, at, "item") for at, name in enumerate(names, 1)]
    return tuple(
        Passage(
            f"files-{number}",
            f"Files in this archive:\n{join_blocks(group)}",
            format_span("file", group[0].start, group[-1].stop),
            position=number - 1,
        )
        for number, group in enumerate(group_blocks(blocks), 1)
    )
