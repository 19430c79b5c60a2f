"""Receipts: whom their signature names, and what a changed one says."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from bot.errors import BadSetting
from bot.ingest.erasure.keys import InstallationKey, is_signed, load_key, load_or_create_key
from bot.ingest.erasure.receipt import check_signature, describe_counts, dump_receipt, parse_receipt, sign_receipt
from engine.errors import InvalidQuestion

KEY, OTHER = InstallationKey(bytes(range(32))), InstallationKey(bytes(32))
DRAFT: dict[str, Any] = {
    "id": "5f0c7e21ab90",
    "time": "2026-11-29T10:00:00+00:00",
    "action": "forget",
    "asked": {},
    "counts": {"documents": 1, "passages": 3, "answers": 0},
    "erased": {"documents": [KEY.compute_name("document", "file:here:/notes/ferry.md")], "messages": [], "answers": []},
    "gone_by": "2026-11-29T10:10:00+00:00",
    "audit": {"number": 3, "hash": "ab"},
}


def test_a_receipt_survives_being_written_and_read() -> None:
    read = parse_receipt(dump_receipt(sign_receipt(DRAFT, KEY)))
    check_signature(read, KEY.public_key)
    assert read["counts"] == DRAFT["counts"]


def test_every_changed_byte_is_noticed() -> None:
    text = dump_receipt(sign_receipt(DRAFT, KEY))
    for place, letter in enumerate(text):
        if letter.isspace():
            continue
        changed = text[:place] + ("x" if letter != "x" else "y") + text[place + 1 :]
        with pytest.raises(InvalidQuestion):
            check_signature(parse_receipt(changed), KEY.public_key)


def test_a_receipt_of_another_installation_names_its_key() -> None:
    with pytest.raises(InvalidQuestion, match=f"{OTHER.id}, not {KEY.id}"):
        check_signature(sign_receipt(DRAFT, OTHER), KEY.public_key)
    forged = {**sign_receipt(DRAFT, OTHER), "key": KEY.id}
    with pytest.raises(InvalidQuestion, match="was changed"):
        check_signature(forged, KEY.public_key)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": "threadlore-erasure-receipt"}', "[" * 100_000])
def test_what_is_no_receipt_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuestion):
        parse_receipt(text)


@pytest.mark.parametrize("key", ["", "AAAA", "no base64 é", KEY.public_key[:-2]])
def test_what_is_no_public_key_signed_nothing(key: str) -> None:
    assert not is_signed(b"x", KEY.sign(b"x"), key)


def test_counts_of_a_reader_and_of_the_operator_read_alike() -> None:
    assert describe_counts({"profiles": 3}) == describe_counts({"profiles_removed": 1, "profiles_rebuilt": 2})


def test_names_depend_on_the_key_and_on_where_ids_end() -> None:
    assert KEY.compute_name("message", "ab", "c") == KEY.compute_name("message", "ab", "c")
    names = {KEY.compute_name(*each) for each in (("message", "ab", "c"), ("message", "a", "bc"), ("document", "ab"))}
    assert len(names) == 3
    assert OTHER.compute_name("message", "ab", "c") not in names
    assert "ferry" not in json.dumps(sign_receipt(DRAFT, KEY))


def test_the_key_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "receipt.key"
    assert load_key(path) is None
    made = load_or_create_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_or_create_key(path) == made
    assert "seed" not in repr(made)
    assert [each.name for each in tmp_path.iterdir()] == ["receipt.key"]


def test_a_damaged_key_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "receipt.key"
    path.write_text("threadlore-receipt-key-1 AAAA\n")
    with pytest.raises(BadSetting):
        load_or_create_key(path)
    assert path.read_text() == "threadlore-receipt-key-1 AAAA\n"


def test_counts_are_told_in_words() -> None:
    assert (
        describe_counts({"documents": 2, "passages": 5, "answers": 1})
        == "2 documents, 5 messages and pages, and 1 answer"
    )
    assert describe_counts({}) == ""
