"""Parse saved web pages (MHT, MHTML): the page, the frames within it, and its pictures."""

from __future__ import annotations

from dataclasses import replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default as default_policy
from typing import TYPE_CHECKING

from engine.parsers.base import EmbeddedPicture, Omission, ParsedFile
from engine.parsers.dates import parse_date
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.html import parse as parse_html
from engine.parsers.plain_text import parse as parse_plain
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from email.message import Message

    from engine.models import Passage

# What a page consists of besides its text.
_WITHOUT_TEXT = frozenset({"text/css", "text/javascript", "application/javascript", "application/x-javascript"})
_MARKUP = frozenset({"text/html", "application/xhtml+xml"})


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages by section of the page, then of its frames. The title is the page's own, else the subject."""
    message = message_from_bytes(data.lstrip(), _class=EmailMessage, policy=default_policy)
    parts = [part for part in message.walk() if not part.is_multipart()]
    texts = [part for part in parts if part.get_content_type() in _MARKUP] or [
        part for part in parts if part.get_content_type() == "text/plain"
    ]
    pages = [_read_part(part) for part in texts]
    subject = clean_single_line(str(message.get("Subject") or ""))
    title = next((page.title for page in pages[:1] if page.title), "") or subject or name
    time = next((page.time for page in pages[:1]), None) or parse_date(str(message.get("Date") or ""))
    omissions = tuple(_list_unread(part) for part in parts if part not in texts and _may_hold_text(part))
    return ParsedFile(title, tuple(_join(pages)), time, embedded=_list_pictures(parts), omissions=omissions)


def _read_part(part: Message) -> ParsedFile:
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset()
    try:
        text = content.decode(charset or "")
    except (LookupError, UnicodeDecodeError):
        text = decode_text(content)
    parse_text = parse_html if part.get_content_type() in _MARKUP else parse_plain
    return parse_text("", text.encode("utf-8", "replace"))


def _join(pages: list[ParsedFile]) -> Iterator[Passage]:
    position = 0
    for number, page in enumerate(pages, 1):
        for passage in page.parse_whole():
            key = passage.key if number == 1 else f"f{number}.{passage.key}"
            yield replace(passage, key=key, position=position)
            position += 1


def _list_pictures(parts: Sequence[Message]) -> Iterator[EmbeddedPicture]:
    for part in parts:
        payload = part.get_payload(decode=True) if part.get_content_maintype() == "image" else None
        if isinstance(payload, bytes) and payload:
            yield EmbeddedPicture("picture", payload)


def _may_hold_text(part: Message) -> bool:
    kind = part.get_content_type()
    return kind not in _WITHOUT_TEXT and part.get_content_maintype() not in {"image", "font", "audio", "video"}


def _list_unread(part: Message) -> Omission:
    place = part.get_filename() or str(part.get("Content-Location") or "") or "a part"
    return Omission(clean_single_line(place)[:200], f"it is {part.get_content_type()}")
