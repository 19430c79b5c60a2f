"""Parse e-mail (EML, MSG): its header, its text, and its attachments as files of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default as default_policy
from itertools import count, groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import oxmsg

from engine.models import Passage
from engine.parsers.archives.mail_parts import MailParts, sort_parts
from engine.parsers.base import DAMAGED, Attachment, Omission, ParsedFile
from engine.parsers.dates import parse_date
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.html import parse as parse_html
from engine.parsers.office import parse_mail as parse_with_library
from engine.parsers.passages import Block, passages_by_section
from engine.text.cleanup import clean_lines, clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_HEADER_FIELDS = ("Subject", "From", "To", "Cc", "Date")
OBJECT = "it is an object of another program"
_MAX_DIGITS = 20
_GAP = re.compile(r"\n[ \t]*+\n")
_FIELD = re.compile(rb"\A(?:From \S|[A-Za-z][A-Za-z0-9-]{0,60}:)")


@dataclass(frozen=True, slots=True)
class _Mail:
    """A decoded e-mail; each of its `texts` is plain or HTML."""

    fields: Mapping[str, str]
    parts: MailParts


def parse_eml(name: str, data: bytes) -> ParsedFile:
    """The header, then the text by paragraphs; dated by its header. Raises CorruptFile if it is not text."""
    if not _FIELD.match(data):
        data = decode_text(data).lstrip().encode()
    message = message_from_bytes(data, _class=EmailMessage, policy=default_policy)
    fields = {field: _field_text(message, field) for field in _HEADER_FIELDS}
    return _build_file(name, _Mail(fields, sort_parts(message)))


def parse_emlx(name: str, data: bytes) -> ParsedFile:
    """An e-mail as Apple Mail keeps it: its length, the mail, and what the program noted about it."""
    size, _, rest = data.partition(b"\n")
    return parse_eml(name, rest[: int(size)] if size.strip().isdigit() and len(size) < _MAX_DIGITS else data)


def parse_msg(name: str, data: bytes, mime: str) -> ParsedFile:
    """Parse a message of Outlook as `parse_eml`. Raises EncryptedFile or CorruptFile."""
    try:
        message = oxmsg.Message.load(data)
        sent = message.sent_date
        fields = {
            "Subject": message.subject or "",
            "From": message.sender or "",
            "To": ", ".join(f"{recipient.name} <{recipient.email_address}>" for recipient in message.recipients),
            "Date": sent.isoformat(" ", "minutes") if sent else "",
        }
        plain, html = message.body or "", message.html_body or ""
        parts = MailParts([(plain, False) if plain.strip() or not html.strip() else (html, True)])
        for at, each in enumerate(message.attachments, 1):
            title = each.file_name or f"attachment {at}"
            if each.file_bytes:
                parts.attachments.append(Attachment(title, each.file_bytes))
            else:
                parts.omissions.append(Omission(f"attachment {clean_single_line(title)}", OBJECT))
        return _build_file(name, _Mail(fields, parts))
    except (ValueError, KeyError, AssertionError, LookupError, OSError):  # an unusual message
        parsed = parse_with_library(name, data, mime)
        return replace(parsed, omissions=(*parsed.omissions, Omission("its attachments, if it has some", DAMAGED)))


def _build_file(name: str, mail: _Mail) -> ParsedFile:
    parts = mail.parts
    fields = {
        **mail.fields,
        "Attachments": ", ".join(clean_single_line(attachment.name) for attachment in parts.attachments),
    }
    header = "\n".join(f"{field}: {clean_single_line(value)}" for field, value in fields.items() if value.strip())
    head = (Passage("head", header, "e-mail header"),) if header else ()
    return ParsedFile(
        clean_single_line(mail.fields["Subject"]) or name,
        (*head, *_list_passages(name, parts.texts)),
        parse_date(mail.fields.get("Date", "")),
        attachments=tuple(parts.attachments),
        embedded=tuple(parts.pictures),
        omissions=tuple(parts.omissions),
    )


def _list_passages(name: str, texts: Iterable[tuple[str, bool]]) -> Iterator[Passage]:
    """The passages of all texts, after that of the header; plain ones that follow each other are one text."""
    position = count(1)
    for number, (is_html, group) in enumerate(groupby(texts, key=itemgetter(1)), 1):
        for passage in _parse_text(name, (text for text, _ in group), is_html=is_html):
            key = passage.key if number == 1 else f"t{number}.{passage.key}"
            yield replace(passage, key=key, position=next(position))


def _parse_text(name: str, texts: Iterable[str], *, is_html: bool) -> tuple[Passage, ...]:
    if not is_html:
        return passages_by_section(_paragraphs("\n\n".join(texts)), "paragraph")
    return parse_html(name, "\n".join(texts).encode("utf-8", "replace")).parse_whole()


def _paragraphs(text: str) -> Iterable[Block]:
    parts = _GAP.split("\n".join(clean_lines(text)))
    filled = (cleaned for part in parts if (cleaned := clean_multiline(part)))
    return (Block(part, at, at) for at, part in enumerate(filled, 1))


def _field_text(message: EmailMessage, field: str) -> str:
    try:
        return str(message.get(field) or "")
    except (ValueError, AttributeError, LookupError, TypeError):  # the library fails on some malformed addresses
        return next((str(value) for key, value in message.raw_items() if key.lower() == field.lower()), "")
