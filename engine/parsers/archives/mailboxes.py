"""Parse mailboxes (mbox): each e-mail as passages of its own, their attachments as files of their own."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from engine.errors import InvalidDocument
from engine.parsers.base import IS_PICTURE, Omission, stream_passages
from engine.parsers.formats.mail import parse_eml
from engine.parsers.passages import shorten_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.models import Passage
    from engine.parsers.base import FileWithin, ParsedFile

# The line that begins an e-mail, which a header follows; within the text of one it is written ">From ".
START = re.compile(rb"(?:\A|(?<=\n)\r?\n)From [^\n]{1,300}\n(?=>?[A-Za-z][A-Za-z0-9-]{0,60}[: ])")
_MIN_PICTURE = 150  # bytes; smaller ones are dots and lines
_ENVELOPE_DATE = re.compile(rb"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b[^\n]{0,60}")
_DATE_FIELD = re.compile(rb"^Date:", re.IGNORECASE | re.MULTILINE)
_QUOTED_START = re.compile(rb"^>(>*From )", re.MULTILINE)


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages labeled "e-mail 3: Subject". An e-mail that cannot be read is omitted."""
    reader = _MailboxReader()
    parsed = stream_passages(name, reader.read(data))
    return replace(parsed, attachments=reader.attachments)


class _MailboxReader:
    """Reads the e-mails one by one; `attachments` grows meanwhile."""

    def __init__(self) -> None:
        self.attachments: list[FileWithin] = []
        self._positions = count()
        self._pictures = 0

    def read(self, data: bytes) -> Iterator[Passage | Omission]:
        """The passages of all e-mails, and what cannot be read of them."""
        for number, mail in enumerate(split_mails(data), 1):
            try:
                yield from self._read_mail(number, mail)
            except InvalidDocument as error:
                yield Omission(f"e-mail {number}", str(error).rstrip("."))
        if self._pictures:
            yield Omission(f"{self._pictures} picture{'s' * (self._pictures > 1)} within e-mails", IS_PICTURE)

    def _read_mail(self, number: int, mail: bytes) -> Iterator[Passage | Omission]:
        parsed = parse_eml("", mail)
        title = f"e-mail {number}: {parsed.title}".rstrip(": ")
        self.attachments += [
            replace(attachment, name=f"{title} › {attachment.name}") for attachment in parsed.attachments
        ]
        self._pictures += sum(len(picture.data) >= _MIN_PICTURE for picture in parsed.embedded)
        yield from (Omission(f"e-mail {number}, {omission.part}", omission.reason) for omission in parsed.omissions)
        label = shorten_label(title)
        for passage in parsed.passages:
            yield replace(passage, key=f"m{number}.{passage.key}", label=label, position=next(self._positions))


def split_mails(data: bytes) -> Iterator[bytes]:
    """The e-mails of a mailbox; one without a date has that of the line that begins it."""
    start, envelope = -1, b""
    for match in START.finditer(data):
        if start >= 0:
            yield _date_mail(envelope, data[start : match.start()])
        start, envelope = match.end(), match[0]
    if start >= 0:
        yield _date_mail(envelope, data[start:])


def _date_mail(envelope: bytes, mail: bytes) -> bytes:
    mail = _QUOTED_START.sub(rb"\1", mail)
    stated = _ENVELOPE_DATE.search(envelope)
    if not stated or _DATE_FIELD.search(mail.partition(b"\n\n")[0]):
        return mail
    return b"Date: " + stated[0].strip() + b"\n" + mail
