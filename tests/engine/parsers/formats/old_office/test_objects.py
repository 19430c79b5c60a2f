from __future__ import annotations

import random
import struct
from io import BytesIO
from unittest.mock import patch

import olefile
import pytest

from engine.parsers.formats.old_office import objects
from engine.parsers.formats.old_office.objects import pack_streams, read_embedded
from tests.engine.parsers.test_old_office import END, NONE, SECTOR, entry


def with_objects(objects: dict[str, dict[str, bytes]]) -> bytes:
    """A compound file with a pool of objects, each with streams of at most 4096 bytes."""
    table, directory, body = [END - 1, *[NONE] * 8, END], [entry("Root Entry", 5, 1, END, 0)], b""
    table[1:9] = [*range(2, 9), END]
    directory.append(entry("ObjectPool", 1, 2 if objects else NONE, 0, 0))
    for number, (name, streams) in enumerate(objects.items(), 1):
        at = len(directory)
        after = at + 1 + len(streams) if number < len(objects) else NONE
        directory.append(entry(name, 1, at + 1, 0, 0, after))
        for count, (stream, content) in enumerate(streams.items(), 1):
            start = 9 + len(body) // SECTOR
            directory.append(entry(stream, 2, NONE, start, 4096, len(directory) + 1 if count < len(streams) else NONE))
            table[start:] = [*range(start + 1, start + 8), END]
            body += content.ljust(4096, b"\0")
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIIII", 0, 1, 1, 0, 4096, END, 0, END, 0, 0) + b"\xff" * 4 * 108
    fat = struct.pack(f"<{len(table)}I", *table).ljust(SECTOR, b"\xff")
    return header + fat + b"".join(directory).ljust(8 * SECTOR, b"\0") + body


def native(label: bytes, content: bytes) -> bytes:
    head = b"\0" * 6 + label + b"\0" + b"C:\\x\0" + bytes(4)
    return head + struct.pack("<I", 2) + b"x\0" + struct.pack("<I", len(content)) + content


def test_files_within_an_old_file_are_taken_out_and_objects_named() -> None:
    pool = {
        "_1": {"\x01Ole10Native": native(b"note.txt", b"Greased")},
        "_2": {"Workbook": b"\x09\x08sheet", "\x01CompObj": b"x"},
        "_3": {"Equation Native": b"x"},
    }
    files, omissions = read_embedded(with_objects(pool))
    assert [file.name for file in files] == ["note.txt", "object 2.xls"]
    assert files[0].data == b"Greased"
    with olefile.OleFileIO(BytesIO(files[1].data)) as ole:
        assert ole.openstream("Workbook").read().rstrip(b"\0") == b"\x09\x08sheet"
    assert [(each.part, each.reason) for each in omissions] == [("object 3", "it is an object of another program")]


def test_a_file_without_objects_or_a_damaged_one_has_none() -> None:
    assert read_embedded(with_objects({})) == ((), ())
    assert read_embedded(b"\xd0\xcf\x11\xe0" + bytes(100)) == ((), ())


@pytest.mark.parametrize("sizes", [[], [0], [1, 5000], [70_000, 3, 511], [200_000] * 9])
def test_packed_streams_can_be_read_again(sizes: list[int]) -> None:
    source = random.Random(1)
    streams = {f"Stream {at}": source.randbytes(size) for at, size in enumerate(sizes)}
    with olefile.OleFileIO(BytesIO(pack_streams(streams))) as ole:
        found = {path[0]: ole.openstream(path).read() for path in ole.listdir()}
    assert {name: content[: len(streams[name])] for name, content in found.items()} == streams


def test_streams_that_are_too_long_are_not_packed() -> None:
    assert pack_streams({"a": bytes(8_000_000)}) == b""


def test_objects_beyond_the_limit_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "_MAX_OBJECTS", 2)
    files, omissions = read_embedded(
        with_objects({f"_{at}": {"\x01Ole10Native": native(b"a.txt", b"a")} for at in range(3)})
    )
    assert len(files) == 2
    assert [(each.part, each.reason) for each in omissions] == [("1 other object", "there are too many to list")]


def test_streams_that_overlap_are_read_as_far_as_a_whole_file_would_hold_them() -> None:
    data = bytearray(with_objects({f"_{at}": {"\x01Ole10Native": native(b"a.txt", b"a")} for at in range(9)}))
    size = struct.pack("<IQ", 0, 4096)
    chain = [*range(10, 9 + 72), END]  # all sectors of streams in one
    struct.pack_into(f"<{len(chain)}I", data, 512 + 4 * 9, *chain)
    for at in range(512, len(data) - 12, 4):
        if data[at + 4 : at + 12] == size[4:] and struct.unpack_from("<I", data, at)[0] >= 9:
            struct.pack_into("<IQ", data, at, 9, 4096 * 9)
    files, omissions = read_embedded(bytes(data))
    assert len(files) == 1
    assert {each.reason for each in omissions} == {"it cannot be read, or is damaged"}


def test_objects_within_an_object_are_named() -> None:
    names = {"Workbook": b"\x09\x08", "\x01CompObj": b"x"}
    paths = [["ObjectPool", "_1", name] for name in names] + [["ObjectPool", "_1", "MBD01", "Workbook"]]
    with patch.object(olefile.OleFileIO, "listdir", return_value=paths):
        files, omissions = read_embedded(with_objects({"_1": names}))
    assert [file.name for file in files] == ["object 1.xls"]
    assert [(each.part, each.reason) for each in omissions] == [
        ("object 1, objects within", "it lies too deep within other files")
    ]
