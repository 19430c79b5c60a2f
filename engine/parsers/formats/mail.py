"""Parse e-mail (EML, MSG): its header, its text, and its attachments as files of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage, MIMEPart
from email.policy import default as default_policy
from typing import TYPE_CHECKING

import oxmsg

from engine.models import Passage
from engine.parsers.base import Attachment, ParsedFile
from engine.parsers.dates import parse_date
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.html import parse as parse_html
from engine.parsers.office import parse_mail as parse_with_library
from engine.parsers.passages import Block, passages_by_section
from engine.text.cleanup import clean_lines, clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_HEADER_FIELDS = ("Subject", "From", "To", "Cc", "Date")
_GAP = re.compile(r"\n[ \t]*+\n")
_FIELD = re.compile(rb"\A(?:From \S|[A-Za-z][A-Za-z0-9-]{0,60}:)")


@dataclass(frozen=True, slots=True)
class _Mail:
    """A decoded e-mail; `html` is used if there is no plain text."""

    fields: Mapping[str, str]
    text: str
    html: str
    attachments: tuple[Attachment, ...]


def parse_eml(name: str, data: bytes) -> ParsedFile:
    """The header, then the text by paragraphs; dated by its header. Raises CorruptFile if it is not text."""
    if not _FIELD.match(data):
        data = decode_text(data).lstrip().encode()
    message = message_from_bytes(data, _class=EmailMessage, policy=default_policy)
    fields = {field: _field_text(message, field) for field in _HEADER_FIELDS}
    plain, html = (_part_text(message.get_body((kind,))) for kind in ("plain", "html"))
    attachments = tuple(
        Attachment(part.get_filename() or _default_name(part, at), _part_bytes(part))
        for at, part in enumerate(_iterate_attachments(message), 1)
    )
    return _build_file(name, _Mail(fields, plain, html, attachments))


def parse_msg(name: str, data: bytes, mime: str) -> ParsedFile:
    """As `parse_eml`, from Outlook. Raises EncryptedFile or CorruptFile."""
    try:
        message = oxmsg.Message.load(data)
        sent = message.sent_date
        fields = {
            "Subject": message.subject or "",
            "From": message.sender or "",
            "To": ", ".join(f"{each.name} <{each.email_address}>" for each in message.recipients),
            "Date": sent.isoformat(" ", "minutes") if sent else "",
        }
        attachments = tuple(
            Attachment(each.file_name or f"attachment {at}", each.file_bytes)
            for at, each in enumerate(message.attachments, 1)
            if each.file_bytes
        )
        return _build_file(name, _Mail(fields, message.body or "", message.html_body or "", attachments))
    except (ValueError, KeyError, AssertionError, LookupError, OSError):  # an unusual message: without attachments
        return parse_with_library(name, data, mime)


def _build_file(name: str, mail: _Mail) -> ParsedFile:
    names = ", ".join(clean_single_line(each.name) for each in mail.attachments)
    fields = {**mail.fields, "Attachments": names}
    header = "\n".join(f"{field}: {clean_single_line(value)}" for field, value in fields.items() if value.strip())
    if mail.text.strip() or not mail.html.strip():
        body = passages_by_section(_paragraphs(mail.text), "paragraph")
    else:
        body = parse_html(name, mail.html.encode("utf-8", "replace")).passages
    head = (Passage("head", header, "e-mail header"),) if header else ()
    passages = (*head, *(_shift(each) for each in body))
    time = parse_date(mail.fields.get("Date", ""))
    return ParsedFile(clean_single_line(mail.fields["Subject"]) or name, passages, time, attachments=mail.attachments)


def _shift(passage: Passage) -> Passage:
    return Passage(passage.key, passage.text, passage.label, position=passage.position + 1)


def _paragraphs(text: str) -> Iterable[Block]:
    parts = _GAP.split("\n".join(clean_lines(text)))
    filled = (cleaned for part in parts if (cleaned := clean_multiline(part)))
    return (Block(part, at, at) for at, part in enumerate(filled, 1))


def _field_text(message: EmailMessage, field: str) -> str:
    try:
        return str(message.get(field) or "")
    except (ValueError, AttributeError, LookupError, TypeError):  # the library fails on some malformed addresses
        return next((str(value) for key, value in message.raw_items() if key.lower() == field.lower()), "")


def _part_text(part: MIMEPart | None) -> str:
    if part is None:
        return ""
    try:
        return str(part.get_content())
    except (LookupError, ValueError, AttributeError):  # an unknown or wrong charset
        return decode_text(_part_bytes(part))


def _part_bytes(part: MIMEPart) -> bytes:
    if part.get_content_type() == "message/rfc822":
        return b"\n".join(inner.as_bytes() for inner in part.iter_parts())
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _iterate_attachments(message: EmailMessage) -> Iterable[MIMEPart]:
    """The attached files; pictures within the text, which have no name, are left out."""
    for part in message.iter_attachments() if message.is_multipart() else ():
        if part.get_filename() or part.get_content_type() == "message/rfc822":
            yield part


def _default_name(part: MIMEPart, number: int) -> str:
    return f"attachment {number}.eml" if part.get_content_type() == "message/rfc822" else f"attachment {number}"
