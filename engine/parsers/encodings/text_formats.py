"""Detect text whatever its name is, and its format by its first lines. Pure."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING

from engine.errors import CorruptFile
from engine.parsers.archives.mailboxes import START as MAILBOX_START
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.registry import PARSERS, find_by_extension

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAMPLE_SIZE = 64 * 1024
_SAMPLES = 8  # pieces of the rest of the file that are looked at for binary data
_PIECE = 4096
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MAX_CONTROL_SHARE = 0.01
# Endings that say that a file is a copy, a rotated log, a pattern or an example of what its name says before.
_COPIES = frozenset({"bak", "backup", "copy", "dist", "example", "in", "j2", "old", "orig", "sample", "save", "tmpl"})
_COPIES |= frozenset({"template", "tmp"})
_FIELD_LINE = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,60}:[ \t]?")
_MAIL_FIELDS = frozenset({"from", "to", "subject", "date", "received", "message-id", "mime-version", "return-path"})
_MIN_MAIL_FIELDS = 3
_BEGINNINGS = (
    (re.compile(r"BEGIN:VCALENDAR\b", re.IGNORECASE), "calendar"),
    (re.compile(r"BEGIN:VCARD\b", re.IGNORECASE), "contacts"),
    (re.compile(r"<[A-Za-z][\w:.-]{0,60}\s[^<>]{0,300}?\bxmlns(?::\w{1,30})?="), "xml"),
    (re.compile(r"(?:<\?xml\b|<(?:rss|feed|opml|rdf:RDF|urlset|svg|mxfile|mxGraphModel)\b)", re.IGNORECASE), "xml"),
)
_RELATED = re.compile(r"^Content-Type:[ \t]{0,8}multipart/related", re.IGNORECASE | re.MULTILINE)
_RECORDS = 4  # first lines that are records in a file of records


def find_text_format(name: str) -> str:
    """The text format that a name such as app.log.1 or settings.yaml.example says before its last endings, or ""."""
    *parts, extension = name.lower().rsplit("/", 1)[-1].split(".")
    while parts and (extension in _COPIES or extension.isdigit()):
        extension = parts.pop()
    found = find_by_extension(extension) if parts else ""
    return found if found and not PARSERS[found].is_binary else ""


def is_text(data: bytes) -> bool:
    """Whether a file whose name says nothing is text: none of its samples holds more than a few control characters."""
    try:
        decode_text(_cut_sample(data))
    except CorruptFile:
        return False
    if b"\0" in data[:_SAMPLE_SIZE]:  # UTF-16 or UTF-32, which the decoder has recognized
        return True
    return all(len(_CONTROLS.findall(piece)) <= _MAX_CONTROL_SHARE * len(piece) for piece in _take_pieces(data))


def detect_text(data: bytes) -> str:
    """The format that the first lines of a text show, or an empty string."""
    if MAILBOX_START.match(data):
        return "mbox"
    head = decode_text(_cut_sample(data)).lstrip("\ufeff")
    first = head.lstrip()
    for beginning, file_format in _BEGINNINGS:
        if beginning.match(first):
            return file_format
    if _has_mail_header(head):
        return "mht" if _RELATED.search(head) else "eml"
    if not first.startswith(("[", "{")):
        return ""
    return "messages" if _has_records(head) else "json"


def _cut_sample(data: bytes) -> bytes:
    """The beginning of a file, up to the end of a line."""
    if len(data) <= _SAMPLE_SIZE:
        return data
    sample = data[:_SAMPLE_SIZE]
    end = sample.rfind(b"\n") + 1
    return sample if b"\0" in sample or not end else sample[:end]


def _take_pieces(data: bytes) -> Iterator[bytes]:
    step = max(_PIECE, (len(data) - _PIECE) // _SAMPLES)
    return (data[start : start + _PIECE] for start in range(0, len(data), step))


def _has_mail_header(head: str) -> bool:
    lines = head.split("\n")[:40]
    fields = set[str]()
    for line in lines:
        if not line.strip():
            break
        if _FIELD_LINE.match(line):
            fields.add(line.partition(":")[0].lower())
        elif not line.startswith((" ", "\t")):
            return False
    return len(fields & _MAIL_FIELDS) >= _MIN_MAIL_FIELDS


def _has_records(head: str) -> bool:
    """Whether the first line is a JSON object, and another one follows."""
    lines = islice((line for line in head.split("\n") if line.strip()), _RECORDS)
    are_objects = [_is_object(line) for line in lines]
    return are_objects[:1] == [True] and sum(are_objects) > 1


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
