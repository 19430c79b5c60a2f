"""Process that parses untrusted files: `python -m engine.parsers.sandbox.worker LIMITS`, frames on its pipes.

It has bounded memory and CPU time, a minimal environment, and no network and no files of others if the kernel allows
that. It ends when its input does.
"""

from __future__ import annotations

import mimetypes
import os
import sys
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, DocumentTooLarge, EmptyDocument, InvalidDocument
from engine.models import Omission, Passage
from engine.parsers.archives.members import MAX_MEMBERS
from engine.parsers.base import TOO_DEEP, TOO_MANY, PackedFile, UnreadPicture, count_parts, word_reason
from engine.parsers.dates import find_stated_date, find_stated_day, plausible_time
from engine.parsers.detection import detect_format
from engine.parsers.encodings.decoding import find_doubt
from engine.parsers.registry import PARSERS
from engine.parsers.sandbox import protocol
from engine.parsers.sandbox.cpu_time import limit_cpu_time
from engine.parsers.sandbox.isolation import isolate
from engine.parsers.scans.descriptions import MAX_DESCRIBED_PICTURES
from engine.process import encode_frame, ignore_stop_signals, read_frame
from engine.text.cleanup import clean_single_line, shorten_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.parsers.base import FileWithin, ParsedFile, ParserLimits

PART_LENGTH = 1_000_000  # characters of one document; a longer file becomes several
MAX_TITLE_CHARACTERS = 400  # of a title that a document states itself
MAX_OMISSIONS = 1000  # of a document that are named
_MAX_DEPTH = 3  # of e-mails within e-mails


def main() -> None:
    """Handle requests in turn: a frame with the name and a frame with the bytes give a frame with the result."""
    ignore_stop_signals()
    mimetypes.knownfiles.clear()  # the tables of the system are out of reach
    limits = protocol.decode_limits(sys.argv[1])
    state = isolate(limits)
    # Output of a library must not fall between the frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    answers.write(encode_frame(protocol.encode_state(state)))
    answers.flush()
    requests = sys.stdin.buffer
    while (name := read_frame(requests)) is not None and (data := read_frame(requests)) is not None:
        limit_cpu_time(len(data), limits)
        for result in parse_safely(name.decode(), data, limits):
            answers.write(encode_frame(protocol.encode_result(result)))
            answers.flush()
            limit_cpu_time(len(data), limits)


def parse_safely(name: str, data: bytes, limits: ParserLimits) -> Iterator[ParsedFile | InvalidDocument | None]:
    """The documents of a file, then None, or the error that ends them."""
    try:
        for parsed in parse_documents(name, data, limits):
            yield _shorten(parsed)
        yield None
    except Exception as error:  # noqa: BLE001  - any error of a parser is due to the file
        yield _name_failure(name, error)


def _shorten(parsed: ParsedFile) -> ParsedFile:
    """The document with a title and omissions of bounded length; omissions beyond a number are counted."""
    omissions = [Omission(shorten_name(omission.part), shorten_name(omission.reason)) for omission in parsed.omissions]
    if (others := len(omissions) - MAX_OMISSIONS) > 0:
        omissions[MAX_OMISSIONS:] = [Omission(f"{others} other part{'s' * (others > 1)}", TOO_MANY)]
    return replace(parsed, title=parsed.title[:MAX_TITLE_CHARACTERS], omissions=tuple(omissions))


def _name_failure(name: str, error: Exception) -> InvalidDocument:
    """What any error of a parser says about the file."""
    if isinstance(error, InvalidDocument):
        return error
    if isinstance(error, MemoryError):
        return DocumentTooLarge(f"{name} needs more memory than the limit for one file.")
    if isinstance(error, RecursionError):
        return CorruptFile(f"{name} is nested too deeply.")
    return CorruptFile(f"{name} could not be read ({type(error).__name__}).")


@dataclass(slots=True)
class _Nesting:
    """How deep a file lies within others, and of the whole upload: the bytes of archives, the files, the pictures."""

    depth: int = 0
    unpacked: list[int] = field(default_factory=list)
    files: count[int] = field(default_factory=count)
    pictures: list[str] = field(default_factory=list)

    def take(self, inner: FileWithin, limits: ParserLimits) -> bytes:
        """The bytes of a file within another. Raises DocumentTooLarge beyond the depth, number and size of all."""
        if self.depth == _MAX_DEPTH:
            raise DocumentTooLarge(TOO_DEEP)
        if sum(self.unpacked) > limits.max_unpacked_size:
            raise DocumentTooLarge(f"the archives hold more than {limits.max_unpacked_size // 2**20} MiB")
        is_multiplied = self.depth > 0 or isinstance(inner, PackedFile)  # a mail itself holds what is attached to it
        if is_multiplied and next(self.files) >= MAX_MEMBERS:
            raise DocumentTooLarge(f"only the first {MAX_MEMBERS} files of an upload are read")
        data = inner.data
        if isinstance(inner, PackedFile):
            self.unpacked.append(len(data))
        return data

    def limit_pictures(self, part: ParsedFile) -> ParsedFile:
        """The part with pictures that are still to be described, and the others as omissions.

        Raises DocumentTooLarge if nothing else is in the file.
        """
        free = MAX_DESCRIBED_PICTURES - len(self.pictures)
        kept, others = part.pictures[:free], part.pictures[free:]
        self.pictures += [picture.key for picture in kept]
        if not others:
            return part
        reason = f"only the first {MAX_DESCRIBED_PICTURES} pictures of an upload are described"
        if not (part.key or kept or part.passages):
            raise DocumentTooLarge(reason)
        late = tuple(Omission(other.label, reason) for other in others)
        return replace(part, pictures=kept, omissions=(*part.omissions, *late))


def parse_documents(
    name: str, data: bytes, limits: ParserLimits, nesting: _Nesting | None = None
) -> Iterator[ParsedFile]:
    """The documents of a file: itself, in parts if it is long, and its attachments that can be read.

    The file itself comes once more at the end if something was noticed later that was not read: all omissions are its
    own. Raises one of the InvalidDocument family.
    """
    nesting = nesting or _Nesting()
    parsed = parse_file(name, data, limits)
    late: list[Omission] = []
    first: ParsedFile | None = None
    for part in map(nesting.limit_pictures, _split_parts(parsed, limits)):
        if first is None:
            first = part
            yield part
        else:
            late += part.omissions
            if part.passages or part.pictures:
                yield replace(part, omissions=(), coverage="")
    failed = list[Omission]()
    for number, attachment in enumerate(parsed.attachments, 1):
        try:
            yield from _parse_attachment(parsed.title, (number, attachment), limits, nesting)
        except Exception as error:  # noqa: BLE001  - one bad file never costs the others
            failed.append(_name_omission(attachment, error))
    if (late or failed) and first is not None:
        coverage = first.coverage or _count_unpacked(parsed, failed)
        yield replace(first, omissions=(*first.omissions, *late, *failed), coverage=coverage)


def _name_omission(attachment: FileWithin, error: Exception) -> Omission:
    kind = "file" if isinstance(attachment, PackedFile) else "attachment"
    return Omission(f"{kind} {attachment.name}", word_reason(_name_failure("it", error)))


def _count_unpacked(parsed: ParsedFile, failed: list[Omission]) -> str:
    """How many files of an archive were read; an empty string for other files."""
    if not any(isinstance(attachment, PackedFile) for attachment in parsed.attachments):
        return ""
    total = len(parsed.attachments) + len(parsed.omissions)
    return count_parts(len(parsed.attachments) - len(failed), total, "file")


def _parse_attachment(
    title: str, numbered: tuple[int, FileWithin], limits: ParserLimits, nesting: _Nesting
) -> Iterator[ParsedFile]:
    (number, attachment), root = numbered, ""
    data, inside = nesting.take(attachment, limits), replace(nesting, depth=nesting.depth + 1)
    for inner in parse_documents(attachment.name, data, limits, inside):
        root = root or inner.title
        name = f"{title} › {attachment.name}{inner.title.removeprefix(root)}"
        yield replace(inner, title=name, key=f"attachment-{number}{inner.key and '.' + inner.key}")


def _split_parts(parsed: ParsedFile, limits: ParserLimits) -> Iterator[ParsedFile]:
    """The file as one document, or a long one in parts: each is stored and searchable before the next.

    Each has the omissions that were noticed while it was parsed.
    """
    number, total = 1, 0
    for number, part in enumerate(_group_pieces(parsed), 1):
        passages = tuple(piece for piece in part if isinstance(piece, Passage))
        pictures = tuple(piece for piece in part if isinstance(piece, UnreadPicture))
        omitted = tuple(piece for piece in part if isinstance(piece, Omission))
        total += sum(len(passage.text) for passage in passages)
        if total > limits.max_text_length:
            raise DocumentTooLarge(f"{parsed.title} holds more than {limits.max_text_length:,} characters of text.")
        title = parsed.title if number == 1 else f"{parsed.title} (part {number})"
        key = "" if number == 1 else f"part-{number}"
        content = replace(parsed, passages=passages, pictures=pictures, omissions=omitted)
        yield replace(content, title=title, key=key, attachments=(), further=())


def _group_pieces(parsed: ParsedFile) -> Iterator[list[Passage | UnreadPicture | Omission]]:
    """The passages, pictures and omissions of each part; a part ends before it would be too long."""
    part: list[Passage | UnreadPicture | Omission] = []
    length = 0
    for piece in chain(parsed.omissions, parsed.pictures, parsed.passages, parsed.further):
        size = len(piece.text) if isinstance(piece, Passage) else 0
        if part and (piece is None or length + size > PART_LENGTH):
            yield part
            part, length = [], 0
        if piece is not None:
            part.append(piece)
            length += size
    if part:
        yield part


def parse_file(name: str, data: bytes, limits: ParserLimits) -> ParsedFile:
    """The file as passages or pictures, at least one of them; `further` may raise errors, too.

    Raises one of the InvalidDocument family.
    """
    file_format = PARSERS[detect_format(name, data, limits)]
    parsed = file_format.parse(name, data, limits)
    if file_format.is_text and (doubt := find_doubt(data)):
        parsed = replace(parsed, omissions=(*parsed.omissions, doubt))
    if parsed.unread_pages:
        from engine.parsers.scans.pages import read_scans  # noqa: PLC0415  - needed for scans only

        parsed = read_scans(parsed, data, limits)
    if parsed.embedded:
        from engine.parsers.scans.embedded import read_embedded  # noqa: PLC0415  - needed for documents with pictures

        parsed = read_embedded(parsed, limits)
    if parsed.attachments and not parsed.passages and not parsed.pictures:
        parsed = replace(parsed, passages=(_list_attachments(parsed.attachments),))
    if not parsed.passages and not parsed.pictures:
        raise EmptyDocument(f"There is no text in {name}.")
    if sum(len(passage.text) for passage in parsed.passages) > limits.max_text_length:
        raise DocumentTooLarge(f"{name} holds more than {limits.max_text_length:,} characters of text.")
    if parsed.time or not file_format.is_dated:
        return replace(parsed, saved_at=None, unread_pages=())
    head = _document_head(parsed)
    time = find_stated_date(name, head)
    day = None if time else find_stated_day(name, head)
    time = time or (plausible_time(None, parsed.saved_at, day) if parsed.saved_at and day else None) or parsed.saved_at
    return replace(parsed, time=time, day=day, saved_at=None, unread_pages=())


def _list_attachments(attachments: Sequence[FileWithin]) -> Passage:
    """The passage of a file that holds nothing but files."""
    names = "\n".join(f"- {clean_single_line(attachment.name)}" for attachment in attachments)
    return Passage("files", f"Attached files:\n{names}", "attached files")


def _document_head(parsed: ParsedFile) -> str:
    """The title and the first passage: where a document states its date."""
    return "\n".join([parsed.title, *(passage.text for passage in parsed.passages[:1])])


if __name__ == "__main__":
    main()
