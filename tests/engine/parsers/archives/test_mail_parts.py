"""Every part of an e-mail is read, or named."""

from __future__ import annotations

from io import BytesIO
from zlib import crc32

import pytest
from PIL import Image

from engine.parsers.base import ParsedFile, ParserLimits
from engine.parsers.sandbox.worker import parse_documents

HEAD = b"From: ada@yard.example\r\nSubject: Kiln\r\nMIME-Version: 1.0\r\n"
PLAIN, HTML = "Content-Type: text/plain\r\n\r\n", "Content-Type: text/html\r\n\r\n"
EVENT = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Firing\r\nDTSTART:20260302T100000Z\r\nEND:VEVENT\r\nEND:VCALENDAR"
LETTER = "Subject: Clay\r\n\r\nThe clay is wet."


def picture(*headers: str) -> str:
    """A part with a picture of the given headers, in hexadecimal quoted form."""
    file = BytesIO()
    Image.new("RGB", (64, 64), "red").save(file, "PNG")
    quoted = "".join(
        f"={byte:02X}=\r\n" if at % 20 == 19 else f"={byte:02X}" for at, byte in enumerate(file.getvalue())
    )
    return "\r\n".join(["Content-Type: image/png", "Content-Transfer-Encoding: quoted-printable", *headers, "", quoted])


def multipart(kind: str, *parts: str) -> str:
    mark = f"b{crc32(''.join(parts).encode())}"
    inner = "".join(f"--{mark}\r\n{part}\r\n" for part in parts)
    return f'Content-Type: multipart/{kind}; boundary="{mark}"\r\n\r\n{inner}--{mark}--\r\n'


def read(content: str) -> list[ParsedFile]:
    return list(parse_documents("kiln.eml", HEAD + content.encode(), ParserLimits()))


def words(document: ParsedFile) -> str:
    return "\n".join(passage.text for passage in document.passages if passage.key != "head")


def omissions(documents: list[ParsedFile]) -> list[tuple[str, str]]:
    return [(omission.part, omission.reason) for omission in documents[-1].omissions]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (multipart("mixed", f"{PLAIN}One.", f"{PLAIN}Two."), "One.\nTwo."),
        (multipart("mixed", f"{HTML}<p>One.</p>", f"{PLAIN}Two."), "One.\nTwo."),
        (multipart("mixed", multipart("alternative", f"{PLAIN}One.", f"{HTML}One."), f"{PLAIN}Two."), "One.\nTwo."),
        (multipart("alternative", f"{PLAIN} ", f"{HTML}<p>One.</p>"), "One."),
        (multipart("alternative", f"{PLAIN}One.", multipart("related", f"{HTML}<p>One.</p>", picture())), "One."),
        (multipart("alternative", multipart("related", f"{HTML}<p>One.</p>", picture())), "One."),
        ("Content-Type: multipart/mixed\r\n\r\nOne.", "One."),
        ("Content-Type: text/plain; name=one.txt\r\n\r\nOne.", "One."),
        (multipart("signed", f"{PLAIN}One.", "Content-Type: application/pgp-signature\r\n\r\nx"), "One."),
    ],
)
def test_each_text_is_read_once(content: str, text: str) -> None:
    [mail, *_] = read(content)
    assert words(mail).replace("\n\n", "\n") == text
    assert len({passage.key for passage in mail.passages}) == len(mail.passages)


@pytest.mark.parametrize(
    ("content", "title", "text"),
    [
        (f"Content-Type: text/calendar; method=REQUEST\r\n\r\n{EVENT}", "attachment 1.ics", "Firing"),
        (f"Content-Type: message/rfc822\r\n\r\n{LETTER}", "attachment 1.eml", "The clay is wet."),
        ("Content-Type: text/csv\r\n\r\nkiln,bricks\r\nnorth,310", "attachment 1.csv", "310"),
        ("Content-Type: text/plain\r\nContent-Disposition: attachment\r\n\r\nSand.", "attachment 1.txt", "Sand."),
        ("Content-Type: text/plain; name=n.txt\r\nContent-Disposition: inline\r\n\r\nSand.", "n.txt", "Sand."),
        (
            "Content-Type: message/delivery-status\r\n\r\nAction: failed\r\n\r\nStatus: 5.1.1",
            "attachment 1.txt",
            "5.1.1",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["alternative", "mixed", "related"])
def test_a_part_without_a_name_is_a_file_of_its_own(content: str, title: str, text: str, kind: str) -> None:
    mail, attached, *_ = read(multipart(kind, f"{PLAIN}One.", content))
    assert words(mail) == "One."
    assert attached.title == f"Kiln › {title}"
    assert text in words(attached)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (
            multipart("encrypted", "Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1", "\r\nx"),
            ("the text", "it is encrypted"),
        ),
        (
            'Content-Type: application/pkcs7-mime; name="smime.p7m"\r\n\r\nxx',
            ("the text smime.p7m", "it is encrypted"),
        ),
        (
            multipart("signed", f"{PLAIN}One.", "Content-Type: application/pgp-signature; name=a.asc\r\n\r\nx"),
            ("signature a.asc", "it is a signature"),
        ),
        (
            multipart("related", f"{HTML}<p>One.</p>", picture("Content-ID: <1>")),
            ("1 picture", "I can't read pictures here"),
        ),
        (picture(), ("1 picture", "I can't read pictures here")),
    ],
)
def test_what_cannot_be_read_is_named(content: str, named: tuple[str, str]) -> None:
    assert omissions(read(content)) == [named]


def test_pictures_within_the_mails_of_a_mailbox_are_named() -> None:
    mail = HEAD + multipart("related", f"{HTML}<p>One.</p>", picture("Content-ID: <1>")).encode()
    lines = b"".join(b"From ada Mon Mar  2 10:00:00 2026\n" + mail.replace(b"\r\n", b"\n") + b"\n" for _ in range(2))
    documents = list(parse_documents("kiln.mbox", lines, ParserLimits()))
    assert omissions(documents) == [("2 pictures within e-mails", "it holds a picture")]
