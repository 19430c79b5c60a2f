from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from engine.errors import CorruptFile
from engine.models import Omission
from engine.parsers.formats.old_office import records, slides
from engine.parsers.formats.old_office.records import Record, list_records
from engine.parsers.formats.old_office.slides import parse
from tests.engine.parsers.test_old_office import compound_file

if TYPE_CHECKING:
    from collections.abc import Iterator

PPT = "application/vnd.ms-powerpoint"
SLIDE_NUMBER, NOTES_NUMBER, DOCUMENT_NUMBER, OBJECT_NUMBER = 5, 6, 1, 7


def atom(kind: int, content: bytes, instance: int = 0) -> bytes:
    return struct.pack("<HHI", instance << 4, kind, len(content)) + content


def container(kind: int, *parts: bytes, instance: int = 0) -> bytes:
    content = b"".join(parts)
    return struct.pack("<HHI", instance << 4 | 0xF, kind, len(content)) + content


def text(kind: int, words: str) -> bytes:
    """A text with its header, in narrow letters where they suffice."""
    narrow = words.isascii()
    return atom(0x0F9F, struct.pack("<I", kind)) + (
        atom(0x0FA8, words.encode()) if narrow else atom(0x0FA0, words.encode("utf-16-le"))
    )


def shape(*parts: bytes, at: tuple[int, int] = (0, 0), options: bytes = b"") -> bytes:
    box = [container(0xF00D, *parts)] if parts else []
    return container(0xF004, options, atom(0xF00F, struct.pack("<4i", *at, 9, 9)), *box)


def option(name: int, value: int | bytes) -> bytes:
    number, rest = (value, b"") if isinstance(value, int) else (len(value), value)
    mark = name | (0x8000 if rest else 0)
    return struct.pack("<HHI", 1 << 4 | 3, 0xF00B, 6 + len(rest)) + struct.pack("<HI", mark, number) + rest


def signed(sign: int, instance: int, *texts: str) -> bytes:
    return container(
        sign, *(atom(0x0FBA, each.encode("utf-16-le"), at) for at, each in enumerate(texts)), instance=instance
    )


def persist(number: int, identifier: int) -> bytes:
    return atom(0x03F3, struct.pack("<5I", number, 0, 0, identifier, 0))


def deck(objects: dict[int, bytes], former: bytes = b"") -> bytes:
    """A file with records by number, behind those of a former state."""
    stream, places = bytearray(former), dict[int, int]()
    for number, record in objects.items():
        places[number] = len(stream)
        stream += record
    table = len(stream)
    entries = b"".join(struct.pack("<II", 1 << 20 | number, place) for number, place in places.items())
    stream += atom(0x1772, entries)
    last = len(stream)
    stream += atom(0x0FF5, struct.pack("<7I", 0, 0, 0, table, 1, 0, 0))
    user = atom(0x0FF6, struct.pack("<3I", 20, 0xE391C05F, last))
    return compound_file("PowerPoint Document", bytes(stream), {"Current User": user})


def slide(*parts: bytes, notes: int = 0) -> bytes:
    return container(0x03EE, atom(0x03EF, struct.pack("<IQIIHH", 0, 0, 0, notes, 0, 0)), container(0xF002, *parts))


def document(*lists: bytes) -> bytes:
    return container(0x03E8, *lists)


def slide_list(*parts: bytes, which: int = 0) -> bytes:
    return container(0x0FF0, *parts, instance=which)


def read(data: bytes) -> list[tuple[str, str]]:
    return [(passage.label, passage.text) for passage in parse("a.ppt", data, PPT).passages]


def test_slides_have_their_texts_from_boxes_and_the_outline_with_notes_and_comments() -> None:
    comment = signed(0x2EE0, 0, "Ines", "Why?")
    outline_title = container(0xF00D, atom(0x0F9E, struct.pack("<I", 0)))
    first = slide(
        shape(text(4, "In a box\rTwo\x0blines"), text(4, "*")),
        container(0xF004, outline_title),
        container(0xF003, shape(text(4, "Grüße"))),
        shape(options=option(0x00C0, "Drawn".encode("utf-16-le"))),
        container(0x1388, comment),
        notes=300,
    )
    notes = container(0x03F0, container(0xF002, shape(text(2, "Say hello"))))
    lists = [
        slide_list(persist(9, 100), text(0, "Berths"), text(1, "Left in the outline"), persist(99, 101)),
        slide_list(persist(8, 300), which=2),
    ]
    former = slide(shape(text(4, "Deleted long ago")))
    parsed = parse("a.ppt", deck({1: document(*lists), 8: notes, 9: first}, former), PPT)
    assert [(passage.label, passage.text) for passage in parsed.passages] == [
        (
            "slide 1: Berths",
            (
                "Berths\nIn a box\nTwo lines\nGrüße\nDrawn\nLeft in the outline\n\nNotes: Say hello\n\n"
                "Comment by Ines: Why?"
            ),
        )
    ]
    assert parsed.omissions == (Omission("slide 2", "it cannot be read, or is damaged"),)
    assert parsed.coverage == "1 of 2 slides"


def test_boxes_of_a_table_are_its_rows() -> None:
    frame = container(0xF004, option(0x039F, 1))
    cells = [
        shape(text(4, words), at=(left, top))
        for words, left, top in (("Berth", 0, 0), ("Fee", 10, 0), ("12 EUR", 10, 5), ("North", 0, 9), ("7 EUR", 10, 9))
    ]
    table = slide(container(0xF003, frame, *cells))
    found = read(deck({1: document(slide_list(persist(9, 100))), 9: table}))
    assert found == [("slide 1", "Berth | Fee\n--- | ---\n | 12 EUR\nNorth | 7 EUR")]


def test_a_picture_and_an_object_of_another_program_are_named_and_a_file_is_opened() -> None:
    workbook = compound_file("Workbook", b"\x09\x08")
    packed = struct.pack("<I", len(workbook)) + zlib.compress(workbook)
    objects = {
        1: document(slide_list(persist(9, 100), persist(10, 101))),
        9: slide(shape(options=option(0x4104, 1))),
        10: slide(shape(text(0, "Fees"))),
        11: atom(0x1011, packed, 1),
        12: atom(0x1011, b"others"),
    }
    parsed = parse("a.ppt", deck(objects), PPT)
    assert [(file.name, file.data) for file in parsed.attachments] == [("object 1.xls", workbook)]
    assert [(omission.part, omission.reason) for omission in parsed.omissions] == [
        ("slide 1", "it holds a picture"),
        ("object 2", "it is an object of another program"),
    ]


def test_headers_and_footers_are_read_once() -> None:
    around = [signed(0x0FD9, instance, "", "", "Harbour board") for instance in (3, 4)]
    assert read(deck({1: document(*around, slide_list(persist(9, 1))), 9: slide(shape(text(4, "A")))})) == [
        ("slide 1", "A"),
        ("header and footer", "Harbour board"),
    ]


def test_slides_of_a_file_with_damaged_tables_are_read_in_their_order() -> None:
    found = read(compound_file("PowerPoint Document", slide(shape(text(0, "One"))) + slide(shape(text(0, "Two")))))
    assert [label for label, _ in found] == ["slide 1: One", "slide 2: Two"]
    with pytest.raises(CorruptFile):
        parse("a.ppt", compound_file("PowerPoint Document", b"\xff" * 99), PPT)


def test_slides_that_overlap_are_read_as_far_as_a_whole_file_would_hold_them() -> None:
    inner = slide(shape(text(4, "Deep")))
    nested = b"".join(struct.pack("<HHI", 0xF, 0x03EE, 8 * (200 - at) + len(inner)) for at in range(200)) + inner
    entries = b"".join(persist(number, number) for number in range(10, 210))
    stream = document(slide_list(entries))
    table = b"".join(struct.pack("<II", 1 << 20 | number, len(stream) + 8 * (number - 10)) for number in range(10, 210))
    body = stream + nested
    whole = body + atom(0x1772, struct.pack("<II", 1 << 20 | 1, 0) + table)
    whole += atom(0x0FF5, struct.pack("<7I", 0, 0, 0, len(body), 1, 0, 0))
    user = atom(0x0FF6, struct.pack("<3I", 20, 0, len(whole) - 36))
    parsed = parse("a.ppt", compound_file("PowerPoint Document", whole, {"Current User": user}), PPT)
    assert len(parsed.omissions) > 100


def test_what_is_no_more_in_use_is_not_read() -> None:
    removed = slide(shape(text(4, "Removed")), signed(0x0FD9, 0, "", "", "Foot of it"))
    workbook = compound_file("Workbook", b"\x09\x08")
    listed = container(0x0409, container(0x0FCC, atom(0x0FC3, struct.pack("<6I", 0, 0, 1, 0, 11, 0))))
    kept = {8: removed, 9: slide(shape(text(4, "Kept"))), 11: atom(0x1011, workbook), 12: atom(0x1011, b"former")}
    parsed = parse("a.ppt", deck({1: document(listed, slide_list(persist(9, 100))), **kept}), PPT)
    assert [passage.text for passage in parsed.passages] == ["Kept"]
    assert [(file.name, file.data) for file in parsed.attachments] == [("object 1.xls", workbook)]
    assert parsed.omissions == ()
    assert read(deck({1: document(), **kept})) == []


def test_a_file_that_does_not_list_its_slides_says_so() -> None:
    parsed = parse("a.ppt", compound_file("PowerPoint Document", slide(shape(text(0, "One")))), PPT)
    assert parsed.omissions == (Omission("list of slides", "it cannot be read, or is damaged"),)


def test_a_table_whose_boxes_lie_anywhere_has_no_columns() -> None:
    cells = [shape(text(4, f"c{at}"), at=(at, at)) for at in range(101)]
    table = slide(container(0xF003, container(0xF004, option(0x039F, 1)), *cells))
    [(_, found)] = read(deck({1: document(slide_list(persist(9, 100))), 9: table}))
    assert found.split("\n") == ["c0", "---", *(f"c{at}" for at in range(1, 101))]


def test_comments_within_each_other_are_read_as_far_as_whole_ones_go(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[Record] = []

    def count_records(*given: Any) -> Iterator[Record]:
        for record in list_records(*given):
            counted.append(record)
            yield record

    nested = (struct.pack("<HHIHHI", 0xF, 0x2EE0, 1 << 24, 0, 1, 16 * (99 - at)) for at in range(100))
    within = b"".join(nested) + struct.pack("<HHI", 0, 1, 0) * 100
    monkeypatch.setattr(slides, "list_records", count_records)
    assert read(deck({1: document(slide_list(persist(9, 100))), 9: slide(shape(text(4, "A")), within)}))
    assert len(counted) < 2000


def test_tables_that_changes_share_are_read_once() -> None:
    table = atom(0x1772, struct.pack("<I", 0) + struct.pack("<II", 1 << 20 | 9, 0) * 100)
    changes = [
        atom(0x0FF5, struct.pack("<7I", 0, 0, len(table) + 36 * (at - 1) if at else 0, 0, 1, 0, 0)) for at in range(99)
    ]
    stream = table + b"".join(changes)
    user = atom(0x0FF6, struct.pack("<3I", 20, 0, len(stream) - 36))
    with patch.object(records, "_list_places", wraps=records._list_places) as listed:
        records.list_objects(stream, user)
    assert listed.call_count <= len(stream) // len(table)


def test_objects_are_unpacked_up_to_a_limit_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    workbook = compound_file("Workbook", b"\x09\x08")
    packed = struct.pack("<I", len(workbook)) + zlib.compress(workbook)
    monkeypatch.setattr(slides, "_MAX_UNPACKED", len(workbook))
    monkeypatch.setattr(slides, "_MAX_OBJECTS", 2)
    lists = document(slide_list(persist(9, 100)))
    objects = {number: atom(0x1011, packed, 1) for number in range(10, 14)}
    parsed = parse("a.ppt", deck({1: lists, 9: slide(shape(text(4, "A"))), **objects}), PPT)
    assert [file.name for file in parsed.attachments] == ["object 1.xls"]
    assert [omission.part for omission in parsed.omissions] == ["object 2", "2 other objects"]


def test_a_slide_is_read_once() -> None:
    lists = document(slide_list(persist(9, 100), persist(9, 101)))
    parsed = parse("a.ppt", deck({1: lists, 9: slide(shape(text(4, "A"))), 10: bytes(999)}), PPT)
    assert [passage.text for passage in parsed.passages] == ["A"]
    assert parsed.coverage == "1 of 2 slides"


def test_a_damaged_table_of_a_former_state_brings_no_removed_slide_back() -> None:
    whole = deck(
        {8: slide(shape(text(4, "Removed"))), 1: document(slide_list(persist(9, 1))), 9: slide(shape(text(4, "A")))}
    )
    last = whole.rindex(struct.pack("<HHI", 0, 0x0FF5, 28)) + 8
    damaged = whole[: last + 8] + struct.pack("<I", 0xFFFFFF00) + whole[last + 12 :]
    assert read(damaged) == [("slide 1", "A")]
