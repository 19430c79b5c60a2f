from __future__ import annotations

import gzip
import lzma
import tarfile
import zipfile
from dataclasses import replace
from email.message import EmailMessage
from io import BytesIO

import pytest

from engine.errors import EncryptedFile
from engine.parsers.archives.members import clean_path
from engine.parsers.base import ParsedFile, ParserLimits
from engine.parsers.sandbox.worker import parse_documents
from tests.engine.parsers.samples import archive, pdf

LIMITS = ParserLimits()
INNER = archive({"rows.csv": b"kiln,bricks\nnorth,310\n"})
FILES = {
    "kiln/plan.md": b"# Kiln\n\nFired on Monday.",
    "kiln/clay.bin": bytes(range(256)),
    "more.zip": INNER,
    "__MACOSX/kiln/._plan.md": b"x",
}


def read(name: str, data: bytes, limits: ParserLimits = LIMITS) -> list[ParsedFile]:
    return list(parse_documents(name, data, limits))


def tar(files: dict[str, bytes], links: dict[str, str]) -> bytes:
    file = BytesIO()
    with tarfile.open(fileobj=file, mode="w") as opened:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            opened.addfile(entry, BytesIO(data))
        for name, target in links.items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            opened.addfile(entry)
    return file.getvalue()


def test_the_files_of_an_archive_are_documents_with_their_paths() -> None:
    first, *inner, last = read("stock.zip", archive(FILES))
    assert first.passages[0].text == "Files in this archive:\n- kiln/plan.md\n- kiln/clay.bin\n- more.zip"
    assert [(each.key, each.title) for each in inner] == [
        ("attachment-1", "stock.zip › kiln/plan.md"),
        ("attachment-3", "stock.zip › more.zip"),
        ("attachment-3.attachment-1", "stock.zip › more.zip › rows.csv"),
    ]
    assert [omission.part for omission in last.omissions] == ["file kiln/clay.bin"]
    assert last.coverage == "2 of 3 files"
    assert replace(last, omissions=(), coverage="") == first


def test_a_damaged_member_costs_no_other() -> None:
    whole = bytearray(archive({"a.txt": b"first of the files", "b.txt": b"second of the files"}, zipfile.ZIP_STORED))
    whole[whole.index(b"first")] = ord("F")
    *documents, last = read("a.zip", bytes(whole))
    assert [document.title for document in documents] == ["a.zip", "a.zip › b.txt"]
    assert last.omissions[0].part == "file a.txt"
    assert "damaged" in last.omissions[0].reason


def test_a_tar_archive_names_its_links_and_follows_none() -> None:
    data = gzip.compress(tar({"a/one.txt": b"one", "two": b"two"}, {"passwords": "/etc/passwd"}))
    first, *inner = read("a.tar.gz", data)
    assert [each.title for each in inner] == ["a.tar.gz › a/one.txt", "a.tar.gz › two"]
    assert [(omission.part, omission.reason) for omission in first.omissions] == [("passwords", "it is a link")]


def old_tar(files: dict[str, bytes]) -> bytes:
    """An archive as tar wrote it before there was a standard: its headers have no mark."""
    packed, at = bytearray(), 0
    for name, data in files.items():
        packed += tar({name: data}, {})[: 512 + -(-len(data) // 512) * 512]
        packed[at + 257 : at + 265] = bytes(8)
        packed[at + 148 : at + 156] = b" " * 8
        packed[at + 148 : at + 156] = b"%06o\0 " % sum(packed[at : at + 512])
        at = len(packed)
    return bytes(packed) + bytes(1024)


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz", "a.tar.xz"])
def test_an_old_tar_archive_is_read(name: str) -> None:
    data = old_tar({"one.txt": b"one", "b/two.txt": b"two " * 200})
    packed = {"tar": data, "xz": lzma.compress(data)}.get(name.rpartition(".")[2], gzip.compress(data))
    documents = read(name, packed)
    assert [document.title for document in documents] == [name, f"{name} › one.txt", f"{name} › b/two.txt"]
    assert documents[0].omissions == ()


def test_a_text_that_looks_like_no_archive_is_none() -> None:
    [_, text] = read("rows.txt.gz", gzip.compress(b"0 1 2 3 4 5 6 7 " * 100))
    assert text.title == "rows.txt.gz › rows.txt"


def test_an_archive_that_is_cut_off_is_read_up_to_there() -> None:
    data = tar({"one.txt": b"one " * 2000, "two.txt": b"two " * 2000}, {})
    documents = read("a.tar", data[:9000])
    assert [omission.part for document in documents for omission in document.omissions] == ["the rest of the archive"]


def test_a_packed_file_is_read_with_the_name_that_it_had() -> None:
    *_, inner = read("notes.txt.gz", gzip.compress("Сдать ведомость мастеру.".encode("koi8-r")))
    assert inner.title == "notes.txt.gz › notes.txt"
    assert inner.passages[0].text == "Сдать ведомость мастеру."


def test_archives_within_archives_unpack_to_no_more_than_one() -> None:
    inner = archive({"a.txt": b"clay " * 50_000})
    outer = archive({f"{number}.zip": inner for number in range(8)})
    *documents, last = read("a.zip", outer, replace(LIMITS, max_unpacked_size=1_000_000))
    assert len(documents) < 16
    assert any("more than" in omission.reason for omission in last.omissions)


@pytest.mark.parametrize("kind", ["zip", "eml"])
def test_only_so_many_files_of_an_upload_are_read(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.parsers.sandbox.worker.MAX_MEMBERS", 10)
    letter = EmailMessage()
    letter.set_content("clay")
    for number in range(7):
        letter.add_attachment(b"clay", "text", "plain", filename=f"{number}.txt")
    inner = {"zip": archive({f"{number}.txt": b"clay" for number in range(7)}), "eml": letter.as_bytes()}
    documents = read("a.zip", archive({f"{number}.{kind}": inner[kind] for number in range(4)}))
    assert len({document.key for document in documents} - {""}) == 10
    named = [(omission.part, omission.reason) for document in documents for omission in document.omissions]
    assert named[-2:] == [(f"file {at}.{kind}", "only the first 10 files of an upload are read") for at in (2, 3)]
    assert len(named) == 2 + 6  # and those of the second archive


def test_archives_within_archives_end_somewhere() -> None:
    data = archive({"deepest.txt": b"clay"})
    for number in range(6):
        data = archive({f"{number}.zip": data})
    omissions = [omission for document in read("a.zip", data) for omission in document.omissions]
    assert [omission.reason for omission in omissions] == ["it lies too deep within other files"]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("../../etc/cron", "etc/cron"),
        ("/root/a.txt", "root/a.txt"),
        ("C:\\Users\\a.txt", "Users/a.txt"),
        ("a/./b//c.txt", "a/b/c.txt"),
        ("a\x07\nb.txt", "a b.txt"),
        ("..", ""),
        ("k" * 60_000 + "/plan.csv", f"{'k' * 159}…{'k' * 71}/plan.csv"),
    ],
)
def test_the_name_of_a_member_leads_nowhere_else(name: str, path: str) -> None:
    assert clean_path(name) == path


def test_locked_members_are_named_and_a_locked_archive_is_refused() -> None:
    locked = bytearray(archive({"a.txt": b"clay", "b.txt": b"sand"}, zipfile.ZIP_STORED))
    at = locked.index(b"PK\x01\x02")
    locked[at + 8] |= 1
    *_, other = read("a.zip", bytes(locked))
    assert other.title == "a.zip › b.txt"
    locked[locked.index(b"PK\x01\x02", at + 4) + 8] |= 1
    with pytest.raises(EncryptedFile):
        read("a.zip", bytes(locked))


def test_a_name_in_an_old_code_page_is_read() -> None:
    packed = archive({"xxxxxxxx.txt": b"clay"}, zipfile.ZIP_STORED).replace(b"xxxxxxxx", "Ведомост".encode("cp866"))
    assert "Ведомост.txt" in read("a.zip", packed)[0].passages[0].text


def test_a_pages_document_is_read_by_its_preview() -> None:
    preview = pdf([["The kiln is fired on Monday."]])
    [parsed] = read("plan.pages", archive({"Index/Document.iwa": b"\0", "QuickLook/Preview.pdf": preview}))
    assert "fired on Monday" in parsed.passages[0].text
    assert parsed.title == "plan.pages"
